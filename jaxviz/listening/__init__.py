"""Hears what JAX compiles while a person's own code runs: what `watch` and `recording` are made of."""
