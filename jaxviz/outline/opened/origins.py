"""Where the operations of a stage that was opened come from, by their own metadata or by those of their neighbours."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline.calls.callers import below_calls
from jaxviz.outline.calls.modules import MACHINERY, parse_scope
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.outline.compiled.roles import WRAPPERS, fetched_arguments, is_owner_of
from jaxviz.outline.names.pieces import pieces_of
from jaxviz.outline.opened.called import called_in, function_name, makes_random, name_of_call
from jaxviz.outline.opened.counted import counted_loops
from jaxviz.read.tag_text import GENERATOR, combined_name
from jaxviz.tables import rows_used

_CALL = re.compile(r"\A(?:p?jit|closed_call|core_call|xla_call)\((.*)\)\Z", re.DOTALL)

# The program once more, up to JAX 0.6.
_MAIN = "jit(main)"

_TRANSFORM = re.compile(r"\A(transpose|jvp|vmap)\((.*)\)\Z", re.DOTALL)

# Functions that another one was defined in: `random_ops.<locals>.`
_DEFINED_IN = re.compile(r"[^()/]*<locals>\.")

# What JAX writes before the name of a function that it compiles, and what it has another character for.
_COMPILED = re.compile(r"\Ap?jit_")
_NO_WORD = re.compile(r"[^\w.-]")

_PRIMITIVE = re.compile(r"[\w-]+\Z")

Parts = tuple[str, ...]

#: The kind of the body of a function that is known by its name alone.
CALLED = "called"

#: The kind of the bodies of a loop of which only one does anything: the other asks how often it turned.
TURN = "turn"

# What is named by its own operation, whatever the primitive: it is seen as a loop, as a choice, or not at all.
_OWNERS = frozenset({"while", "conditional", "case", "if", "call", "composite"})


def name_parts(text: str) -> tuple[Parts, str]:
    """The scopes in the name of an operation, without the program itself, and its primitive.

    >>> name_parts("jit(step)/jvp(LM)/Block_0/dot_general")
    (('jvp(LM)', 'Block_0'), 'dot_general')
    >>> name_parts("jit(f)/add;jit(f)/mul")
    ((), 'add')
    """
    text = text.split(";", 1)[0]
    combined = combined_name(text)
    text = combined[0] if combined is not None else text
    parts = [part for part in _DEFINED_IN.sub("", text).split("/") if part]
    if parts and _CALL.match(parts[0]) and len(parts) > 1:
        del parts[: 2 if parts[1] == _MAIN and len(parts) > 2 else 1]
    # What is in there was named by who asked for random numbers first, in whichever program.
    random = next((place for place, part in enumerate(parts[:-1], 1) if _is_random(part)), len(parts) - 1)
    del parts[random:-1]
    # An argument is named by its path.
    if not parts or (len(parts) == 1 and not _PRIMITIVE.match(parts[0])):
        return (), ""
    called = _CALL.match(parts[-1])
    return tuple(parts[:-1]), called[1] if called else parts[-1]


@dataclass(frozen=True, eq=False)
class _Columns:
    parts: list[Parts]
    primitives: list[str]
    row: Column
    stack: Column


class Origins:
    """Of each node: `row`, which gives its scopes and primitive in `parts` and `primitives`, and its call stack."""

    def __init__(self, graph: Graph | None, columns: _Columns | None = None) -> None:
        if graph is not None:
            parts, primitives = _names(graph)
            columns = _Columns(parts, primitives, *_inherited(graph, parts))
        assert columns is not None
        self.parts = columns.parts
        self.primitives = columns.primitives
        self.row = columns.row
        self.stack = columns.stack

    def with_phases(self, backward: Column) -> Origins:
        """Scopes that say backward only where `backward` does: what the forward phase needs is its own."""
        parts, row, known = list(self.parts), self.row.copy(), dict[int, int]()
        primitives = list(self.primitives)
        for node in np.flatnonzero(~backward).tolist():
            old = int(row[node])
            if old not in known:
                forward = tuple(map(_forward, parts[old]))
                known[old] = old
                if forward != parts[old]:
                    known[old] = len(parts)
                    parts.append(forward)
                    primitives.append(primitives[old])
            row[node] = known[old]
        return Origins(None, _Columns(parts, primitives, row, self.stack))

    def reordered(self, order: Column) -> Origins:
        """The same for nodes in another order."""
        return Origins(None, _Columns(self.parts, self.primitives, self.row[order], self.stack[order]))


def _forward(part: str) -> str:
    """`jvp(LM)` for `transpose(jvp(LM))`."""
    return part[len("transpose(") : -1] if part.startswith("transpose(") and part.endswith(")") else part


def _names(graph: Graph) -> tuple[list[Parts], list[str]]:
    """Scopes and primitive by the row of a name stack among the strings."""
    used = set(rows_used(graph.nodes.scope))
    found = [name_parts(text) if row in used else ((), "") for row, text in enumerate(graph.tables.strings)]
    return [parts for parts, _ in found], [primitive for _, primitive in found]


def _inherited(graph: Graph, parts: list[Parts]) -> tuple[Column, Column]:
    """Name stack and call stack of each node; one that has neither takes those of its first reader, or of a maker.

    What fetches arguments is no part of what reads them: others may, too.
    """
    scope, stack = graph.nodes.scope.copy(), graph.nodes.stack.copy()
    region = graph.nodes.region.tolist()
    operation = ((graph.nodes.kind == OPERATION) & ~fetched_arguments(graph)).tolist()
    # Where others have call stacks, that it is in a function of JAX alone does not say where a node is from.
    only_called = np.array(
        [bool(called_in(one)) and not parse_scope("/".join(_kept(one, True))).modules for one in parts], bool
    )
    known = ((stack >= 0) | (scope > 0) & ~(only_called[scope] & (stack >= 0).any())).tolist()
    maker, start = graph.value_node.tolist(), graph.first_operand.tolist()
    source = graph.operands.source.tolist()

    def take(node: int, other: int) -> None:
        scope[node] = scope[node] or scope[other]
        stack[node], known[node] = stack[other], True

    # What has bodies of its own is where most of these are from.
    for node, regions in graph.owned_regions.items():
        if not known[node]:
            first, end = int(graph.region_intervals[0][regions[0]]), int(graph.region_intervals[1][regions[-1]])
            inner = next((one for one in range(end - 1, first - 1, -1) if known[one] and operation[one]), -1)
            if inner >= 0:
                take(node, inner)
    # Readers stand in the order of the program, those of one value too.
    readers: dict[int, list[int]] = defaultdict(list)
    for read in range(len(region)):
        for value in source[start[read] : start[read + 1]] if operation[read] else ():
            readers[maker[value] if value >= 0 else read].append(read)
    for made in range(len(region) - 1, -1, -1):
        if not known[made] and operation[made]:
            first_reader = next((one for one in readers[made] if known[one] and region[one] == region[made]), -1)
            if first_reader >= 0:
                take(made, first_reader)
    for read in range(len(region)):
        if known[read] or not operation[read]:
            continue
        for value in source[start[read] : start[read + 1]]:
            made = maker[value] if value >= 0 else read
            if known[made] and operation[made] and region[made] == region[read]:
                take(read, made)
                break
    return scope, _inside_program(graph, below_calls(graph, stack))


def _inside_program(graph: Graph, stack: Column) -> Column:
    """Call stacks without the callers of the program, which lie around all of it."""
    tree = StackTree(graph.tables)
    used = rows_used(stack[stack >= 0])
    if not used:
        return stack
    around = _around_program(graph, tree, used)
    table = np.full(max(used) + 2, -1, np.int32)
    for one in used:
        table[one] = graph.tables.stack(tree.frames_between(one, tree.common(one, around)))
    # The last is for what has no call stack, which is number -1.
    return table[stack]


def _around_program(graph: Graph, tree: StackTree, used: list[int]) -> int:
    """The stack that called the program: the frames around its function, or where that is not seen, the callers that
    all stacks have in common. What is traced on its own, as a loop's body is, has stacks that begin inside."""
    functions = graph.tables.frames.function
    program = _functions_named(graph, graph.tables.strings[graph.regions.name[0]])
    alike: dict[int, list[int]] = defaultdict(list)
    for one in used:
        alike[tree.root(one)].append(one)
    refused: set[int] = set()
    for one in used:
        frames = tree.frames_between(one, -1)
        entered = next((place for place, frame in enumerate(frames) if functions[frame] in program), 0)
        caller = graph.tables.stack(frames[:entered]) if entered else -1
        if caller < 0 or caller in refused:
            continue
        # What is written where the function is called, as its numbers are, is of no line in it.
        if all(tree.holds(caller, other) or tree.holds(other, caller) for other in alike[tree.root(one)]):
            return caller
        refused.add(caller)
    around = functools.reduce(tree.common, used)
    return tree.parent(around) if around in used else around


def _functions_named(graph: Graph, program: str) -> set[int]:
    """The functions of call stacks that a program is called after: HLO says `jit__lambda_` of a `<lambda>`."""
    strings, wanted = graph.tables.strings, {program, _COMPILED.sub("", program)}
    found = set(graph.tables.frames.function)
    return {function for function in found if _NO_WORD.sub("_", strings[function].rpartition(".")[2]) in wanted}


def described(graph: Graph, origins: Origins) -> Graph:
    """The graph in the words of a jaxpr: scopes as they are inside of each body, primitives for operations."""
    string = graph.tables.string
    strings = graph.tables.strings
    owner = graph.regions.owner.tolist()
    region, row = graph.nodes.region.tolist(), origins.row.tolist()
    around: list[Parts] = [()]
    for number in range(1, len(owner)):
        outside = origins.parts[row[owner[number]]]
        around.append(outside or around[region[owner[number]]])
    pieces = pieces_of(graph)
    known: dict[tuple[int, int, bool], int] = {}
    scope = np.zeros(len(graph), np.int32)
    op = graph.nodes.op.copy()
    for node in np.flatnonzero(graph.nodes.kind == OPERATION).tolist():
        has_frames = bool(origins.stack[node] >= 0)
        key = row[node], region[node], has_frames
        text = known.get(key)
        if text is None:
            inside = _inside(origins.parts[row[node]], around[region[node]])
            text = known[key] = string("/".join(_kept(inside, has_frames)))
        scope[node] = text
        primitive = origins.primitives[row[node]]
        # An inherited name says where, not what.
        if strings[op[node]] in _OWNERS:
            continue
        # What JAX calls itself there is no operation.
        if primitive and graph.nodes.scope[node] > 0 and primitive not in MACHINERY and primitive[0] != "_":
            op[node] = string(primitive)
        elif node in graph.owned_regions:
            piece = pieces.get(int(graph.regions.name[graph.owned_regions[node][0]]))
            op[node] = string(piece.main) if piece is not None else op[node]
    # A loop that only counts its turns has no condition that anybody wrote.
    kind, name = graph.regions.kind.copy(), graph.regions.name.copy()
    for loop in counted_loops(graph):
        kind[list(graph.owned_regions[loop])] = string(TURN)
    for call, function in _called_alone(graph, origins):
        for body in graph.owned_regions[call]:
            kind[body], name[body] = string(CALLED), string(function)
    nodes = replace(graph.nodes, scope=scope, stack=origins.stack, op=op)
    return replace(graph, nodes=nodes, regions=replace(graph.regions, kind=kind, name=name))


def _called_alone(graph: Graph, origins: Origins) -> Iterator[tuple[int, str]]:
    """The calls of functions in which no frame is of the person's own, and what these are called."""
    strings, (start, end) = graph.tables.strings, graph.region_intervals
    calls, random = is_owner_of(graph, WRAPPERS), makes_random(graph)
    for owner, regions in graph.owned_regions.items():
        if calls[owner] and not random[graph.nodes.region[owner]]:
            inside = origins.stack[start[regions[0]] : end[regions[-1]]]
            label = strings[graph.nodes.name[owner]]
            function = name_of_call(origins.primitives[origins.row[owner]], label)
            if function and ((inside == origins.stack[owner]) | (inside < 0)).all():
                yield owner, function


def _inside(parts: Parts, around: Parts) -> Parts:
    """Without the parts that the body around has too."""
    shared = 0
    while shared < min(len(parts), len(around)) and parts[shared] == around[shared]:
        shared += 1
    return parts[shared:]


def _kept(parts: Parts, has_frames: bool) -> list[str]:
    """Calls of functions are told by frames; where there are none, by their names. What JAX calls for itself has none:
    of `jvp(jit(_var))` there is left what derivative it is."""
    kept = []
    for part in parts:
        transforms, call = _taken_apart(part)
        called = _CALL.match(call)
        if called is None or (transforms and not called[1].startswith("_")):
            kept.append(part)
        elif transforms:
            kept.append("".join(f"{one}(" for one in transforms) + ")" * len(transforms))
        elif not has_frames and (_is_random(part) or not called[1].startswith("_")):
            kept.append(function_name(called[1]) if _is_random(part) else called[1])
    return kept


def _is_random(part: str) -> bool:
    """Whether a part of a name stack is a function of JAX that makes random numbers."""
    called = _CALL.match(part)
    return called is not None and GENERATOR.match(called[1]) is not None


def _taken_apart(part: str) -> tuple[list[str], str]:
    """The transformations around a scope, outermost first, and the scope.

    >>> _taken_apart("transpose(jvp(jit(f)))")
    (['transpose', 'jvp'], 'jit(f)')
    """
    transforms = []
    while around := _TRANSFORM.match(part):
        transforms.append(around[1])
        part = around[2]
    return transforms, part
