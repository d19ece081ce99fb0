"""The path of every node in the outline: phase, modules, calls, statement, expression, library function, loop, body.

A path is a row of a tree (`Paths`), so equal paths are one number, and what is asked of a path is asked once. Nodes
are taken by how deep their regions nest; those that share region's path, phase, scope and call stack share a path.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline.expressions import POOR, Expressions
from jaxviz.outline.modules import parse_scope, unnumbered
from jaxviz.outline.phases import Phases
from jaxviz.outline.stacks import StackTree

# Kinds of elements, in the words of the outline.
PROGRAM, PHASE, MODULE, CALL, STATEMENT, FUNCTION, LOOP, COND, BODY, RECOMPUTED = range(10)


class Element(NamedTuple):
    """One step of a path. `token` is equal for steps that may be copies of each other; `frame` is a row or -1."""

    kind: int
    key: tuple[object, ...]
    name: str
    token: tuple[object, ...]
    frame: int = -1
    detail: str = ""


@dataclass
class Paths:
    """A tree of elements: a path is its last element and the path before it. Path 0 is the program itself."""

    parent: list[int] = field(default_factory=lambda: [-1])
    depth: list[int] = field(default_factory=lambda: [0])
    element: list[Element] = field(default_factory=lambda: [Element(PROGRAM, (), "", ())])
    _known: dict[tuple[int, int, tuple[object, ...]], int] = field(default_factory=dict)

    def add(self, path: int, element: Element) -> int:
        row = path, element.kind, element.key
        known = self._known.get(row)
        if known is None:
            known = self._known[row] = len(self.parent)
            self.parent.append(path)
            self.depth.append(self.depth[path] + 1)
            self.element.append(element)
        return known

    def ancestors(self) -> Column:
        """A row for each path: the paths that it goes through, itself the last; -1 beyond."""
        table = np.full((len(self.parent), max(self.depth) + 1), -1, np.int32)
        table[0, 0] = 0
        for path in range(1, len(self.parent)):
            depth = self.depth[path]
            table[path, :depth] = table[self.parent[path], :depth]
            table[path, depth] = path
        return table


# What a region is in the outline, by the name of its owner's operation.
_WRAPPERS = frozenset(
    {"jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint", "custom_jvp_call", "custom_vjp_call"}
    | {"custom_vjp_call_jaxpr", "custom_linear_solve", "linear_solve", "custom_lin"}
)
_WHILE_BODIES = {"while cond": "while", "while body": "do"}


# Operations whose bodies say how two elements are combined, a detail of the operation.
_OPAQUE = ("scatter", "reduce", "select_and", "argre", "sort", "cumred")


@dataclass(frozen=True)
class NodePaths:
    """The tree of paths and the path of each node.

    `starts` marks nodes that begin a region though the node before has the same path; `wrapper` equations that are
    only a border to look through; `opaque` nodes that are a detail of the equation that owns them.
    """

    paths: Paths
    path: Column
    starts: NDArray[np.bool_]
    wrapper: NDArray[np.bool_]
    opaque: NDArray[np.bool_]


class PathReader:
    """Finds the paths of all nodes of one graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.paths = Paths()
        self.stacks = StackTree(graph.tables)
        self.expressions = Expressions(graph.tables)
        self._scopes = {
            scope: parse_scope(graph.tables.strings[scope]) for scope in np.unique(graph.nodes.scope).tolist()
        }
        self.phases = Phases(graph, self._scopes, self.stacks, self.expressions)
        self._elements: dict[tuple[int, str], tuple[Element, ...]] = {}
        self._module_stacks = self._shared_stacks()
        # Of each node: its path, and whether it begins a region of its own.
        self._path = np.zeros(len(graph), np.int32)
        self._starts = np.zeros(len(graph), bool)
        # Of each region: its path, the call stack of its owner, and whether it lies in a phase or in a detail.
        count = len(graph.regions.owner)
        self._region_path = np.zeros(count, np.int32)
        self._region_stack = np.full(count, -1, np.int32)
        self._in_phase = np.zeros(count, bool)
        self._opaque = np.zeros(count, bool)

    def read(self) -> NodePaths:
        nodes = self.graph.nodes
        depth = _region_depths(self.graph)
        for level in range(int(depth.max()) + 1):
            if level:
                self._enter(np.flatnonzero(depth == level).astype(np.int32))
            at = np.flatnonzero((depth == level)[nodes.region])
            self._path[at] = self._region_path[nodes.region[at]]
            at = at[(nodes.kind[at] == OPERATION) & ~self._opaque[nodes.region[at]]]
            if len(at):
                self._place(at)
        wrapper = np.zeros(len(self.graph), bool)
        wrapper[self._owners_of_wrappers()] = True
        return NodePaths(self.paths, self._path, self._starts, wrapper, self._opaque[nodes.region])

    def _owners_of_wrappers(self) -> Column:
        strings = self.graph.tables.strings
        owner = self.graph.regions.owner[1:]
        ops = self.graph.nodes.op[owner]
        wanted = [op for op in np.unique(ops).tolist() if strings[op] in _WRAPPERS]
        return owner[np.isin(ops, wanted)]

    def _shared_stacks(self) -> dict[tuple[str, ...], int]:
        """The call stack that all equations of each module have in common."""
        nodes = self.graph.nodes
        at = np.flatnonzero((nodes.scope > 0) & (nodes.stack >= 0))
        combinations, _ = combinations_of([nodes.scope[at], nodes.stack[at]])
        found: dict[tuple[str, ...], int] = {}
        for scope, stack in combinations:
            modules = self._scopes[scope].modules
            if modules:
                found[modules] = self.stacks.common(stack, found.get(modules, stack))
        return found

    # One level of nesting.

    def _place(self, at: Column) -> None:
        """The paths of operations in regions that were entered."""
        nodes = self.graph.nodes
        region = nodes.region[at]
        phase, prefix = self.phases.of(at, region, self._in_phase)
        columns = [
            self._region_path[region],
            self._region_stack[region],
            nodes.scope[at],
            nodes.stack[at],
            phase,
            prefix,
        ]
        combinations, which = combinations_of(columns)
        self._path[at] = np.array([self._path_of(*row) for row in combinations], np.int32)[which]

    def _path_of(self, context: int, outer: int, scope: int, stack: int, phase: int, prefix: int) -> int:
        """The path of an equation, below `context`, whose own call stack is `outer`."""
        paths = self.paths
        path = context
        shared = self.stacks.common(stack, outer)
        if phase:
            # Frames around the function that takes the gradient, then the phase, then what is inside the call.
            around = self.stacks.common(stack, self.stacks.parent(prefix))
            path = self._extend(path, self._frames(around, shared))
            shared = self.stacks.deeper(shared, prefix if self.stacks.holds(prefix, stack) else around)
            path = paths.add(path, self.phases.element(phase, prefix))
        modules = self._scopes[scope].modules
        for module in modules:
            path = paths.add(path, Element(MODULE, (module,), module, (MODULE, unnumbered(module))))
        if self._scopes[scope].recomputed:
            path = paths.add(path, Element(RECOMPUTED, (), "recomputed", (RECOMPUTED,)))
        return self._extend(path, self._frames(stack, shared, self._module_stacks.get(modules)))

    def _extend(self, path: int, elements: list[Element]) -> int:
        """The path with the elements added, but for a statement inside itself, as that of a lambda."""
        for element in elements:
            if element.kind == STATEMENT:
                around = path
                while around and self.paths.element[around].kind != STATEMENT:
                    around = self.paths.parent[around]
                if self.paths.element[around].key == element.key:
                    continue
            path = self.paths.add(path, element)
        return path

    def _frames(self, stack: int, above: int, module: int | None = None) -> list[Element]:
        """The steps of a call stack below the stack `above`: the person's frames, then a library's inside them.

        `module` is the stack that all equations of a module have in common. Inside it are the frames that count; but
        the person's innermost one always does.
        """
        library = self.stacks.library
        frames = self.stacks.frames_between(stack, above)
        last = max((place for place, frame in enumerate(frames) if not library[frame]), default=-1)
        outside = 0
        if module is not None:
            below = self.stacks.frames_between(stack, module) if self.stacks.holds(module, stack) else []
            outside = max(len(frames) - len(below), 0)
        inside = frames[max(outside, last + 1) :]
        functions = self.graph.tables.frames.function
        found: list[Element] = []
        for place in range(min(outside, max(last, 0)), last + 1):
            if not library[frames[place]]:
                called = functions[frames[place + 1]] if place + 1 < len(frames) else -1
                found += self._own_elements(frames[place], called)
        for caller, frame in zip([frames[last] if last >= 0 else -1, *inside], inside, strict=False):
            found.append(self._library_element(caller, frame))
        if inside:
            found.append(self._library_place(inside[-1]))
        return found

    def _own_elements(self, frame: int, called: int) -> tuple[Element, ...]:
        """The statement and the expression at one of the person's frames; `called` is the function it calls, or -1."""
        expression = self.expressions.at(frame)
        name, key = expression.name, (CALL, frame)
        better = self._class_name(called) if len(name) <= 2 or name in POOR else ""
        known = self._elements.get((frame, better))
        if known is None:
            call = Element(CALL, (frame, better), better or name, (*key, better), frame, expression.text)
            known = (call,)
            if expression.statement[0]:
                statement = (self.graph.tables.frames.file[frame], *expression.statement)
                text = expression.statement_text
                known = (Element(STATEMENT, statement, text, (STATEMENT, *statement), frame, text), call)
            self._elements[frame, better] = known
        return known

    def _class_name(self, function: int) -> str:
        """The class whose objects are called where a function is a `__call__`."""
        qualified = self.graph.tables.strings[function] if function >= 0 else ""
        return qualified.split(".")[-2] if qualified.endswith(".__call__") else ""

    def _library_element(self, caller: int, frame: int) -> Element:
        """The call of a library's function: named by the function, told apart by where it was called."""
        function = self.graph.tables.frames.function[frame]
        name = self._class_name(function) or self.graph.tables.strings[function].rpartition(".")[2]
        return Element(FUNCTION, (caller, function), name, (FUNCTION, caller, function), frame)

    def _library_place(self, frame: int) -> Element:
        """The place in a library at which an equation was made; its name is looked up only where it is shown."""
        return Element(FUNCTION, (frame,), "", (FUNCTION, frame), frame)

    # Regions.

    def _enter(self, regions: Column) -> None:
        """The paths of bodies, of which the owners have theirs; an owner stands in its own loop or condition."""
        graph = self.graph
        owner = graph.regions.owner[regions]
        outer = graph.nodes.region[owner]
        columns = [self._path[owner], graph.nodes.op[owner], graph.regions.kind[regions], graph.regions.name[regions]]
        combinations, which = combinations_of(columns)
        bodies = [self._body(*row) for row in combinations]
        own_path, body_path = (np.array(column, np.int32)[which] for column in list(zip(*bodies, strict=True))[:2])
        opaque = np.array([body[2] for body in bodies], bool)[which]
        with_phase = np.array([self._has_phase(body[1]) for body in bodies], bool)[which]
        stack = graph.nodes.stack[owner]
        self._starts[owner[own_path != self._path[owner]]] = True
        self._path[owner] = own_path
        self._region_path[regions] = body_path
        self._region_stack[regions] = np.where(stack >= 0, stack, self._region_stack[outer])
        self._in_phase[regions] = self._in_phase[outer] | with_phase
        self._opaque[regions] = self._opaque[outer] | opaque

    def _has_phase(self, path: int) -> bool:
        while path and self.paths.element[path].kind != PHASE:
            path = self.paths.parent[path]
        return path > 0

    def _body(self, path: int, op: int, kind: int, name: int) -> tuple[int, int, bool]:
        """The path of an owner, that of its body, and whether the body is a detail that is never shown."""
        strings = self.graph.tables.strings
        operation, words, label = strings[op], strings[kind], strings[name]
        if operation in _WRAPPERS:
            if words == "linear_solve":
                return path, path, label != "solve"
            label = label.strip("_")
            element = Element(FUNCTION, ("wrapper", label), label, (FUNCTION, label))
            return path, self.paths.add(path, element) if label else path, False
        if operation.startswith(_OPAQUE):
            return path, path, True
        if operation == "scan":
            path = self.paths.add(path, Element(LOOP, (operation,), operation, (LOOP, operation)))
            return path, path, False
        if operation == "while":
            path = self.paths.add(path, Element(LOOP, (operation,), operation, (LOOP, operation)))
            label = _WHILE_BODIES.get(words, words)
        elif operation == "cond":
            path = self.paths.add(path, Element(COND, (), operation, (COND,)))
        else:
            label = label or words
            path = self.paths.add(path, Element(BODY, (operation, label), label, (BODY, operation, label)))
            return path, path, False
        return path, self.paths.add(path, Element(BODY, (label,), label, (BODY, label))), False


def _region_depths(graph: Graph) -> Column:
    """How many regions lie around each region."""
    parent = graph.region_parent.tolist()
    depth = [0] * len(parent)
    for region in range(1, len(parent)):
        depth[region] = depth[parent[region]] + 1
    return np.array(depth, np.int32)


# Up to this many possible values, equal ones are found by a table rather than by sorting.
_TABLE = 1 << 20


def combinations_of(columns: list[Column]) -> tuple[list[tuple[int, ...]], Column]:
    """The different rows of columns, and which of them each row is."""
    which = np.zeros(len(columns[0]), np.int64)
    example = np.zeros(min(len(which), 1), np.int64)
    for column in columns:
        low = int(column.min(initial=0))
        size = int(column.max(initial=0)) - low + 1
        which, example = _numbered(which * size + (column - low))
    return list(zip(*(column[example].tolist() for column in columns), strict=True)), which.astype(np.int32)


def _numbered(key: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which of the different values each one is, and where each of them stands."""
    if len(key) and int(key.max()) < _TABLE:
        table = np.full(int(key.max()) + 1, -1, np.int64)
        table[key] = np.arange(len(key))
        values = np.flatnonzero(table >= 0)
        example = table[values]
        table[values] = np.arange(len(values))
        return table[key], example
    _, example, which = np.unique(key, return_index=True, return_inverse=True)
    return which.reshape(-1), example
