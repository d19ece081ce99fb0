"""Functions that JAX cannot trace, as people write them: one for each case that is explained, and more of some.

Each says which case it is, the operations that the error is about, and which of the cures, put in place of the
statement that failed, makes the function work. They stand in files by what the error is about.
"""

from __future__ import annotations

from importlib import import_module

from errors.failing.registry import CASES, X

for _name in (
    "choices",
    "numbers",
    "arrays",
    "products",
    "bodies",
    "transformed",
    "arguments",
    "names",
    "libraries",
    "devices",
    "written",
    "mended",
    "computed",
    "sure",
    "met",
    "first",
    "given",
    "handed",
    "sizes",
    "daily",
    "fitted",
    "meant",
    "counted",
    "left",
    "fitting",
    "mistaken",
    "entries",
    "drawn",
    "turns",
    "hashed",
    "kept",
    "habits",
    "handed_in",
    "branched",
    "early",
):
    import_module(f"errors.failing.{_name}")

__all__ = ["CASES", "X"]
