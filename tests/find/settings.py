"""What programs under test take from another module: a number, an array, a callable."""

from __future__ import annotations

import numpy as np

SCALE = 300
WEIGHTS = np.random.default_rng(0).normal(size=(300, 300)).astype(np.float32)


def scaled(x):
    return x * SCALE


class Shifted:
    shift = 180

    def __call__(self, x):
        return x - self.shift

    def twice(self, x):
        return self(self(x))


shifted = Shifted()
