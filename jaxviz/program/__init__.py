"""A function and the arguments it is called with, and what JAX makes of it: traced, lowered, optimized."""
