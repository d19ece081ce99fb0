"""Readers: one file for each form of a program, each giving a `Graph`. No analysis here.

`jaxpr.py` walks JAX's equations; `bodies.py` knows which parameters hold bodies and how values cross their borders;
`blocks.py` puts what was read once into every place it is called from; `frames.py`, `values.py` and `parameters.py`
turn tracebacks, types and parameters into rows of the tables.

`hlo/` reads HLO modules, from text and from bytes. `passes.py` reads the states that the compiler left between its
passes, those that differ, each as a module of its own.
"""
