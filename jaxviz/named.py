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


class NotImported(Exception):
    """A module that raised `reason` as it was run."""

    def __init__(self, module: str, reason: Exception) -> None:
        super().__init__(f"cannot import {module}: {type(reason).__name__}: {reason}")
        self.reason = reason


def named(text: str) -> Any:
    """The object that a text names.

    >>> named("math:pi")
    3.141592653589793
    """
    module_name, colon, path = text.rpartition(":")
    if not colon or not path or not module_name:
        raise NotNamed(f"{text!r} names nothing: write pkg.mod:name or path/to/file.py:name")
    is_file = module_name.endswith(".py")
    if is_file and not Path(module_name).exists():
        raise NotNamed(f"there is no file {module_name}")
    try:
        value: Any = _of_file(module_name) if is_file else _imported(module_name, os.getcwd())
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise NotImported(module_name, error) from error
        raise NotNamed(f"cannot import {module_name}: {error}") from None
    except Exception as error:
        raise NotImported(module_name, error) from error
    for part in path.split("."):
        if not hasattr(value, part):
            raise NotNamed(f"{module_name} has no {path}")
        value = getattr(value, part)
    return value


def _imported(name: str, folder: str) -> ModuleType:
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(name)


@cache
def _of_file(name: str) -> ModuleType:
    """The module in a file, of its package if it lies in one.

    Run once, whatever of it is asked for: its classes are the same for a function and its arguments.
    """
    path = Path(name).resolve()
    root = path.parent
    sys.path.insert(0, str(root))
    while (root / "__init__.py").exists():
        root = root.parent
    if root != path.parent:
        within = path.relative_to(root).with_suffix("")
        return _imported(".".join(within.parts).removesuffix(".__init__"), str(root))
    spec = importlib.util.spec_from_file_location(path.stem, name)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(spec.name, found)
    spec.loader.exec_module(found)
    return found
