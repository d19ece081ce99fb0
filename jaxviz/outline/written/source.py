"""The person's source as syntax trees: which expression and which statement stand at the place of a frame.

A file's excerpt in the tables may begin anywhere, so it is made whole before it is parsed. Trees are kept for as long
as their text is the same, because notebooks explore the same cells again and again.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from jaxviz.read.frames import EXCERPT_LINES
from jaxviz.tables import Tables

_ASSIGNED = re.compile(r"(\w+)\s*=\s*$")
_ASSIGNS = re.compile(r"\s*\(?([^\W\d]\w*)(?:, \w+)*\)? [-+*/@]?= ")

_LOOPS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)
OPERATIONS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FUNCTIONS = (*_DEFINITIONS, ast.Lambda)

# Lines of a long expression that are read to show how it begins.
_TEXT_LINES = 8

Place = tuple[int, int, int, int]


@dataclass(frozen=True)
class Found:
    """The expression at a place, where there is exactly one, and the innermost statement around it."""

    expression: ast.AST | None
    statement: ast.stmt | None
    # The innermost loop or comprehension of the same function around it.
    loop: ast.AST | None = None
    # The innermost function, lambda or class around it.
    function: ast.AST | None = None
    # Of an expression that is indexed by constants, the operation that is applied to it.
    operation: ast.AST | None = None
    # The loops of the same function around that loop, outermost first.
    outer: tuple[ast.AST, ...] = ()


class Source:
    """The text of one file from line `start` on, and its syntax tree where it can be parsed."""

    def __init__(self, text: str, start: int) -> None:
        self.lines = text.split("\n")
        #: What was found at a place, kept by who looks for it.
        self.known: dict[Place, object] = {}
        self.start = start
        self._text = text
        self._names_of: dict[Callable[[ast.AST], bool], frozenset[str]] = {}

    @cached_property
    def _parsed(self) -> tuple[ast.Module | None, int]:
        tree, shift = _parse(self._text)
        return tree, shift + self.start - 1

    @property
    def parsed(self) -> bool:
        """Whether there is a tree."""
        return self._parsed[0] is not None

    @property
    def is_there(self) -> bool:
        """Whether there is any text: of a program that Python reads from a pipe, there is none."""
        return bool(self._text)

    @property
    def _tree(self) -> ast.Module | None:
        return self._parsed[0]

    @property
    def _shift(self) -> int:
        """What to add to a line of the tree to get a line of the file."""
        return self._parsed[1]

    def find(self, place: Place) -> Found:
        """What stands at a place of the file: first line and column, last line and column, in characters."""
        if self._tree is None:
            return Found(None, None)
        line, column, end_line, end_column = place
        start = line - self._shift, self._bytes(line, column)
        end = end_line - self._shift, self._bytes(end_line, end_column)
        node: ast.AST = self._tree
        expression: ast.AST | None = None
        statement: ast.stmt | None = None
        loops: tuple[ast.AST, ...] = ()
        function: ast.AST | None = None
        applied: ast.AST | None = None
        operation: ast.AST | None = None
        while True:
            for child in _placed_children(node):
                if _start_of(child) <= start and end <= (child.end_lineno, child.end_col_offset):  # type: ignore[attr-defined]
                    break
            else:
                loop = loops[-1] if loops else None
                return Found(expression, statement, loop, function, operation, loops[:-1])
            if not isinstance(node, ast.Attribute):
                applied = node
            if loops and loops[-1] is node and child is _evaluated_once(node):
                loops = loops[:-1]
            node = child
            if isinstance(node, ast.stmt):
                statement = node
            if isinstance(node, _LOOPS):
                loops = (*loops, node)
            elif isinstance(node, _FUNCTIONS):
                function, loops = node, ()
            exact = _start_of(node) == start and end == (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
            if exact and expression is None and isinstance(node, (ast.expr, ast.AugAssign)):
                expression = node
                if isinstance(applied, OPERATIONS) and is_constant_index(node):
                    operation = applied

    def names_of(self, makes: Callable[[ast.AST], bool]) -> frozenset[str]:
        """The names of variables, attributes and functions all of whose definitions in the file are made by an
        expression, or a decorator, of which that is so."""
        known = self._names_of.get(makes)
        if known is None:
            found = {True: set[str](), False: set[str]()}
            for node in _statements(self._tree):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    found[any(map(makes, node.decorator_list))].add(node.name)
                elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    made = isinstance(node.value, ast.Call) and makes(node.value)
                    found[made].update(one.id for one in targets if isinstance(one, ast.Name))
                    found[made].update(one.attr for one in targets if isinstance(one, ast.Attribute))
            known = self._names_of[makes] = frozenset(found[True] - found[False])
        return known

    def place_of(self, node: ast.AST) -> Place:
        """Where a node of the tree stands in the file, in characters."""
        line, end_line = self.line_of(node), self.end_line_of(node)
        start, end = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        return line, self._characters(line, start), end_line, self._characters(end_line, end)

    def operations_from(self, line: int, column: int) -> list[ast.AST]:
        """The operations that begin at a place whose end is not known, outermost first: a product, and the sum that it
        is the first part of. What makes the function that one of them calls is none."""
        start = line - self._shift, self._bytes(line, column)
        around: ast.AST | None = self._tree
        found: list[ast.AST] = []
        while around is not None:
            made = around.func if isinstance(around, ast.Call) else None
            children = _placed_children(around)
            around = next((one for one in children if _start_of(one) <= start < _end_of(one)), None)
            begins = around is not None and around is not made and _start_of(around) == start
            if begins and isinstance(around, (*OPERATIONS, ast.Subscript, ast.AugAssign)):
                found.append(around)
        # To take a part of what another one gives is told by that.
        return [one for one in found if not is_constant_index(one)] or found

    def statement_at(self, line: int) -> ast.stmt | None:
        """The innermost statement that holds a line; for places whose columns are not known."""
        found: ast.stmt | None = None
        body: list[ast.stmt] = self._tree.body if self._tree is not None else []
        line -= self._shift
        while True:
            inner = [child for child in body if child.lineno <= line <= (child.end_lineno or 0)]
            if not inner:
                return found
            found = inner[-1]
            body = [child for child in ast.walk(found) if isinstance(child, ast.stmt) and child is not found]

    def definitions_around(self, line: int) -> list[ast.AST]:
        """The functions and classes that hold a line, outermost first; so do those in which the text begins."""
        found: list[ast.AST] = []
        inside: ast.AST | None = self._tree
        while inside is not None:
            of_line = (one for one in _statements(inside) if self.line_of(one) <= line <= self.end_line_of(one))
            is_one = (one for one in of_line if isinstance(one, _DEFINITIONS) or self.line_of(one) < self.start)
            inside = next(is_one, None)
            found += [inside] if inside else []
        return found

    def line_of(self, node: ast.AST) -> int:
        """The line of the file at which a node of the tree begins."""
        return int(node.lineno) + self._shift  # type: ignore[attr-defined]

    def end_line_of(self, node: ast.AST) -> int:
        return int(node.end_lineno) + self._shift  # type: ignore[attr-defined]

    def text_of(self, node: ast.AST, limit: int = 80) -> str:
        """The source of a node on one line, cut to `limit` characters."""
        first, last = self.line_of(node), self.end_line_of(node)
        start, end = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        rows = [self._line(number).encode() for number in range(first, min(last, first + _TEXT_LINES - 1) + 1)]
        if last == first:
            rows[0] = rows[0][start:end]
        else:
            rows[0] = rows[0][start:]
            if len(rows) == last - first + 1:
                rows[-1] = rows[-1][:end]
        text = " ".join(" ".join(row.decode(errors="ignore").split("#")[0].split()) for row in rows)
        for opening, closing in ("()", "[]", "{}"):
            text = text.replace(opening + " ", opening).replace(", " + closing, closing).replace(" " + closing, closing)
        cut = len(text) > limit or len(rows) <= last - first
        return text[: limit - 1] + "…" if cut else text

    def segment(self, place: Place) -> str:
        """The text at a place, empty where the place is not known."""
        line, column, end_line, end_column = place
        if column < 0 or end_line < line:
            return ""
        rows = [self._line(number) for number in range(line, end_line + 1)]
        rows[-1] = rows[-1][:end_column]
        rows[0] = rows[0][column:]
        return "\n".join(rows)

    def assigned_before(self, place: Place) -> str:
        """The variable that the text at a place is assigned to, by what stands before it on its line."""
        found = _ASSIGNED.search(self._line(place[0])[: max(place[1], 0)])
        return found.group(1) if found else ""

    def assigned_on(self, line: int) -> str:
        """The first variable that a line begins to assign to, as it is commonly written; arguments have no spaces."""
        found = _ASSIGNS.match(self._line(line))
        return found.group(1) if found else ""

    def _line(self, number: int) -> str:
        index = number - self.start
        return self.lines[index] if 0 <= index < len(self.lines) else ""

    def _characters(self, line: int, column: int) -> int:
        text = self._line(line)
        return column if text.isascii() else len(text.encode()[:column].decode(errors="ignore"))

    def _bytes(self, line: int, column: int) -> int:
        text = self._line(line)
        return column if text.isascii() else len(text[:column].encode())


def source_of(tables: Tables, file: int) -> Source:
    """The source of a row of `tables.files`: its excerpt, or what `linecache` has where there is none or it is cut.

    Of a library there is never a tree, because that would cost more than all the rest.
    """
    is_here = tables.source_is_here(file)
    if not is_here and not tables.files.text[file]:
        return _source("", 1)
    if tables.files.library[file]:
        return _library_source(tables.strings[tables.files.path[file]])
    text, start = tables.files.text[file], tables.files.start[file]
    source = _source(text, start) if text else None
    if (source is None or not source.parsed or len(source.lines) >= EXCERPT_LINES) and is_here:
        whole = "".join(linecache.getlines(tables.strings[tables.files.path[file]])).rstrip("\n")
        if whole and whole != text:
            source = _source(whole, 1)
    return source or _source("", 1)


@lru_cache(maxsize=256)
def _library_source(path: str) -> Source:
    return Source("".join(linecache.getlines(path)), 1)


@lru_cache(maxsize=64)
def _source(text: str, start: int) -> Source:
    return Source(text, start)


def _parse(text: str) -> tuple[ast.Module | None, int]:
    """The tree of an excerpt, and what to add to a line of the tree to get one of the excerpt."""
    lines = text.split("\n")
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip() and not line.lstrip().startswith("#")]
    first = indents[0] if indents else 0
    # An excerpt that begins inside a block gets a block for each indentation that it returns to.
    around = sorted({0, *(indent for indent in indents if indent < first)}) if first else []
    head = "".join(" " * indent + "if 1:\n" for indent in around)
    try:
        return ast.parse(head + text), -len(around)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None, 0


def is_constant_index(node: ast.AST) -> bool:
    """Whether an expression takes a part that its text tells, such as `x[:, 1:]`."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return all(
        isinstance(part, (ast.Slice, ast.Constant))
        or (isinstance(part, ast.UnaryOp) and not any(isinstance(inner, ast.Name) for inner in ast.walk(part)))
        for part in parts
    )


def _statements(node: ast.AST | None) -> Iterator[ast.AST]:
    """All statements in a tree; through expressions, which hold none, it does not go."""
    for field in ("body", "handlers", "orelse", "finalbody", "cases"):
        inner = getattr(node, field, None)
        for one in inner if isinstance(inner, list) else ():
            yield one
            yield from _statements(one)


def _evaluated_once(loop: ast.AST) -> ast.AST | None:
    """What a loop goes through, which is made before its first turn."""
    if isinstance(loop, ast.For):
        return loop.iter
    generators = getattr(loop, "generators", None)
    return generators[0].iter if generators else None


def _placed_children(node: ast.AST) -> Iterator[ast.AST]:
    """The children of a node that have a place; through those that have none."""
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _placed_children(child)


def _end_of(node: ast.AST) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]


def _start_of(node: ast.AST) -> tuple[int, int]:
    """Where a node begins; a decorated definition begins at its first decorator."""
    decorators = getattr(node, "decorator_list", None)
    if decorators:
        return decorators[0].lineno, 0
    return node.lineno, node.col_offset  # type: ignore[attr-defined]
