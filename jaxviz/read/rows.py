"""Rows of the tables for what equations hold: operations, types, scopes, attributes and literals, each made once.

The dictionaries are public because the loop over equations looks into them itself; `add_*` is for what they do not
hold yet.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxviz import compat
from jaxviz.compat import high as compat_high
from jaxviz.read.bodies import jaxprs_in
from jaxviz.read.parameters import parameter_text
from jaxviz.read.values import add_type, scalar_text
from jaxviz.tables import Tables

Attribute = tuple[int, int]

#: In place of the attribute of a parameter that holds a body, and of one that says nothing.
BODY: Attribute = (-1, -1)
NOTHING: Attribute = (0, 0)

# Elements of an array that are written out where it is a literal, and bytes up to which equal literals are found.
_WRITTEN_ELEMENTS = 8
_COMPARED_BYTES = 1024


class Rows:
    """What was added to the tables for the equations of one program, by the object that it was added for."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.ops: dict[Any, int] = {}
        self.types: dict[Any, int] = {}
        # By id: the jaxpr that is being read keeps its name stacks alive.
        self.scopes: dict[int, int] = {}
        # By primitive, name, class and value; the class because 1 == 1.0 == True.
        self.attributes: dict[Any, Attribute] = {}
        self.literal_texts: list[int] = []
        self.literal_types: list[int] = []
        self._literals: dict[Any, int] = {}
        # Most literals are numbers, and found by their value.
        self._numbers: dict[tuple[Any, Any], int] = {}

    def add_op(self, primitive: Any) -> int:
        op = self.ops[primitive] = self.tables.string(primitive.name)
        return op

    def add_scope(self, name_stack: Any) -> int:
        # Each trace makes its own, and most are empty.
        scope = self.scopes[id(name_stack)] = self.tables.string(compat.scope_text(name_stack))
        return scope

    def add_type(self, aval: Any) -> int:
        try:
            known = self.types.get(aval)
        except TypeError:
            return add_type(self.tables, aval)
        if known is None:
            known = self.types[aval] = add_type(self.tables, aval)
        return known

    def add_attribute(self, primitive: Any, key: str, parameter: Any) -> Attribute:
        identity = (primitive, key, parameter.__class__, parameter)
        try:
            known = self.attributes.get(identity)
        except TypeError:
            return self._attribute(key, parameter)
        if known is None:
            known = self.attributes[identity] = self._attribute(key, parameter)
        return known

    def _attribute(self, key: str, parameter: Any) -> Attribute:
        if jaxprs_in(parameter) or compat_high.is_high(parameter):
            return BODY
        text = parameter_text(key, parameter)
        return (self.tables.string(key), self.tables.string(text)) if text else NOTHING

    def add_literal(self, literal: Any) -> int:
        """The operand source of a literal: -1 - i for literal i."""
        value = literal.val
        try:
            number = literal.aval, value.item()
            source = self._numbers.get(number)
        except (AttributeError, TypeError, ValueError):
            number = None, None
            source = None
        if source is None:
            source = self._add_literal(literal, value)
            # Zero is equal to minus zero, and what is not a number is not equal to itself.
            if number[1] and number[1] == number[1]:
                self._numbers[number] = source
        return source

    def _add_literal(self, literal: Any, value: Any) -> int:
        type_ = self.add_type(literal.aval)
        array = getattr(value, "val", value)  # a TypedNdArray, from 0.8 on
        identity: tuple[Any, ...]
        if isinstance(array, np.ndarray) and array.nbytes <= _COMPARED_BYTES:
            identity = (type_, array.tobytes())
        elif isinstance(array, (bool, int, float, complex)):
            identity = (type_, repr(array))
        else:
            identity = (type_, id(value))
        source = self._literals.get(identity)
        if source is None:
            source = self._literals[identity] = -1 - len(self.literal_texts)
            self.literal_texts.append(self.tables.string(_literal_text(array)))
            self.literal_types.append(type_)
        return source


def _literal_text(value: Any) -> str:
    text = scalar_text(value)
    if text is not None:
        return text
    if isinstance(value, np.ndarray) and value.size <= _WRITTEN_ELEMENTS:
        return np.array2string(value, separator=", ").replace("\n", "")
    return "array"
