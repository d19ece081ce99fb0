"""Bytes and FLOPs that follow from graphs alone: what kernels read and write, what is alive when, what is kept."""
