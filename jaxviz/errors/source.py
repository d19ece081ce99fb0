"""The person's own code around an error: the expression and the statement that failed, and how they could read instead.

Code is rewritten as text, so that it stays as the person wrote it but for what must change.
"""

from __future__ import annotations

import ast
import linecache
import textwrap
from collections.abc import Mapping
from functools import cached_property
from types import CodeType

from jaxviz.read.frames import last_line_of


class Source:
    """A place in a source file. Without the source at hand, there is neither an expression nor a statement."""

    def __init__(self, code: CodeType, instruction: int, line: int) -> None:
        self.path = code.co_filename
        self.function = code.co_name
        self.first_line = code.co_firstlineno
        self.last_line = last_line_of(code) or line
        positions = list(code.co_positions())
        # Instructions take two bytes.
        place = positions[instruction // 2] if 0 <= instruction // 2 < len(positions) else (None,) * 4
        self.line = place[0] or line
        self.end_line = place[1] or self.line
        #: In bytes of UTF-8, as in trees of Python; -1 where not known.
        self.column = -1 if place[2] is None else place[2]
        self.end_column = -1 if place[3] is None else place[3]

    @cached_property
    def _lines(self) -> list[bytes]:
        return [line.encode() for line in linecache.getlines(self.path)]

    @cached_property
    def tree(self) -> ast.Module | None:
        try:
            return ast.parse(b"".join(self._lines)) if self._lines else None
        except (SyntaxError, ValueError, RecursionError):
            return None

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        tree = self.tree
        if tree is None:
            return {}
        return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def expression(self) -> ast.expr | None:
        """The smallest expression that holds the place."""
        start, end = (self.line, max(self.column, 0)), (self.end_line, self.end_column)
        holding = [
            node
            for node in self._parents
            if isinstance(node, ast.expr) and _start(node) <= start and end <= _end(node) and self.column >= 0
        ]
        if not holding:
            # What an assertion asks, or a name alone after `if` and `while`, has the place of the whole statement.
            asking = (ast.Assert, ast.If, ast.While)
            tests = [node.test for node in self._parents if isinstance(node, asking) and _start(node) == start]
            return tests[0] if tests else None
        return min(holding, key=lambda node: (_end(node)[0] - _start(node)[0], len(self.text(node))), default=None)

    @cached_property
    def statement(self) -> ast.stmt | None:
        """The innermost statement that holds the place."""
        if self.expression is not None:
            return next((node for node in self.around(self.expression) if isinstance(node, ast.stmt)), None)
        holding = [
            node
            for node in self._parents
            if isinstance(node, ast.stmt) and _start(node)[0] <= self.line <= _end(node)[0]
        ]
        return max(holding, key=_start, default=None)

    def around(self, node: ast.AST) -> list[ast.AST]:
        """A node and those that hold it, innermost first."""
        found: list[ast.AST] = []
        at: ast.AST | None = node
        while at is not None:
            found.append(at)
            at = self._parents.get(at)
        return found

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._parents.get(node)

    def text(self, node: ast.AST) -> str:
        """A node as it was written; of a statement, with its own lines."""
        first, start = _start(node)
        last, end = _end(node)
        lines = list(self._lines[first - 1 : last])
        if not lines or not first:
            return ast.unparse(node)
        lines[-1] = lines[-1][:end]
        lines[0] = b" " * start + lines[0][start:] if len(lines) > 1 else lines[0][start:]
        return textwrap.dedent(b"".join(lines).decode(errors="replace"))

    def is_bracketed(self, node: ast.AST) -> bool:
        """Whether a node stands in brackets of its own, or in those of a call that is given nothing else."""
        (first, start), (last, end) = _start(node), _end(node)
        before, after = self._lines[first - 1][:start].rstrip(), self._lines[last - 1][end:].lstrip()
        return before.endswith(b"(") and after.startswith(b")")

    def replaced(self, whole: ast.AST, changes: Mapping[ast.AST, str]) -> str:
        """The text of a node in which nodes inside it read differently."""
        first, start = _start(whole)
        last, end = _end(whole)
        lines = list(self._lines[first - 1 : last])
        lines[-1] = lines[-1][:end]
        for node, text in sorted(changes.items(), key=lambda change: _start(change[0]), reverse=True):
            (row, column), (end_row, end_column) = _start(node), _end(node)
            row, end_row = row - first, end_row - first
            joined = lines[row][:column] + text.encode() + lines[end_row][end_column:]
            lines[row : end_row + 1] = [joined]
        lines[0] = b" " * start + lines[0][start:] if len(lines) > 1 else lines[0][start:]
        return textwrap.dedent(b"".join(lines).decode(errors="replace"))

    def own(self, node: ast.FunctionDef | ast.Lambda | None) -> ast.FunctionDef | ast.Lambda | None:
        """The node of this tree that stands where one of another reading of the same file does."""
        places = (_start(node), _end(node)) if node is not None else None
        same = (one for one in self._parents if type(one) is type(node) and (_start(one), _end(one)) == places)
        found = next(same, None)
        return found if isinstance(found, (ast.FunctionDef, ast.Lambda)) else None

    def function_at(self, line: int) -> ast.FunctionDef | ast.Lambda | None:
        """The function of this file whose definition begins at a line."""
        for node in self._parents:
            if isinstance(node, ast.FunctionDef):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                if line in (first, node.lineno):
                    return node
            elif isinstance(node, ast.Lambda) and node.lineno == line:
                return node
        return None


def definition_of(code: CodeType) -> ast.FunctionDef | ast.Lambda | None:
    """The definition that code was made of, where its file is at hand."""
    source = Source(code, 0, code.co_firstlineno)
    own = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    places = [(line, column) for line, _, column, _ in code.co_positions() if line is not None and column is not None]
    last = max(places, default=(code.co_firstlineno, 0))
    if code.co_name != "<lambda>":
        found = source.function_at(code.co_firstlineno)
        return found if isinstance(found, ast.FunctionDef) and found.name == code.co_name else None
    # Several may begin on one line: that which holds the end of the code and has these parameters.
    lambdas = [
        node
        for node in ast.walk(source.tree or ast.Module([], []))
        if isinstance(node, ast.Lambda)
        and [one.arg for one in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]] == own
        and _start(node) <= last <= _end(node)
        and node.lineno == code.co_firstlineno
    ]
    return min(lambdas, key=lambda node: (_end(node)[0] - _start(node)[0], _end(node)[1]), default=None)


def _start(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", None) or 0, getattr(node, "end_col_offset", None) or 0


def names_read(node: ast.AST) -> list[str]:
    """The names that code reads, each once, in order."""
    found = [item.id for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load)]
    return list(dict.fromkeys(found))


def names_assigned(statements: list[ast.stmt]) -> list[str]:
    """The names that statements assign, each once, in order."""
    found = [
        item.id
        for statement in statements
        for item in ast.walk(statement)
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)
    ]
    return list(dict.fromkeys(found))
