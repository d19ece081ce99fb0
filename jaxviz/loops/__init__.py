"""Unrolled loops, really rebuilt as loops of JAX, compiled and compared: the one room that runs what it made."""
