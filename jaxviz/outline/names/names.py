"""What is written on the rows of an outline: from their labels, the loops that repeat them, the lines they span, and
where the source says nothing, the operation that weighs most.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import RESULT, Column, Graph
from jaxviz.outline.calls.modules import unnumbered
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.outline.chains import Label, says_again
from jaxviz.outline.draft import Draft
from jaxviz.outline.elements import BODY, CALL, FUNCTION, LOOP, MODULE, RECOMPUTED, STATEMENT
from jaxviz.outline.names.branches import Branches
from jaxviz.outline.names.calling_back import CalledBack
from jaxviz.outline.names.heaviest import Heaviest, and_others, work_of
from jaxviz.outline.names.library_parts import assigned_in_library
from jaxviz.outline.names.loop_heads import LoopHeads
from jaxviz.outline.names.loop_names import told_by_calls
from jaxviz.outline.opened.called import Called
from jaxviz.outline.opened.called_rows import CalledRows
from jaxviz.outline.tree import ROW_KINDS
from jaxviz.outline.written.expressions import GENERIC, POOR, Expressions
from jaxviz.read.spoken import said
from jaxviz.tables import rows_used

_STACK, _COPY, _PART = (ROW_KINDS.index(kind) for kind in ("stack", "copy", "part"))

# What is made again on the way back.
_AGAIN = "recomputed"
# That a function is computed again says that it is a checkpoint.
_CHECKPOINTED = re.compile(r"(?:checkpoint|remat)\((.+)\)$")

#: The part of a loop that says whether it turns once more.
GOES_ON = "while"
# What such a function is called by custom, by JAX or by XLA.
_NO_CONDITION = re.compile(
    r"^$|^<|^(wide\.)*_*(new_)?((while|fori)_*)?(loop)?_*(cond|condition|region)(_fun|_fn)?[\d_.]*(_.*|clone)?$"
)

# So many things are told by their names.
_FEW_NAMES = 2

# What a statement assigns to: a variable, a part of one, or several.
_TARGET = r"[^\W\d][\w.]*(?:\[[^\]]*\])*"
_ASSIGNED = re.compile(rf"({_TARGET}(?:, {_TARGET})*)(?:: [^=]+)? (?:\*\*|//|<<|>>|[-+*/%@&|^])?=(?!=)")

# In the text of a statement, as it is commonly written; not in the arguments of a call.
_ASSIGNS = " = "

# A variable for what a comprehension collects.
_COLLECTED = re.compile(r"(\w+) = [\[{]")


class Names:
    """Names the rows of one outline: `columns` are name, detail and variable as strings."""

    def __init__(
        self,
        graph: Graph,
        expressions: Expressions,
        labels: Sequence[Label],
        draft: Draft,
        drawn: NDArray[np.bool_],
        stack: Column,
        stacks: StackTree,
        called: Called | None = None,
    ) -> None:
        """`stack` are the call stacks of the nodes, in `stacks`; `called` what only metadata say that they are in."""
        self._graph = graph
        self._stack = stack
        self._stacks = stacks
        self._expressions = expressions
        self._labels = labels
        self._draft = draft
        self._drawn = np.flatnonzero(drawn)
        self._called = None if called is None else CalledRows(called, draft.rows, self._drawn)
        self._heaviest = Heaviest(draft, self._drawn, _PART)
        self._part_places: dict[int, list[int]] = {}
        self._part_lines: dict[int, str] = {}
        string = graph.tables.string
        texts = [(string(one.name), string(one.detail), string(one.variable)) for one in labels]
        # The last is for rows without a label.
        table = np.array([*texts, (0, 0, 0)], np.int32)
        columns = table[draft.label].T.copy()
        added = np.flatnonzero(draft.added)
        columns[:, added] = 0
        heads = LoopHeads(draft, labels, expressions, self._after)
        for row in np.flatnonzero((draft.count > 1) & (draft.kind == CALL) & (draft.added == 0)).tolist():
            if head := heads.of(row):
                function = labels[draft.label[row]].name
                says_nothing = function in GENERIC or not function or " " in function
                columns[0, row] = string(head if says_nothing else f"{function}: {head}")
        # Since Python 3.12 a comprehension has no frame of its own, and is the statement that it stands in.
        for row in np.flatnonzero((draft.count > 1) & (draft.kind == STATEMENT) & (draft.added == 0)).tolist():
            text = labels[draft.label[row]].name
            collected = _COLLECTED.match(text)
            if collected:
                columns[:, row] = string(collected[1]), string(text), string(collected[1])
        for row in self._calls_beside_statements(columns):
            columns[0, row] = columns[1, row]
        branches = Branches(graph, stack, stacks, expressions)
        for row in np.flatnonzero(draft.kind == BODY).tolist():
            if draft.label[row] >= 0 and labels[draft.label[row]].name == GOES_ON:
                columns[0, row] = string(f"{GOES_ON} {self._condition(row)}".rstrip())
            elif name := branches.name(int(graph.nodes.region[draft.rows.first[row]])):
                columns[0, row] = string(name)
        for row, name in self._functions_inside(columns[0]):
            columns[0, row] = string(name)
        self._called_back = CalledBack(draft, labels, stacks.library)
        strings = graph.tables.strings
        told = [strings[one] for one in columns[0].tolist()]
        by_calls = told_by_calls(draft, told, stack, stacks, expressions)
        for row, name in itertools.chain(by_calls, self._called_back.renamed(told)):
            columns[0, row] = string(name)
        for row in np.flatnonzero(draft.kind == RECOMPUTED).tolist():
            name, detail = self._recomputed(row)
            name = _CHECKPOINTED.sub(r"\1", name)
            columns[0, row], columns[1, row] = string(f"{_AGAIN} {name}" if name else _AGAIN), string(detail)
            for around in self._checkpoints(row) if name else ():
                columns[0, around] = string(unnumbered(name) if draft.count[around] > 1 else name)
        unnamed = columns[0] == 0
        # A copy is called as its stack is.
        unnamed[draft.copy >= 0] = False
        for row in added[draft.copy[added] < 0].tolist():
            columns[0, row] = string(self._added(row, columns[0]))
            if draft.kind[row] == _PART:
                columns[1, row] = string(self._lines(row))
            unnamed[row] = not columns[0, row]
        for row in np.flatnonzero(unnamed).tolist() if called is not None else ():
            loop = draft.kind[self._heaviest.inside(row)[0]] == LOOP
            most = self._most(row, columns[0]) if loop else ""
            columns[0, row] = string(self._function_called(row) or most or self._function_called(row, mostly=True))
            unnamed[row] = not columns[0, row]
        unnamed_rows = np.flatnonzero(unnamed)
        columns[0, unnamed_rows] = [string(name) for name in self._works(unnamed_rows)]
        self.columns: tuple[Column, Column, Column] = (columns[0], columns[1], columns[2])
        #: Rows of which the source says nothing: they are told by what is computed in them.
        self.by_operations = unnamed

    def _calls_beside_statements(self, columns: Column) -> Iterator[int]:
        """Calls that are all of their statement, beside a statement that calls the same function and does more.

        Both are told by what they are assigned to, `k1 = f(y)` as `k2 = f(y + h * k1)`.
        """
        draft, name = self._draft, columns[0].tolist()
        parent = draft.rows.parent
        single = (draft.count == 1) & (draft.added == 0)
        # What is assigned to a variable is the whole right side of its statement.
        assigned = (draft.kind == CALL) & single & (columns[2] > 0)
        inside = np.flatnonzero(assigned & (draft.kind[parent] == STATEMENT))
        called = {(int(parent[parent[row]]), name[row]) for row in inside.tolist()}
        for row in np.flatnonzero(assigned).tolist() if called else ():
            # One that is all of a function on its way is not all of the statement that calls that.
            is_told = _ASSIGNS in self._graph.tables.strings[columns[1, row]]
            if is_told and (int(parent[row]), name[row]) in called:
                yield row

    def _added(self, row: int, names: Column) -> str:
        """The name of a stack or part, empty where the source gives none."""
        kind, number = int(self._draft.kind[row]), int(self._draft.label[row])
        if kind == _PART:
            return (
                self._cases(row)
                or self._assigned(row)
                or self._function_called(row)
                # Without the source, numbers of lines say less than what is there.
                or (self._most(row, names) if self._called is not None else "")
                or self._function_called(row, mostly=True)
                or self._turn(row)
                or self._lines(row)
                or self._most(row, names)
                or self._assigned_by_library(row)
            )
        combined = self._combined(row) if kind == _STACK else ""
        if number < 0 or combined:
            return combined
        label = self._labels[number]
        if kind != _STACK:
            return _of_all(label) if label.kind == MODULE else label.name
        if self._is_in_library(row + 1, self._stacks_in(row + 1)):
            return self._things_in(row + 1, names)
        tables = self._graph.tables
        for frame in label.frames:
            if tables.files.library[tables.frames.file[frame]]:
                continue
            name = self._loop_of_turns(row, frame) or self._function(frame)
            if name not in GENERIC:
                return name
        head = self._loop_around(row)
        if head:
            return head
        around = self._labels[self._draft.label[self._draft.rows.parent[row]]]
        if around.detail and around.detail not in GENERIC:
            return around.detail
        return self._function_of(row + 1, names)

    def _combined(self, row: int) -> str:
        """The function whose calls a stack in an associative scan is, which JAX writes out: `vmap(combine)`."""
        draft = self._draft
        around = int(draft.label[draft.rows.parent[row]])
        callee, _, function = self._labels[around].name.partition("(") if around >= 0 else ("", "", "")
        if callee != "associative_scan":
            return ""
        # What puts elements side by side is no call of it: in that is nothing of the person's.
        after = row + 2 + int(np.searchsorted(draft.rows.first[row + 2 :], draft.rows.end[row + 1]))
        numbers = draft.label[row + 2 : after].tolist()
        calls = any(number >= 0 and self._labels[number].kind in (CALL, STATEMENT) for number in numbers)
        return function.removesuffix(")") if calls else ""

    def _function_of(self, copy: int, names: Column) -> str:
        """The function of the person that a copy is one call of, or the loop that it is one turn of: `Block`.

        The modules of a copy may be known by their scopes alone, without a place in the source.
        """
        used = self._stacks_in(copy)
        if not used:
            return ""
        stacks, tables = self._stacks, self._graph.tables
        around = functools.reduce(stacks.common, used)
        called = {
            next((frame for frame in stacks.frames_between(one, around) if not stacks.library[frame]), -1)
            for one in used
        }
        functions = {tables.frames.function[frame] if frame >= 0 else -1 for frame in called}
        frame = min(called) if len(functions) == 1 and -1 not in functions else stacks.own_frame(around)
        if frame < 0:
            return ""
        name = self._expressions.at(frame).loop or self._function(frame)
        return name if name not in GENERIC else ""

    def _stacks_in(self, copy: int) -> list[int]:
        """The call stacks of what a copy holds, none where that of any is not known."""
        low, high = np.searchsorted(self._drawn, [self._draft.rows.first[copy], self._draft.rows.end[copy]])
        made = self._stack[self._drawn[low:high]]
        return rows_used(made) if len(made) and made.min() >= 0 else []

    def _is_in_library(self, copy: int, used: Sequence[int]) -> bool:
        """Whether what a copy holds was made in the module of a library that it stands in: where the person calls that
        says nothing of it. `used` are the call stacks of what the copy holds."""
        stacks, row, module = self._stacks, copy, set[object]()
        # Its class stands in its token: what the person calls it is not what its library does.
        while row > 0 and not module:
            row = int(self._draft.rows.parent[row])
            token = () if self._draft.added[row] else self._labels[self._draft.label[row]].token
            module = {part for step in token if isinstance(step, tuple) and step[:1] == (MODULE,) for part in step[1:]}
        for stack in used:
            while stack >= 0 and stacks.library[stacks.frame(stack)]:
                if self._function(stacks.frame(stack)) in module:
                    break
                stack = stacks.parent(stack)
            if stack < 0 or not stacks.library[stacks.frame(stack)]:
                return False
        return bool(module and used)

    def _things_in(self, copy: int, names: Column) -> str:
        """What a copy consists of where that is one or two things, `Linear, relu`, else what is most of it."""
        inside = np.flatnonzero(self._draft.rows.parent == copy)
        told = [unnumbered(self._graph.tables.strings[name]) for name in names[inside]]
        _, others = self._heaviest.inside(copy)
        if len(told) <= _FEW_NAMES and others < len(told) and all(told):
            return ", ".join(dict.fromkeys(told))
        return self._most(copy, names)

    def _function(self, frame: int) -> str:
        """The function that a frame is of; where objects are called, their class."""
        return said(self._graph.tables.strings[self._graph.tables.frames.function[frame]])

    def _loop_of_turns(self, row: int, frame: int) -> str:
        """The head of the loop that a stack goes round, as far as one is around a frame of it: the innermost around all
        that its first copy holds, of which some may be turns of one more loop inside."""
        draft, frames = self._draft, self._graph.tables.frames
        expression = self._expressions.at(frame)
        loops = expression.loops
        for inside in np.flatnonzero(draft.rows.parent == row + 1).tolist() if loops[1:] else ():
            number = int(draft.label[inside])
            for other in self._labels[number].frames[:1] if number >= 0 else ():
                if frames.function[other] == frames.function[frame]:
                    theirs = self._expressions.at(other).loops[: -1 if draft.count[inside] > 1 else None]
                    shared = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(loops, theirs, strict=False))
                    loops = tuple(head for head, _ in shared)
        return loops[-1] if loops else expression.loop

    def _loop_around(self, row: int) -> str:
        """The head of the loop whose turns are the copies of a stack, as the first of its rows with an own place says.

        The place of a module is one inside it, where there may be another loop.
        """
        draft, copy = self._draft, row + 1
        for inside in range(copy + 1, len(draft)):
            if draft.rows.first[inside] >= draft.rows.end[copy]:
                break
            number = int(draft.label[inside])
            if draft.rows.parent[inside] != copy or number < 0 or self._labels[number].kind == MODULE:
                continue
            for frame in self._labels[number].frames[:1]:
                if not self._graph.tables.files.library[self._graph.tables.frames.file[frame]]:
                    return self._expressions.at(frame).loop
        return ""

    def _recomputed(self, row: int) -> tuple[str, str]:
        """The name of what is made again, and of what it consists: `block`, `matmul, tanh, sin`."""
        draft, name = self._draft, ""
        inside = np.flatnonzero(draft.rows.parent == row)
        if len(inside) == 1 and not draft.closed[inside[0]] and draft.kind[inside[0]] in (CALL, MODULE):
            name = self._labels[draft.label[inside[0]]].name
            inside = np.flatnonzero(draft.rows.parent == inside[0])
        numbers = draft.label[inside].tolist()
        detail = ", ".join(dict.fromkeys(self._labels[number].name for number in numbers if number >= 0))
        around = row
        while not name and (around := int(draft.rows.parent[around])) > 0 and draft.kind[around] not in (LOOP, BODY):
            label = self._labels[draft.label[around]] if draft.label[around] >= 0 else None
            if label is not None and label.kind in (CALL, MODULE, FUNCTION) and label.name not in GENERIC:
                name = label.name
        if not name and len(numbers) == 1 and numbers[0] >= 0 and self._labels[numbers[0]].name not in GENERIC:
            name = self._labels[numbers[0]].name
        if not name:
            # Right in a loop, only JAX tells what it is that is made again.
            region = self._graph.nodes.region[draft.rows.first[row]]
            name = self._graph.tables.strings[self._graph.regions.name[region]].strip("_") if region else ""
            name = "" if name in GENERIC else name
        return name, detail

    def _checkpoints(self, row: int) -> Iterator[int]:
        """The functions right around what is made again that say nothing: they are called by what they do."""
        while (row := int(self._draft.rows.parent[row])) > 0 and self._draft.kind[row] == FUNCTION:
            if self._draft.label[row] < 0 or self._labels[self._draft.label[row]].name not in GENERIC | {""}:
                return
            yield row

    def _condition(self, row: int) -> str:
        """What a loop goes on for: the function that says so, or where it has no name that tells, what it gives."""
        graph = self._graph
        results = np.flatnonzero(graph.nodes.kind[: self._draft.rows.end[row]] == RESULT)
        given = graph.operands.source[graph.first_operand[results[-1]]] if len(results) else -1
        if given < 0:
            return ""
        region = graph.nodes.region[results[-1]]
        name = graph.tables.strings[graph.regions.name[region]]
        if not _NO_CONDITION.match(name):
            return name
        maker, owner = graph.value_node[given], graph.regions.owner[region]
        frames = [self._stacks.own_frame(int(self._stack[node])) for node in (maker, owner)]
        expression = self._expressions.at(frames[0]) if frames[0] not in (-1, frames[1]) else None
        return expression.text if expression is not None and expression.name else ""

    def _functions_inside(self, names: Column) -> Iterator[tuple[int, str]]:
        """Rows in a library whose own name says nothing, from the innermost out, and what they do: empty if not known.

        Such are one of many layers, what a library got for an argument, `f`, and what a module does itself between
        others that it calls.
        """
        draft, labels = self._draft, self._labels
        is_function = np.array([*(one.kind == FUNCTION for one in labels), False])
        for row in np.flatnonzero(is_function[draft.label] & (draft.added == 0))[::-1].tolist():
            around = int(draft.label[draft.rows.parent[row]])
            own = labels[draft.label[row]].name
            if own in POOR or len(own) == 1:
                inside, _ = self._heaviest.inside(row)
                yield row, self._most(row, names) if draft.kind[inside] in (FUNCTION, MODULE) else ""
            elif own and around >= 0 and labels[around].kind == MODULE and says_again(own, labels[around].name):
                yield row, ""

    def _most(self, row: int, names: Column) -> str:
        """What is at least half of a row, and how many things are beside it: `build_tree +3`; empty if nothing is."""
        inside, others = self._heaviest.inside(row)
        name = self._graph.tables.strings[names[inside]] if inside >= 0 else ""
        return "" if not name or name in POOR else and_others(name, others)

    def _function_called(self, row: int, *, mostly: bool = False) -> str:
        """The function that all of a row is in, or most of it, and not all of what is around it, as metadata say."""
        if self._called is None or self._draft.rows.parent[row] < 0:
            return ""
        return and_others(*self._called.mostly(row)) if mostly else self._called.name(row)

    def _cases(self, row: int) -> str:
        """`cases 5 to 11` for some branches of a condition."""
        inside = self._draft.label[np.flatnonzero(self._draft.rows.parent == row)].tolist()
        names = [self._labels[number].name if number >= 0 else "" for number in inside]
        if len(names) < 2 or not all(re.fullmatch(r"case \d+", name) for name in names):
            return ""
        return f"cases {names[0].removeprefix('case ')} to {names[-1].removeprefix('case ')}"

    def _assigned(self, row: int) -> str:
        """`speed … drag` for a part that begins with what is assigned to the one and ends with what is to the other.

        Where lines stand changes with every line above them.
        """
        places = self._places(row)
        first, last = self._target(places, 0), self._target(reversed(places), -1)
        return f"{first} … {last}" if first != last else ""

    def _assigned_by_library(self, row: int) -> str:
        low, high = np.searchsorted(self._drawn, [self._draft.rows.first[row], self._draft.rows.end[row]])
        places = self._drawn[low:high]
        first, last = assigned_in_library(places, self._stack, self._stacks, self._expressions)
        return f"{first} … {last}" if first != last else first

    def _target(self, places: Iterable[int], which: int) -> str:
        """The first variable, or the one at `which` of several, that a statement at any of these frames assigns to."""
        texts = (self._expressions.at(frame).statement_text for frame in places)
        targets = (target[1] for text in texts if (target := _ASSIGNED.match(text)))
        return next(targets, "").split(", ")[which]

    def _lines(self, row: int) -> str:
        """`lines 10-17` for a part of one function of the person: of a library nobody has them before him."""
        known = self._part_lines.get(row)
        if known is None:
            files, frames = self._graph.tables.files, self._graph.tables.frames
            lines = [frames.line[frame] for frame in self._places(row) if not files.library[frames.file[frame]]]
            first, last = min(lines, default=0), max(lines, default=0)
            known = self._part_lines[row] = f"lines {first}-{last}" if last > first else ""
        return known

    def _turn(self, row: int) -> str:
        """The function around a part that has the lines of another one: each is a turn of it, and no lines of it."""
        draft, lines = self._draft, self._lines(row)
        around = int(draft.rows.parent[row])
        others = np.flatnonzero((draft.rows.parent == around) & (draft.kind == _PART)) if lines else ()
        again = any(other != row and self._lines(other) == lines for other in map(int, others))
        name = self._labels[draft.label[around]].name if again and draft.label[around] >= 0 else ""
        return "" if name in GENERIC else name

    def _places(self, row: int) -> list[int]:
        """The frames of what is in a part of one function, also in parts of it; none where they are not of one."""
        known = self._part_places.get(row)
        if known is None:
            draft, frames = self._draft, self._graph.tables.frames
            found = []
            inside = row + 1
            while inside < self._after[row]:
                number = int(draft.label[inside])
                own = self._labels[number].frames[:1] if number >= 0 else ()
                found.append(self._places(inside) if draft.kind[inside] == _PART else own)
                inside = self._after[inside]
            functions = {(frames.file[one[0]], frames.function[one[0]]) if one else None for one in found}
            is_known = len(functions) == 1 and None not in functions
            known = self._part_places[row] = [*itertools.chain.from_iterable(found)] if is_known else []
        return known

    @functools.cached_property
    def _after(self) -> list[int]:
        """Of each row, the next one that is not inside it."""
        rows = np.arange(1, len(self._draft) + 1)
        after: list[int] = np.maximum(self._draft.rows.after(), rows).tolist()
        return after

    def _works(self, rows: NDArray[np.intp]) -> Iterator[str]:
        """The operation that weighs most among those of each row, and how many there are besides it."""
        draft, strings = self._draft, self._graph.tables.strings
        # A stack is called by what is in its first copy.
        inner = np.minimum(rows + 1, len(draft) - 1)
        shown = np.where((draft.count[rows] > 1) & (draft.copy[inner] == 0), inner, rows)
        low = np.searchsorted(self._drawn, draft.rows.first[shown]).tolist()
        high = np.searchsorted(self._drawn, draft.rows.end[shown]).tolist()
        ops = self._graph.nodes.op[self._drawn].tolist()
        for first, end in zip(low, high, strict=True):
            if first == end:
                yield ""
            elif first + 1 == end:
                yield strings[ops[first]]
            else:
                yield work_of(Counter(strings[op] for op in ops[first:end]))


def _of_all(label: Label) -> str:
    """The name of several modules that differ by their numbers alone, without those: `block` of `block0`."""
    stems = [str(step[1]) for step in label.token if isinstance(step, tuple) and step[:1] == (MODULE,)]
    numbered = re.escape(stems[0]).replace(r"\#", r"\d+") if stems and "#" in stems[0] else ""
    return stems[0].replace("#", "") if numbered and re.fullmatch(numbered, label.name) else unnumbered(label.name)
