"""A loop of JAX as it is written in the person's code."""

from __future__ import annotations

import ast
import re
from typing import Any

from jaxviz.errors.cases.given import argument, function_given, result_of
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.rewriting import parameters

_LOOPS = ("scan", "while_loop", "fori_loop")
_BODIES = {"scan": (0, "f"), "while_loop": (1, "body_fun"), "fori_loop": (2, "body_fun")}
_STARTS = {"scan": (1, "init"), "while_loop": (2, "init_val"), "fori_loop": (3, "init_val")}


class Loop:
    """A loop that failed, as it is written: the call, its body, what it begins with and what it carries."""

    def __init__(self, failure: Failure) -> None:
        self.call = failure.calls(*_LOOPS)
        self.name = last_name(self.call.func) if self.call is not None else failure.message.partition(" ")[0]
        place, name = _BODIES.get(self.name, (0, "f"))
        self.given = argument(self.call, place, name)
        self.body: Any | None = function_given(failure, self.given)
        place, name = _STARTS.get(self.name, (1, "init"))
        self.start = argument(self.call, place, name)
        self.result = result_of(self.body)
        names = parameters(self.body)
        self.carry = (names[0] if self.name != "fori_loop" else names[-1]) if names else "carry"

    @property
    def carried(self) -> ast.expr | None:
        """Of what the body gives, what goes to the next turn."""
        if self.name != "scan":
            return self.result
        pair = isinstance(self.result, ast.Tuple) and len(self.result.elts) == 2
        return self.result.elts[0] if pair and isinstance(self.result, ast.Tuple) else None

    def taken_apart(self) -> list[str]:
        """The names into which the body takes apart what it is given."""
        for statement in getattr(self.body, "body", []) if isinstance(self.body, ast.FunctionDef) else []:
            if isinstance(statement, ast.Assign) and ast.unparse(statement.value) == self.carry:
                target = statement.targets[0]
                parts = getattr(target, "elts", [])
                if parts and all(isinstance(one, ast.Name) for one in parts):
                    return [one.id for one in parts]
        return []

    def part(self, path: str) -> str:
        """How the body names a part of what it is given."""
        names = self.taken_apart()
        first = re.match(r"\[(\d+)\]", path)
        if first is not None and int(first[1]) < len(names):
            return names[int(first[1])] + path[first.end() :]
        return self.carry + path
