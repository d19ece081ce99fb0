"""What is an array, or stands for one."""

from __future__ import annotations

from typing import Any


def is_array(value: Any) -> bool:
    """Whether it has the shape and the type of an array.

    Modules have functions of these names, and some containers, such as the random numbers of Flax, give something for
    whatever they are asked.
    """
    return isinstance(getattr(value, "shape", None), tuple) and hasattr(value, "dtype")
