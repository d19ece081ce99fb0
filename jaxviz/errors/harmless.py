"""What code may be run although nobody asked for it: what reads plain values and arrays, and calls functions of JAX and
NumPy that change nothing, methods of arrays, and functions of the person that are made of these.

All that code reads by name is looked at, so objects of other kinds, whose operators, items and methods may do anything,
are never met. What is not known counts as harmful.
"""

from __future__ import annotations

import ast
import builtins
import functools
import re
import types
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from jaxviz.errors.source import definition_of, names_assigned, names_read

# Functions that the person's functions call are looked into so deep, and containers so far.
_DEEPEST = 4
_ENTRIES = 1_000
# NumPy computes at once, and nothing could stop it: on so many entries, whatever it does ends soon, and no array has as
# many entries as a number that is larger than this says.
_LARGEST, _LARGEST_NUMBER = 4_096, 256
# None of those that go along what they are given, which may be an array of any length.
_BUILTINS = {
    *("abs", "bool", "callable", "complex", "dict", "divmod", "float", "int", "isinstance", "len", "range", "round"),
    "slice",
}
_LIBRARIES = ("jax", "jaxlib", "ml_dtypes", "numpy", "math", "operator", "_operator", "functools", "itertools")
# Functions of these that change what holds for all, values in place or files, keep what they gave, or show something.
_OUTWARD = re.compile(
    r"save|load|set(?!diff|xor)|register|unregister|print|clear|start|stop_(trace|server)|use_|open|show|info$|init"
    r"ialize|shutdown|put|copyto|place|fill_|from(file|regex)|genfrom|memmap|tofile|seed|shuffle|update|config|lru_cache"
    r"|cache$|get_printoptions|methodcaller|attrgetter|delitem|call$"
    r"|i(add|and|concat|floordiv|lshift|matmul|mod|mul|or|pow|rshift|sub|truediv|xor)$"
)
_OUTWARD_MODULES = re.compile(
    r"jax(\._src)?\.(config|profiler|distributed|monitoring|tools|debugging|extend)"
    r"|numpy\.(random|f2py|testing|ctypeslib|lib\.(_?npyio|_?format|_datasource))"
)
# Code with loops of its own may take long, and with the others it reaches out of itself.
_UNTRIED = (
    *(ast.For, ast.While, ast.With, ast.Try, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.ClassDef),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Match),
    *(ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr, ast.Delete, ast.Raise, ast.AsyncFunctionDef),
)
_METHODS = {name for kind in (jax.Array, np.ndarray) for name in dir(kind) if not name.startswith("_")}
_METHODS |= {
    "mesh",
    "set",
    "add",
    "multiply",
    "divide",
    "power",
    "min",
    "max",
    "apply",
    "get",
    "items",
    "values",
    "keys",
}
# These write in place, or files.
_METHODS -= {"tofile", "dump", "setfield", "fill", "resize", "put", "delete", "sort", "partition", "byteswap"}
_METHODS -= {"itemset", "setflags"}
_PLAIN = (
    *(bool, int, float, complex, str, bytes, slice, range, type(None), type(...), types.ModuleType),
    *(np.dtype, np.generic, jax.Array, jax.ShapeDtypeStruct),
)


def is_harmless(tree: ast.AST, names: Mapping[str, Any]) -> bool:
    """Whether code may be run in which these names stand for these values, of which it is given copies."""
    look = _Look()
    harmless = look.is_harmless(tree, names, (), _DEEPEST)
    return harmless and not (look.adds_in_place and look.shares) and not (look.computes and look.is_large)


@dataclass
class _Look:
    """What was seen so far in code, and in the functions that it calls."""

    #: Whether a variable is added to, which writes into what a NumPy array or list is known by elsewhere too.
    adds_in_place: bool = False
    #: Whether functions read arrays or containers of the person's that can be written into.
    shares: bool = False
    #: Whether NumPy, or Python, may compute with what is known.
    computes: bool = False
    #: Whether something is that large that this could take long.
    is_large: bool = False

    def is_harmless(self, tree: ast.AST, names: Mapping[str, Any], seen: tuple[Any, ...], deep: int) -> bool:
        if not all(self._may_be_read(value, seen, deep) for value in names.values()):
            return False
        self.shares |= bool(seen) and any(type(value) in (np.ndarray, list, dict) for value in names.values())
        own = {*names_assigned([tree]), *_defined(tree)}  # type: ignore[list-item]
        self.is_large |= any(isinstance(node, ast.Constant) and _is_large(node.value) for node in ast.walk(tree))
        powers = [node for node in ast.walk(tree) if isinstance(getattr(node, "op", None), (ast.Pow, ast.LShift))]
        self.is_large |= bool(powers)
        # Of whole numbers Python computes all digits.
        self.computes |= any(_may_be_a_number(getattr(node, "left", None)) for node in powers)
        for node in ast.walk(tree):
            if isinstance(node, (*_UNTRIED, _TRY_STAR)):
                return False
            if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
                return False
            self.adds_in_place |= isinstance(node, ast.AugAssign)
            if isinstance(node, ast.Call) and _writes(node, names):
                return False
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and not _is_known(node.id, names, own):
                return False
            if isinstance(node, ast.Attribute) and not self._may_be_asked(node, names, seen, deep):
                return False
        return True

    def _may_be_asked(self, node: ast.Attribute, names: Mapping[str, Any], seen: tuple[Any, ...], deep: int) -> bool:
        """Whether an attribute is a method or a field of an array, or of a module one that may be read."""
        if not isinstance(_looked_up(node.value, names), types.ModuleType):
            return node.attr in _METHODS
        return self._may_be_read(_looked_up(node, names), seen, deep)

    def _may_be_read(self, value: Any, seen: tuple[Any, ...], deep: int) -> bool:
        """Whether a value is plain, or a function that may be called."""
        self.is_large |= _is_large(value)
        if isinstance(value, _PLAIN):
            return True
        if type(value) is np.ndarray:
            self.computes = True
            return value.dtype != object
        if type(value) in (list, tuple):
            return len(value) <= _ENTRIES and all(self._may_be_read(one, seen, deep) for one in value)
        if type(value) is dict:
            return len(value) <= _ENTRIES and all(self._may_be_read(one, seen, deep) for one in value.values())
        return callable(value) and self._may_be_called(value, seen, deep)

    def _may_be_called(self, value: Any, seen: tuple[Any, ...], deep: int) -> bool:
        if type(value) is functools.partial:
            held = [value.func, *value.args, *value.keywords.values()]
            return all(self._may_be_read(one, seen, deep) for one in held)
        module, name = str(getattr(value, "__module__", None) or ""), str(getattr(value, "__name__", ""))
        self.computes |= module.startswith("numpy") or isinstance(value, np.ufunc)
        if isinstance(value, (type, types.BuiltinFunctionType)):
            return (
                name in _BUILTINS if module == "builtins" else _in_libraries(module) and not _is_outward(module, name)
            )
        kind = type(value).__module__
        if isinstance(value, types.FunctionType):
            # Names are copied to what is wrapped around a function; what it is made of is not.
            kind = str(value.__globals__.get("__name__", ""))
            if not _in_libraries(kind):
                return self._is_made_of_harmless(value, seen, deep)
            if _is_outward(kind, value.__code__.co_name):
                return False
        outward = _in_libraries(module) and _is_outward(module, name)
        # What that makes of functions keeps what they gave, or chooses between several.
        outward |= kind == "functools" and hasattr(value, "__wrapped__")
        return _in_libraries(kind) and not outward and self._may_hold(value, seen, deep)

    def _may_hold(self, value: Any, seen: tuple[Any, ...], deep: int) -> bool:
        """Whether the functions that a library was given, where it made another of them, may be called."""
        held: list[Any] = [getattr(value, name, None) for name in ("__wrapped__", "fun", "jvp", "fwd", "bwd")]
        held += list(_closed_over(value).values()) if isinstance(value, types.FunctionType) else []
        held += [part for one in held if type(one) in (list, tuple) for part in one]
        held += [part for one in held if type(one) is dict for part in one.values()]
        own = [one for one in held if callable(one) and not _is_theirs(one)]
        return all(self._may_be_called(one, seen, deep - 1) for one in own) if deep else not own

    def _is_made_of_harmless(self, value: types.FunctionType, seen: tuple[Any, ...], deep: int) -> bool:
        code = value.__code__
        # One that calls itself may do so for ever.
        definition = definition_of(code) if deep and code not in seen else None
        if definition is None or not _is_of_code(definition, code):
            return False
        inside = {**value.__globals__, **_closed_over(value)}
        local = {*code.co_varnames, *code.co_cellvars}
        read = [name for node in _body(definition) for name in names_read(node)]
        names = {name: inside[name] for name in read if name in inside and name not in local}
        given = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        names |= {f"default {place}": one for place, one in enumerate(given)}
        body = ast.Module([*_body(definition)], [])
        arguments = {one.arg for one in ast.walk(definition.args) if isinstance(one, ast.arg)}
        names |= dict.fromkeys((local | arguments) & set(read))
        return self.is_harmless(body, names, (*seen, code), deep - 1)


# From Python 3.11 on.
_TRY_STAR: type[ast.AST] = getattr(ast, "TryStar", ast.Try)


def _writes(call: ast.Call, names: Mapping[str, Any]) -> bool:
    """Whether a call writes what it gives into an array."""
    function = _looked_up(call.func, names)
    if isinstance(call.func, ast.Attribute) and call.func.attr == "at":
        # Of JAX it is no function; of NumPy's functions it writes in place.
        return True
    given = isinstance(function, np.ufunc) and len(call.args) > function.nin
    return given or any(keyword.arg in ("out", None) for keyword in call.keywords)


def _may_be_a_number(node: ast.AST | None) -> bool:
    """Whether what is written may be a number of Python's, computed where it stands; a product of matrices is none."""
    return isinstance(node, ast.Constant) or (isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult))


def _is_large(value: Any) -> bool:
    """Whether a number or an array that is not traced is larger than what NumPy is soon done with."""
    if isinstance(value, (int, np.integer)):
        return abs(int(value)) > _LARGEST_NUMBER
    known = isinstance(value, (np.ndarray, jax.Array)) and not isinstance(value, jax.core.Tracer)
    return known and value.size > _LARGEST


def _is_known(name: str, names: Mapping[str, Any], own: set[str]) -> bool:
    return name in names or name in own or name in _BUILTINS or not hasattr(builtins, name)


def _defined(tree: ast.AST) -> list[str]:
    """The names of functions in code, and of their parameters."""
    functions = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [*functions, *(node.arg for node in ast.walk(tree) if isinstance(node, ast.arg))]


def _body(definition: ast.FunctionDef | ast.Lambda) -> list[ast.stmt]:
    """What runs when a function is called."""
    return [ast.Expr(definition.body)] if isinstance(definition, ast.Lambda) else list(definition.body)


def _is_of_code(definition: ast.AST, code: types.CodeType) -> bool:
    """Whether a function can be what its file says now: the file may have been changed since."""
    written = {getattr(node, "attr", None) or getattr(node, "id", None) for node in ast.walk(definition)}
    written |= {keyword.arg for keyword in ast.walk(definition) if isinstance(keyword, ast.keyword)}
    return {*code.co_names, *code.co_freevars} <= written


def _looked_up(node: ast.AST, names: Mapping[str, Any]) -> Any:
    """What a name stands for, and an attribute of a module; nothing is asked of other objects."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        held = _looked_up(node.value, names)
        if isinstance(held, types.ModuleType):
            kept = vars(held).get(node.attr)
            # Libraries import parts of themselves when they are asked for; so may a module of the person, with effects.
            return getattr(held, node.attr, None) if kept is None and _in_libraries(held.__name__) else kept
    return None


def _in_libraries(module: Any) -> bool:
    return str(module or "").partition(".")[0] in _LIBRARIES


def _is_outward(module: str, name: str) -> bool:
    """Whether a function of a library does more than give something."""
    return _OUTWARD.match(name) is not None or _OUTWARD_MODULES.match(module) is not None


def _is_theirs(value: Any) -> bool:
    """Whether a function is a library's own, and holds none of somebody else's."""
    made_of = value.__globals__.get("__name__") if isinstance(value, types.FunctionType) else type(value).__module__
    return isinstance(value, type) or (_in_libraries(made_of) and not hasattr(value, "__wrapped__"))


def _closed_over(function: types.FunctionType) -> dict[str, Any]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        with suppress(ValueError):  # Not assigned yet.
            found[name] = cell.cell_contents
    return found
