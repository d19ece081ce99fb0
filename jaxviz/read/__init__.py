"""Readers: one file for each form of a program, each giving a `Graph`. No analysis here.

`jaxpr.py` walks JAX's equations; `bodies.py` knows which parameters hold bodies and how values cross their borders;
`blocks.py` puts what was read once into every place it is called from; `frames.py`, `values.py` and `parameters.py`
turn tracebacks, types and parameters into rows of the tables.

`hlo.py` reads an HLO module, which `hlo_text.py` takes from text and `hlo_proto.py` from bytes, with the same columns
(`hlo_module.py`). For text, `hlo_text_tables.py`, `hlo_text_elements.py` and `hlo_pairs.py` read its parts. For bytes,
`hlo_wrapping.py` finds the module, `hlo_wire.py` takes messages apart, and `hlo_fields.py` with `hlo_dimensions.py`,
`hlo_sharding.py`, `hlo_literal.py` and `hlo_shape_text.py` writes them as XLA prints them; `hlo_asynchronous.py` does
so for calls that are waited for. For the graph, `hlo_order.py` finds the order of nodes, `hlo_calls.py` knows how
values cross borders, and `hlo_shapes.py`, `hlo_attributes.py` and `hlo_frames.py` fill the tables.

`passes.py` reads the states that the compiler left between its passes, those that differ, each as a module of its own.
"""
