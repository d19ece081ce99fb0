"""What `pkg.mod:name` or `path/to/file.py:name` names, for the shell and for documentation."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any


class NotNamed(ValueError):
    """A text that names nothing."""


def named(text: str) -> Any:
    """The object that a text names.

    >>> named("math:pi")
    3.141592653589793
    """
    module_name, colon, path = text.rpartition(":")
    if not colon or not path or not module_name:
        raise NotNamed(f"{text!r} names nothing: write pkg.mod:name or path/to/file.py:name")
    value: Any = _of_file(module_name) if module_name.endswith(".py") else _imported(module_name)
    for part in path.split("."):
        if not hasattr(value, part):
            raise NotNamed(f"{module_name} has no {path}")
        value = getattr(value, part)
    return value


def _imported(name: str) -> ModuleType:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise NotNamed(f"cannot import {name}: {error}") from None


@cache
def _of_file(name: str) -> ModuleType:
    """Run once, whatever of it is asked for: its classes are the same for a function and its arguments."""
    spec = importlib.util.spec_from_file_location(Path(name).stem, name)
    if spec is None or spec.loader is None or not Path(name).exists():
        raise NotNamed(f"there is no file {name}")
    found = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(spec.name, found)
    sys.path.insert(0, str(Path(name).resolve().parent))
    spec.loader.exec_module(found)
    return found
