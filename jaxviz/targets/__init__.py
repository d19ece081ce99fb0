"""The devices that a program can be compiled for: those that are there, and those that need not be."""

from __future__ import annotations

from jaxviz.targets.targets import Target, TargetError, find_target, target_names

__all__ = ["Target", "TargetError", "find_target", "target_names"]
