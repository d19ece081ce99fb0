"""Attributes of HLO instructions as people read them: what is empty or said elsewhere is left out."""

from __future__ import annotations

import json
import re
from typing import Any

from jaxviz.read.embedded import with_kernels_said
from jaxviz.read.hlo.module import Pairs
from jaxviz.read.hlo.pairs import unquoted
from jaxviz.read.sharding import sharding_words
from jaxviz.read.shortest import shortened
from jaxviz.tables import Tables

_LONGEST = 300
# XLA itself leaves out longer constants, unless it is told to print them.
_WRITTEN_ELEMENTS = 10
_LEFT_OUT = {"metadata", "origin", "statistics", "operand_layout_constraints", "domain"}
# What a field of a backend's configuration is when it says nothing.
_EMPTY: tuple[Any, ...] = (None, "", "0", 0, False, [], {})
_DEFAULT = re.compile(r"_INVALID$|_UNSPECIFIED$|^DEFAULT$")

Row = tuple[int, int]


class AttributeReader:
    """Attributes as rows of strings, each pair looked at once."""

    def __init__(self, tables: Tables, devices: int = 1) -> None:
        self._tables = tables
        self._devices = devices
        self._known: dict[tuple[str, str, str], tuple[Row, ...]] = {}

    def rows(self, pairs: Pairs, element: str = "") -> list[Row]:
        """The attributes of an instruction, key and text; of a constant whose numbers are of this `element` type."""
        found: list[Row] = []
        known = self._known
        for key, value in pairs:
            rows = known.get((key, value, element))
            if rows is None:
                rows = known[key, value, element] = self._read(key, value, element)
            found += rows
        return found

    def _read(self, key: str, value: str, element: str) -> tuple[Row, ...]:
        string = self._tables.string
        texts = attribute_texts(key, value, self._devices, element)
        return tuple((string(name), string(text)) for name, text in texts)


def attribute_texts(key: str, value: str, devices: int = 1, element: str = "") -> list[tuple[str, str]]:
    """An attribute as it is shown, in a module for so many devices: none, one or several."""
    if key in _LEFT_OUT or value in ("", "{}"):
        return []
    if key == "backend_config":
        return _backend_texts(unquoted(value))
    if value.startswith('"'):
        value = unquoted(value)
    if key == "sharding":
        value = sharding_words(value, devices=devices)
    if key == "frontend_attributes":
        value = value.replace('\\"', '"')
    if key == "value" and value.startswith("{") and _elements(value) > _WRITTEN_ELEMENTS:
        value = "{...}"
    if key == "value":
        value = shortened(value, element)
    return [(key, _short(value.replace("%", "") if key == "control-predecessors" else value))]


def _backend_texts(value: str) -> list[tuple[str, str]]:
    try:
        config = json.loads(value)
    except (ValueError, RecursionError):
        return [("backend_config", _short(with_kernels_said(value)))] if value else []
    if not isinstance(config, dict):
        return [("backend_config", _short(value))] if config not in _EMPTY else []
    texts = []
    count = config.pop("known_trip_count", None)
    if isinstance(count, dict) and "n" in count:
        texts.append(("known_trip_count", _short(str(count["n"]))))
    text = ", ".join(f"{name}: {_compact(field)}" for name, field in _fields(config))
    return [*texts, ("backend_config", _short(with_kernels_said(text)))] if text else texts


def _fields(config: dict[str, Any]) -> list[tuple[str, Any]]:
    """The fields that say something, by name: text and protocol buffer may order them differently."""
    kept = [(name, _pruned(field)) for name, field in config.items()]
    return sorted((name, field) for name, field in kept if field not in _EMPTY)


def _pruned(field: Any) -> Any:
    if isinstance(field, dict):
        return dict(_fields(field))
    if isinstance(field, str) and _DEFAULT.search(field):
        return ""
    return field


def _compact(field: Any) -> str:
    if isinstance(field, dict):
        return "{" + ", ".join(f"{name}: {_compact(inner)}" for name, inner in field.items()) + "}"
    if isinstance(field, list):
        return "[" + ", ".join(map(_compact, field)) + "]"
    return str(field)


def _elements(value: str) -> int:
    """How many numbers a constant has, as text; a complex one is two in parentheses."""
    return value.count(",") + 1 - value.count("(")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
