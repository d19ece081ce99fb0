"""The loops of the person's source that stand around equations, and the turns that it says they have.

What calls a function again and again without a loop in the source, as `map` and `functools.reduce` do, is one too.
"""

from __future__ import annotations

import ast
from functools import partial
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from jaxviz.find.finding import Line, Subject
from jaxviz.find.jax_repeats import stacks_of_another
from jaxviz.graph import Column
from jaxviz.outline.written.source import Source, source_of

# Places of one copy that are looked up in the source.
_PLACES = 64
# What calls its first argument again and again, with the place of what it goes through; and what takes what such a call
# gives, all of it.
_CALLING = {"map": 1, "reduce": 1, "starmap": 1, "accumulate": 0}
_TAKING = frozenset({"list", "tuple", "set", "frozenset", "dict", "sum", "max", "min", "any", "all", "sorted", "deque"})
_MODULES = frozenset({"functools", "itertools", "ft", "it"})
#: How the source has a loop: as a statement or comprehension, as a call, or as a function that calls itself; or that it
#: is not there to look at.
LOOP, CALL, RECURSION, UNSEEN = "loop", "call", "recursion", "unseen"


class Loop(NamedTuple):
    """A loop in the person's source: its first line, its last and its head.

    `turns` are those that the source tells, as in `range(8)`, or 0; `outer` are the loops around it in its function,
    outermost first. `how` says how it is written.
    """

    line: Line
    last: int
    head: str
    turns: int
    outer: tuple[Loop, ...] = ()
    how: str = LOOP

    @property
    def lines(self) -> range:
        return range(self.line.line, self.last + 1)

    def is_in(self, other: Loop) -> bool:
        """Whether it stands in another."""
        same = self.line.file == other.line.file and self.line != other.line
        return same and other.line.line <= self.line.line and self.last <= other.last


def loops_around(subject: Subject, first: int, end: int) -> list[Loop]:
    """The loops around all of an interval of nodes, the outermost first: at each depth of the call stack the widest."""
    others = stacks_of_another(subject, first, end) if subject.of_hlo else set()
    stacks = np.unique(subject.graph.nodes.stack[first:end])[:_PLACES].tolist()
    frames_of = [_frames_inside(subject, one) for one in stacks if one >= 0 and one not in others]
    for called in _loops_of_jax(subject, first):
        inside = [one for one in frames_of if one[: len(called)] == called and len(one) > len(called)]
        frames_of = [one for one in frames_of if one != called] if inside else frames_of
    found = []
    for depth in range(min(map(len, frames_of), default=0)):
        loops = [loop for frames in frames_of if (loop := _loop_at(subject, frames[depth])) is not None]
        if loops:
            found.append(max(loops, key=lambda loop: loop.last - loop.line.line))
    return found


def _loops_of_jax(subject: Subject, node: int) -> list[list[int]]:
    """In a file, where the loops of JAX are called in which a node stands: what such a loop does itself for a turn, as
    to read what it kept of it, is mixed with what the turn does."""
    graph, found = subject.graph, []
    region = int(graph.nodes.region[node]) if subject.of_hlo or subject.lowered else 0
    while region > 0:
        owner = int(graph.regions.owner[region])
        if graph.tables.strings[graph.nodes.op[owner]] == "while":
            found.append(_frames_inside(subject, int(graph.nodes.stack[owner])))
        region = int(graph.region_parent[region])
    return found


def unseen_loop(subject: Subject, first: Column, end: Column) -> list[Loop]:
    """The loop around copies of which there is no source, as of a program that Python reads from a pipe.

    Turns come from the same places, calls that are written one after the other do not. What a library on JAX makes
    again and again, as for each parameter, is no loop of the person's.
    """
    tables = subject.graph.tables
    stack = subject.graph.nodes.stack
    places = [set(stack[start:stop].tolist()) - {-1} for start, stop in zip(first.tolist(), end.tolist(), strict=True)]
    shared = set.intersection(*places)
    paths = [_frames_inside(subject, one) for one in sorted(shared)]
    if not paths or any(map(partial(_is_repeated_inside, subject), paths)):
        return []
    own = [[one for one in path if not tables.files.library[tables.frames.file[one]]] for path in paths]
    depth = 0
    while len({path[depth] for path in own}) == 1 and all(len(path) > depth + 1 for path in own):
        depth += 1
    if depth and len({tables.frames.file[path[depth]] for path in own}) > 1:
        # What is called in several files is called in one place.
        depth -= 1
    file = tables.frames.file[own[0][depth]]
    if source_of(tables, file).is_there:
        return []
    lines = [tables.frames.line[path[depth]] for path in own if tables.frames.file[path[depth]] == file]
    return [Loop(Line(file, min(lines)), max(lines), "", 0, (), UNSEEN)]


def _is_repeated_inside(subject: Subject, path: list[int]) -> bool:
    """Whether there is none of the person's frames in a call stack, or what repeats may be a library below them."""
    tables = subject.graph.tables
    files = [tables.frames.file[frame] for frame in path]
    own = [place for place, file in enumerate(files) if not tables.files.library[file]]
    if not own:
        return True
    names = [tables.strings[tables.files.path[file]].replace("\\", "/") for file in files[own[-1] + 1 :]]
    return any("/jax/" not in name for name in names)


def _frames(subject: Subject, stack: int) -> list[int]:
    """The frames of a call stack, outermost first."""
    stacks = subject.graph.tables.stacks
    found = []
    while stack >= 0:
        found.append(stacks.frame[stack])
        stack = stacks.parent[stack]
    return found[::-1]


def _frames_inside(subject: Subject, stack: int) -> list[int]:
    """The same from the program's own function on: in a file, call stacks begin at whoever had it compiled. Some of
    what a checkpoint runs has no frame of that function."""
    path = _frames(subject, stack)
    own = (place for place, frame in enumerate(path) if frame in subject.function_frames)
    return path[next(own, sum(1 for _ in takewhile(subject.callers.__contains__, path))) :]


def _loop_at(subject: Subject, frame: int) -> Loop | None:
    """The loop around the place of a frame of the person's own."""
    # Most call stacks begin with the same frames.
    if frame not in subject.known_loops:
        subject.known_loops[frame] = _find_loop(subject, frame)
    return subject.known_loops[frame]


def _find_loop(subject: Subject, frame: int) -> Loop | None:
    tables = subject.graph.tables
    frames = tables.frames
    file = frames.file[frame]
    if tables.files.library[file]:
        return None
    source = source_of(tables, file)
    if not source.parsed:
        return None
    found = source.find((frames.line[frame], frames.column[frame], frames.end_line[frame], frames.end_column[frame]))
    loops = (*found.outer, found.loop) if found.loop is not None else ()
    expression = found.expression
    if isinstance(getattr(expression, "ctx", None), ast.Store) and isinstance(found.statement, ast.Assign):
        # What is assigned to several variables is gone through there.
        expression = found.statement.value
    call = _calling(expression, found.function)
    outer: tuple[Loop, ...] = ()
    for loop in (*loops, *((call,) if call is not None else ())):
        outer = (*outer, _loop(source, file, loop, outer))
    return outer[-1] if outer else None


def _calling(expression: ast.AST | None, function: ast.AST | None) -> ast.Call | ast.GeneratorExp | None:
    """The call that calls a function again and again, where an expression is one or takes what it gives: what is
    written there, or a variable of the function to which such a call, or a generator, was assigned once."""
    if isinstance(expression, ast.Starred):
        expression = expression.value
    if isinstance(expression, (ast.List, ast.Tuple, ast.Set)) and len(expression.elts) == 1:
        return _calling(expression.elts[0], function) if isinstance(expression.elts[0], ast.Starred) else None
    if not isinstance(expression, ast.Call):
        return None
    name = _last_name(expression.func)
    if name in _CALLING:
        return expression
    if name not in _TAKING or not expression.args:
        return None
    taken = expression.args[0]
    if isinstance(taken, ast.GeneratorExp):
        return taken
    if isinstance(taken, ast.Name):
        given = _assigned_once(function, taken.id)
        return given if isinstance(given, ast.GeneratorExp) else _calling(given, None)
    return _calling(taken, function)


def _assigned_once(function: ast.AST | None, name: str) -> ast.expr | None:
    """What a variable of a function is, where it is assigned in one place."""
    if function is None:
        return None
    stores = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
    if sum(isinstance(node.ctx, ast.Store) for node in stores) != 1:
        return None
    assigned = (node for node in ast.walk(function) if isinstance(node, ast.Assign) and len(node.targets) == 1)
    return next((one.value for one in assigned if getattr(one.targets[0], "id", "") == name), None)


def _last_name(function: ast.expr) -> str:
    """The name of a function of Python's own; `jax.tree.map` and `jax.lax.map` are others."""
    if isinstance(function, ast.Attribute):
        return function.attr if getattr(function.value, "id", "") in _MODULES else ""
    return getattr(function, "id", "")


def _loop(source: Source, file: int, loop: ast.AST, outer: tuple[Loop, ...]) -> Loop:
    head = source.text_of(loop)
    if isinstance(loop, (ast.For, ast.While)):
        head = head.partition(":")[0]
    how = CALL if isinstance(loop, ast.Call) else LOOP
    return Loop(Line(file, source.line_of(loop)), source.end_line_of(loop), head, _turns(loop), outer, how)


def _turns(loop: ast.AST) -> int:
    """How many turns the source itself says that a loop has, 0 where it does not."""
    generators = getattr(loop, "generators", [])
    if len(generators) == 1 and not generators[0].ifs:
        through = generators[0].iter
    elif isinstance(loop, ast.For):
        through = loop.iter
    elif isinstance(loop, ast.Call):
        place = _CALLING[_last_name(loop.func)]
        # Of several that `map` goes through, the shortest counts.
        if len(loop.args) != (3 if _last_name(loop.func) == "reduce" else 2):
            return 0
        through = loop.args[place]
    else:
        return 0
    if isinstance(through, (ast.List, ast.Tuple)):
        return 0 if any(isinstance(one, ast.Starred) for one in through.elts) else len(through.elts)
    if not isinstance(through, ast.Call) or not isinstance(through.func, ast.Name) or through.func.id != "range":
        return 0
    try:
        return len(range(*map(ast.literal_eval, through.args)))
    except (ValueError, TypeError):
        return 0
