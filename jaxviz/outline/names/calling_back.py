"""What a library does with functions of the person's says which: `while_loop(rosen)`, `compute_log_probs(model)`.

Closed, it would hide what the person looks for; open, he finds it in there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from jaxviz.outline.chains import Label
from jaxviz.outline.draft import Draft
from jaxviz.outline.elements import BODY, CALL, COND, FUNCTION, LOOP, MODULE, PHASE
from jaxviz.outline.names.heaviest import and_others, without_others
from jaxviz.outline.tree import ROW_KINDS
from jaxviz.outline.written.expressions import BODIES, GENERIC, is_loop
from jaxviz.outline.written.transformations import takes_gradient

_ADDED = tuple(ROW_KINDS.index(kind) for kind in ("stack", "copy", "part"))

# More functions than this are not told.
_FEW = 2

# What is done to a function by the name that the library has for it: `value_and_grad(fun)`.
_OF_PARAMETER = re.compile(r"([^\W\d]\w*)\([^\W\d]\w*\)")
_WORD = re.compile(r"\w+")


class CalledBack:
    """The functions of the person's that a library calls in each row of an outline."""

    def __init__(self, draft: Draft, labels: Sequence[Label], library: Sequence[bool]) -> None:
        """`library` says of each frame whether it is a library's."""
        self._draft = draft
        self._library = library
        self._labels = labels
        own = [_called_back(one) for one in labels]
        self._inside: dict[int, dict[str, None]] = {}
        parent, kind = draft.rows.parent.tolist(), draft.kind.tolist()
        for row, number in enumerate(draft.label.tolist()):
            name = own[number] if number >= 0 and not draft.added[row] else ""
            around = row if name and kind[row] == PHASE else parent[row]
            while name and around > 0:
                self._inside.setdefault(around, {})[name] = None
                if kind[around] not in (FUNCTION, LOOP, COND, BODY, PHASE, *_ADDED):
                    break
                around = parent[around]

        self._modules: dict[int, list[int]] = {}
        for row, number in enumerate(draft.label.tolist()):
            if number >= 0 and kind[row] == MODULE and kind[parent[row]] == LOOP:
                self._modules.setdefault(parent[row], []).append(row)

    def functions(self, row: int) -> str:
        """Those in a row, empty where there are none or too many to tell."""
        found = self._inside.get(row, ())
        return ", ".join(found) if len(found) <= _FEW else ""

    def _says_how(self, row: int, name: str) -> bool:
        """Whether a row is what a library does, or is named by what is done to a function alone."""
        kind = self._draft.kind[row]
        if kind == LOOP:
            return is_loop(name) or self._is_of_library(row)
        return kind == FUNCTION or (kind == CALL and takes_gradient(name))

    def _is_of_library(self, row: int) -> bool:
        return all(self._library[frame] for frame in self._labels[self._draft.label[row]].frames)

    def renamed(self, names: Sequence[str]) -> Iterator[tuple[int, str]]:
        """The rows of a library's functions and loops that do not say so by their `names`, and what says it."""
        for row in self._inside:
            functions, kind = self.functions(row), self._draft.kind[row]
            if not functions or self._draft.added[row] or self._draft.label[row] < 0:
                continue
            name, others = without_others(names[row])
            of_parameter = _OF_PARAMETER.fullmatch(name)
            if of_parameter and (kind == FUNCTION or (kind == LOOP and self._is_of_library(row))):
                name = of_parameter[1]
            is_told = "(" in name or not self._inside[row].keys().isdisjoint(_WORD.findall(name))
            if self._says_how(row, name) and not is_told and name not in GENERIC:
                # What only hands on what it is given has no name of its own.
                yield row, and_others(f"{name}({functions})" if name else functions, others)
        for row, inside in self._modules.items():
            # A loop that a library writes around one module is that of the module.
            if len(inside) == 1 and names[row] in BODIES and self._says_how(row, ""):
                yield row, f"{_loop(self._labels[self._draft.label[row]])}({names[inside[0]]})"


def _called_back(label: Label) -> str:
    """The person's function that a library calls by what a row stands for; empty where it has no name."""
    for step in label.token:
        # A call of the person's has its place in the source instead.
        if isinstance(step, tuple) and step[:1] == (CALL,) and isinstance(step[1], tuple):
            name = str(step[1][1])
            return name if name.isidentifier() and name not in GENERIC else ""
    return ""


def _loop(label: Label) -> str:
    """The operation of a loop: `scan`."""
    return next(str(step[1]) for step in label.token if isinstance(step, tuple) and step[:1] == (LOOP,))
