"""The path of every node in the outline: phase, modules, calls, statement, expression, library function, loop, body.

A path is a row of a tree (`Paths`), so equal paths are one number, and what is asked of a path is asked once. Nodes
are taken by how deep their regions nest; those that share region's path, phase, scope and call stack share a path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, RESULT, Column, Graph
from jaxviz.outline.calls.attached import attached_stacks
from jaxviz.outline.calls.checkpoints import called_in_checkpoints
from jaxviz.outline.calls.entries import NOWHERE, Entries, Entry
from jaxviz.outline.calls.modules import Scope, parse_scope, stems_of
from jaxviz.outline.calls.scopes import with_own_scopes, with_scopes_around_loops, with_scopes_of_loops
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.outline.calls.steps import Steps
from jaxviz.outline.elements import BODY, COND, FUNCTION, LOOP, MODULE, PHASE, RECOMPUTED, Element, Paths
from jaxviz.outline.opened.called import Called
from jaxviz.outline.phases.inner import InnerGradients
from jaxviz.outline.phases.phases import Phases
from jaxviz.outline.written.expressions import GENERIC, Expressions
from jaxviz.read.bodies import CHECKPOINTS, CUSTOM_DERIVATIVES, PLAIN_CALLS
from jaxviz.read.spoken import passes_on
from jaxviz.tables import rows_used

# What a region is in the outline, by the name of its owner's operation.
_WRAPPERS = frozenset(
    {*PLAIN_CALLS, *CHECKPOINTS, *CUSTOM_DERIVATIVES, "custom_linear_solve", "linear_solve", "custom_lin"}
)
_WHILE_BODIES = {"while cond": "while", "while body": "do"}


# Operations whose bodies say how two elements are combined, a detail of the operation.
_OPAQUE = ("scatter", "reduce", "select_and", "argre", "sort", "cumred")


@dataclass(frozen=True)
class NodePaths:
    """The tree of paths and the path of each node.

    `starts` marks nodes that begin a region though the node before has the same path; `wrapper` equations that are
    only a border to look through; `opaque` nodes that are a detail of the equation that owns them. `around_modules`
    are the frames that called modules, which stand beside what else was called there.
    """

    paths: Paths
    path: Column
    starts: NDArray[np.bool_]
    wrapper: NDArray[np.bool_]
    opaque: NDArray[np.bool_]
    around_modules: frozenset[int]


class PathReader:
    """Finds the paths of all nodes of one graph."""

    #: The functions that the nodes of an opened graph are in, as far as only its metadata say so.
    called: Called | None = None

    def __init__(self, graph: Graph) -> None:
        self.paths = Paths()
        self.stacks = StackTree(graph.tables)
        graph = with_own_scopes(graph)
        #: The call stack of each node.
        self.stack = attached_stacks(graph, self.stacks)
        graph = with_scopes_of_loops(graph, self.stacks, self.stack)
        self.graph = graph = with_scopes_around_loops(graph, self.stacks, self.stack)
        self.expressions = Expressions(graph.tables)
        strings = graph.tables.strings
        self._scopes = {scope: parse_scope(strings[scope]) for scope in rows_used(graph.nodes.scope)}
        self.phases = Phases(graph, self._scopes, self.stack, self.stacks, self.expressions, _WRAPPERS)
        self._inner = InnerGradients(graph, self._scopes, self.stack, self.stacks, self.phases)
        program = strings[graph.regions.name[0]]
        self.steps = Steps(graph.tables, self.paths, self.stacks, self.expressions, program)
        self._stems = stems_of(name for scope in self._scopes.values() for name in scope.modules)
        self._module_steps = {number: self._steps_of_scope(scope) for number, scope in self._scopes.items()}
        self._entries = Entries(graph, self._scopes, self.stack, self.stacks)
        self._stack_parts: dict[tuple[int, int, int, int, int], tuple[int, int, int]] = {}
        self._phase_paths: dict[tuple[int, int, int, int, int], int] = {}
        self._module_paths: dict[tuple[int, int, int, tuple[Entry, ...]], int] = {}
        # Of each node: its path, and whether it begins a region of its own.
        self._path = np.zeros(len(graph), np.int32)
        self._starts = np.zeros(len(graph), bool)
        # Of each region: its path, the call stack of its owner, and whether it lies in a phase or in a detail.
        count = len(graph.regions.owner)
        self._region_path = np.zeros(count, np.int32)
        self._region_stack = np.full(count, -1, np.int32)
        self._in_phase = np.zeros(count, bool)
        self._opaque = np.zeros(count, bool)
        # By each checkpoint the frame that it calls, and that by its call: a sum of gradients there is of it, too.
        self._called = called_in_checkpoints(graph, self.stack, self.stacks)
        self._checkpointed = {int(self.stack[owner]): frame for owner, frame in self._called.items()}
        self._owns = np.zeros(len(graph), bool)
        self._owns[graph.regions.owner[1:]] = True

    def read(self) -> NodePaths:
        nodes = self.graph.nodes
        depth = self.graph.region_depth
        for level in range(int(depth.max()) + 1):
            if level:
                self._enter(np.flatnonzero(depth == level).astype(np.int32))
            at = np.flatnonzero((depth == level)[nodes.region])
            self._path[at] = self._region_path[nodes.region[at]]
            at = at[(nodes.kind[at] == OPERATION) & ~self._opaque[nodes.region[at]]]
            if len(at):
                self._place(at)
        self._place_sums()
        wrapper = np.zeros(len(self.graph), bool)
        wrapper[self._owners_of_wrappers()] = True
        opaque = self._opaque[nodes.region]
        return NodePaths(self.paths, self._path, self._starts, wrapper, opaque, self._entries.frames_around())

    def _place_sums(self) -> None:
        """Sums of gradients right behind a checkpoint stand in what that does last, as they do where there is none."""
        nodes, strings = self.graph.nodes, self.graph.tables.strings
        _, ends = self.graph.region_intervals
        for owner in self._called:
            region = self.graph.owned_regions[owner][0]
            end = past = int(ends[region])
            while (
                past < len(self.graph)
                and self.stack[past] == self.stack[owner]
                and strings[nodes.op[past]] == "add_any"
            ):
                past += 1
            last = end - 1
            while nodes.kind[last] == RESULT:
                last -= 1
            if past > end and nodes.region[last] == region:
                self._path[last:past] = self._path[last]

    def _owners_of_wrappers(self) -> Column:
        strings = self.graph.tables.strings
        owner = self.graph.regions.owner[1:]
        ops = self.graph.nodes.op[owner]
        wanted = [op for op in rows_used(ops) if strings[op] in _WRAPPERS]
        return owner[np.isin(ops, wanted)] if wanted else owner[:0]

    # One level of nesting.

    def _place(self, at: Column) -> None:
        """The paths of operations in regions that were entered."""
        nodes = self.graph.nodes
        region = nodes.region[at]
        phase, prefix, around = self.phases.of(at, region, self._in_phase)
        columns = [
            self._region_path[region],
            self._region_stack[region],
            nodes.scope[at],
            self.stack[at],
            self._entries.base[region],
            phase,
            prefix,
            around,
            self._owns[at],
            *self._inner.of(at, region, phase, prefix, self._in_phase, self._region_stack),
        ]
        combinations, which = combinations_of(columns)
        self._path[at] = np.array([self._path_of(*row) for row in combinations], np.int32)[which]

    def _path_of(
        self,
        context: int,
        outer: int,
        scope: int,
        stack: int,
        base: int,
        phase: int,
        prefix: int,
        holding: int,
        owns: int,
        inner: int,
        taking: int,
    ) -> int:
        """The path of an equation, below `context`, whose own call stack is `outer`; `owns` says that it has bodies.

        `inner` is its phase of a gradient that is taken within its phase, `taking` the stack of the call that does so.
        """
        place = stack, outer, phase, prefix, holding
        parts = self._stack_parts.get(place)
        if parts is None:
            parts = self._stack_parts[place] = self._parts_of_stack(*place)
        shared, around, below = parts
        path = self._path_of_phase(context, shared, around, phase, prefix)
        module, entries = self._entries.of(scope, stack, base)
        is_inside = inner > 0 and (module is None or not self.stacks.holds(module, taking))
        if not is_inside:
            path = self._path_of_modules(path, below, scope, entries)
        if inner:
            path = self.paths.extend(path, self.steps.between(taking, below, None if is_inside else module))
            path = self.paths.add(path, self.paths.number(self.phases.element(inner, taking)))
            below = taking
            if is_inside:
                path = self._path_of_modules(path, below, scope, entries)
        # What a call that holds phases does itself is beside them in it.
        is_itself = not phase and stack == prefix == holding >= 0
        called = self.stacks.frame(prefix) if is_itself else self._checkpointed.get(stack, -1)
        steps = self.steps.between(stack, below, module, called, phase > 0)
        path = self.paths.extend(path, steps)
        return path if owns or stack < 0 else self.paths.extend(path, self.steps.itself(stack))

    def _parts_of_stack(self, stack: int, outer: int, phase: int, prefix: int, holding: int) -> tuple[int, int, int]:
        """What a call stack shares with that of its region, what of it is around its phase, and what is above it."""
        stacks = self.stacks
        shared = stacks.common(stack, outer)
        if not phase:
            return shared, -1, shared
        around = stacks.common(stack, holding)
        return shared, around, stacks.deeper(shared, prefix if stacks.holds(prefix, stack) else around)

    def _path_of_phase(self, context: int, shared: int, around: int, phase: int, prefix: int) -> int:
        """The frames around the function that takes the gradient, then the phase."""
        if not phase:
            return context
        key = context, shared, around, phase, prefix
        path = self._phase_paths.get(key)
        if path is None:
            call = self.phases.call_of(prefix)
            held = call >= 0 and around in (prefix, call, self.stacks.parent(call))
            called = self.stacks.frame(call) if held else -1
            path = self.paths.extend(context, self.steps.between(around, shared, called=called))
            path = self._phase_paths[key] = self.paths.add(path, self.paths.number(self.phases.element(phase, prefix)))
        return path

    def _path_of_modules(self, path: int, below: int, scope: int, entries: tuple[Entry, ...]) -> int:
        """The modules of a scope, each after the person's calls around it that hold more than the module."""
        key = path, below, scope, entries
        known = self._module_paths.get(key)
        if known is None:
            known = path
            classes = self._scopes[scope].classes
            modules = 0
            for step in self._module_steps[scope]:
                is_module = self.paths.elements[step].kind == MODULE
                entry, caller, called = entries[modules] if is_module and modules < len(entries) else NOWHERE
                if self.stacks.depth(caller) > self.stacks.depth(below):
                    known = self.paths.extend(known, self.steps.between(caller, below, called=called))
                below = self.stacks.deeper(below, entry)
                if is_module and modules in classes and entry >= 0:
                    step = self.steps.module(step, self.stacks.frame(entry))
                known = self.paths.add(known, step)
                modules += is_module
            self._module_paths[key] = known
        return known

    def _steps_of_scope(self, scope: Scope) -> tuple[int, ...]:
        elements = [Element(MODULE, (name,), name, (MODULE, self._stems[name])) for name in scope.modules]
        if scope.recomputed >= 0:
            elements.insert(scope.recomputed, Element(RECOMPUTED, (), "recomputed", (RECOMPUTED,)))
        return tuple(map(self.paths.number, elements))

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
        stack = self.stack[owner]
        moved = own_path != self._path[owner]
        self._starts[owner[moved]] = True
        self._path[owner[moved]] = own_path[moved]
        self._region_path[regions] = body_path
        self._region_stack[regions] = np.where(stack >= 0, stack, self._region_stack[outer])
        self._in_phase[regions] = self._in_phase[outer] | with_phase
        self._opaque[regions] = self._opaque[outer] | opaque

    def _has_phase(self, path: int) -> bool:
        while path and self.paths.element(path).kind != PHASE:
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
            if (label in GENERIC or passes_on(label)) and operation not in CHECKPOINTS:
                # What is called `f` or `fn_wrapper` stands in the call that names it.
                return path, path, False
            if operation in CHECKPOINTS and self.paths.element(path).kind == LOOP:
                # The loop is known by the function that it repeats, which is told so forward, too.
                return path, path, False
            element = Element(FUNCTION, ("wrapper", label), label, (FUNCTION, label))
            return path, self._step(path, element) if label else path, False
        if operation.startswith(_OPAQUE) or words == "index map":
            return path, path, True
        if operation == "scan":
            path = self._step(path, Element(LOOP, (operation,), operation, (LOOP, operation)))
            return path, path, False
        if operation == "while":
            path = self._step(path, Element(LOOP, (operation,), operation, (LOOP, operation)))
            label = _WHILE_BODIES.get(words, words)
        elif operation == "cond":
            path = self._step(path, Element(COND, (), operation, (COND,)))
        else:
            label = label or words
            path = self._step(path, Element(BODY, (operation, label), label, (BODY, operation, label)))
            return path, path, False
        return path, self._step(path, Element(BODY, (label,), label, (BODY, label))), False

    def _step(self, path: int, element: Element) -> int:
        return self.paths.add(path, self.paths.number(element))


# Up to this many possible values, equal ones are found by a table rather than by sorting.
_TABLE = 1 << 20


def combinations_of(columns: list[Column]) -> tuple[list[tuple[int, ...]], Column]:
    """The different rows of columns, and which of them each row is."""
    which = np.zeros(len(columns[0]), np.int64)
    example = np.zeros(min(len(which), 1), np.int64)
    for column in columns:
        low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
        if low < high:
            which, example = _numbered(which * (high - low + 1) + (column - low))
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
