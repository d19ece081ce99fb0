"""The real run: measured time, memory and values. Nothing else in this package executes a compiled program."""
