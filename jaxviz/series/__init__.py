"""A series of graphs that differ little, such as those after each pass of the compiler, kept as differences."""

from __future__ import annotations

from jaxviz.series.series import LISTS, RECORDS, STRINGS, Series, State, Step, apply_edit

__all__ = ["LISTS", "RECORDS", "STRINGS", "Series", "State", "Step", "apply_edit"]
