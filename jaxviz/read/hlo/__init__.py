"""The readers of HLO.

`graph.py` reads an HLO module, which `text.py` takes from text and `proto.py` from bytes, with the same columns
(`module.py`). For text, `text_tables.py`, `text_elements.py` and `pairs.py` read its parts. For bytes, `wrapping.py`
finds the module, `wire.py` takes messages apart, and `fields.py` with `dimensions.py`, `sharding.py`, `literal.py` and
`shape_text.py` writes them as XLA prints them; `asynchronous.py` does so for calls that are waited for. For the graph,
`order.py` finds the order of nodes, `calls.py` knows how values cross borders, and `shapes.py`, `attributes.py` and
`frames.py` fill the tables.
"""
