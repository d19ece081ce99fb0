"""Benchmarks: how long things take and how large they get, each figure beside what it is measured against."""
