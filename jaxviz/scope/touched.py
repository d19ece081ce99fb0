"""Names that code looks up around it, and what it assigns there: read from its instructions, without its source."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

#: Whether a name is of the module, of a function around this one, or of its own.
MODULE, AROUND, OWN = "module", "around", "own"
#: What is assigned: nothing, the name itself, an entry of it or an attribute.
READ, NAME, ENTRY, ATTRIBUTE = "read", "name", "entry", "attribute"

_STORES = {
    "STORE_SUBSCR": ENTRY,
    "DELETE_SUBSCR": ENTRY,
    "STORE_ATTR": ATTRIBUTE,
    "DELETE_ATTR": ATTRIBUTE,
}
_SCOPES = {"LOAD_GLOBAL": MODULE, "LOAD_NAME": MODULE, "LOAD_DEREF": AROUND, "LOAD_CLASSDEREF": AROUND}

Path = tuple[str, ...]
_Place = tuple[int, int]


class Touched(NamedTuple):
    """A name with its attributes and constant items, as in `("config", "['rate']")`, and what is done to it.

    Of an entry or an attribute that is assigned, `path` is what holds it.
    """

    path: Path
    scope: str
    line: int
    done: str = READ
    #: The name of the attribute that is assigned.
    attribute: str = ""
    #: Whether it is called at once, with no arguments.
    bare: bool = False

    @property
    def text(self) -> str:
        """How it reads in the source."""
        text = self.path[0] + "".join(part if part.startswith("[") else f".{part}" for part in self.path[1:])
        return text + {ENTRY: "[...]", ATTRIBUTE: f".{self.attribute}"}.get(self.done, "")


def touched_in(code: CodeType) -> list[Touched]:
    """What code looks up around it and assigns there, in order; not what functions inside it do."""
    return list(_Walk(code).touched())


def asked_in(code: CodeType) -> set[Path]:
    """What code looks into before it does something, as in `if key not in cache`."""
    walk = _Walk(code)
    for _ in walk.touched():
        pass
    return walk.asked


def imported_in(code: CodeType) -> dict[str, Any]:
    """What code imports into variables of its own, as far as somebody has imported it before: nothing is imported."""
    found: dict[str, Any] = {}
    module, value = "", None
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            module = str(instruction.argval)
            value = sys.modules.get(module.partition(".")[0])
        elif instruction.opname == "IMPORT_FROM":
            value = vars(sys.modules[module]).get(instruction.argval) if module in sys.modules else None
        elif instruction.opname == "STORE_FAST" and module:
            found[str(instruction.argval)] = value
        elif instruction.opname not in ("SWAP", "POP_TOP", "ROT_TWO", "NOP"):
            module, value = "", None
    return {name: value for name, value in found.items() if value is not None}


class _Walk:
    def __init__(self, code: CodeType) -> None:
        self._code = code
        self.asked: set[Path] = set()
        # What was loaded from a place of the source on, and where that ends.
        self._loaded: dict[_Place, list[tuple[_Place, Path, str]]] = {}

    def touched(self) -> Iterator[Touched]:
        path: Path = ()
        scope = key = ""
        start: _Place | None = None
        line = at = self._code.co_firstlineno
        for instruction in dis.get_instructions(self._code):
            positions = instruction.positions
            at = (positions.lineno if positions is not None else None) or at
            begin, end = _places(positions)
            opname = instruction.opname
            if opname in ("LOAD_ATTR", "LOAD_METHOD") and path:
                path = (*path, str(instruction.argval))
                self._keep(start, end, path, scope)
                continue
            # `config["rate"]`: the key is loaded, and then the item.
            if path and opname == "LOAD_CONST" and isinstance(instruction.argval, str):
                key = str(instruction.argval)
                continue
            if path and key and opname in ("BINARY_SUBSCR", "BINARY_OP") and _takes_item(instruction):
                path, key = (*path, f"[{key!r}]"), ""
                self._keep(start, end, path, scope)
                continue
            if path and opname == "PUSH_NULL":
                continue
            if path:
                if opname == "CONTAINS_OP":
                    self.asked.add(path)
                yield Touched(path, scope, line, bare=opname in ("PRECALL", "CALL") and instruction.arg == 0)
                path, key = (), ""
            if opname in _SCOPES or opname.startswith("LOAD_FAST"):
                name = instruction.argval
                # From Python 3.13 on, two may be loaded at once: the second is what is gone on with.
                path, line, start = (str(name[-1] if isinstance(name, tuple) else name),), at, begin
                scope = _SCOPES.get(opname, OWN)
                self._keep(start, end, path, scope)
            elif opname in ("STORE_GLOBAL", "STORE_DEREF"):
                yield Touched((str(instruction.argval),), MODULE if opname == "STORE_GLOBAL" else AROUND, at, NAME)
            elif opname in _STORES:
                held = self._held(begin, end)
                if held is not None:
                    attribute = str(instruction.argval) if _STORES[opname] == ATTRIBUTE else ""
                    yield Touched(*held, at, _STORES[opname], attribute)

    def _keep(self, start: _Place | None, end: _Place | None, path: Path, scope: str) -> None:
        if start is not None and end is not None:
            self._loaded.setdefault(start, []).append((end, path, scope))

    def _held(self, begin: _Place | None, end: _Place | None) -> tuple[Path, str] | None:
        """What holds the place that is assigned: the most that begins where it does and ends before it."""
        if begin is None or end is None:
            return None
        inside = [(path, scope) for stop, path, scope in self._loaded.get(begin, ()) if stop < end]
        return max(inside, key=lambda one: len(one[0]), default=None)


def _places(positions: dis.Positions | None) -> tuple[_Place | None, _Place | None]:
    if positions is None or None in (positions.lineno, positions.col_offset, positions.end_col_offset):
        return None, None
    begin = positions.lineno or 0, positions.col_offset or 0
    return begin, (positions.end_lineno or begin[0], positions.end_col_offset or 0)


def _takes_item(instruction: dis.Instruction) -> bool:
    # From Python 3.14 on, taking an item is one of the binary operations.
    return instruction.opname == "BINARY_SUBSCR" or "[]" in instruction.argrepr
