"""Dead code: equations that JAX traced though no result needs them.

What belongs together is told together: equations that read one another, and those of the same lines. The forward part
of a derivative whose value nobody asked for is dead as well, on purpose, and not worth a word; there, told is what the
source itself does not use.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from jaxviz.costs.flops import MOVING, total_flops, turns_around
from jaxviz.find.finding import ADVICE, DERIVATIVES, NOTE, WARNING, Finding, Line, Subject, lines_text
from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.link.liveness import needed_nodes
from jaxviz.outline.tree import NODE_ROLES
from jaxviz.units import flops_text, plural

# So many equations cost time to trace and lower; so many cost seconds.
_ADVICE_EQUATIONS, _WARNING_EQUATIONS = 3, 1_000
# Operations from which a cost is worth a word.
_COSTLY = 1e6
_THROUGH = NODE_ROLES.index("through")


def find(subject: Subject) -> Iterator[Finding]:
    """One finding for the dead equations of each line of the person's own, or of several that are dead together."""
    together: dict[tuple[Line, ...], list[Column]] = {}
    for nodes, lines in _dead_at(subject):
        together.setdefault(lines, []).append(nodes)
    for lines, groups in together.items():
        yield _finding(subject, np.unique(np.concatenate(groups)), lines)


def _dead_at(subject: Subject) -> Iterator[tuple[Column, tuple[Line, ...]]]:
    """Groups of dead equations that read one another, each with its lines: a value and its derivative are two."""
    graph = subject.graph
    unneeded = (graph.nodes.kind == OPERATION) & (needed_nodes(graph) == 0)
    derived = _of_derivatives(graph)
    derived |= _in_derivatives(subject, unneeded & ~derived, derived)
    called = _of_unused_calls(subject, unneeded, unneeded & derived)
    dead = unneeded & (~derived | (called >= 0) | _unused(subject, unneeded & derived))
    # What stands in a dead body is dead with its owner, which speaks for it.
    around = graph.regions.owner[graph.nodes.region]
    alone = dead & ~((around >= 0) & dead[np.maximum(around, 0)])
    for nodes in _groups(graph, alone, dead):
        shown = nodes[(subject.outline.role[nodes] < _THROUGH) | _calls(subject, nodes)]
        # Where a call stands is known of the call: its body may have been traced for another one before.
        calls = set(called[shown].tolist())
        lines = subject.lines(shown) if -1 in calls else subject.lines_at(calls)
        if not len(shown) or not lines or not (-1 not in calls or _whole_lines(subject, shown, dead)):
            continue
        computed = _computed(subject, shown)
        if _is_left_by_library(subject, nodes):
            continue
        # What is made only for its shape costs nothing.
        if {subject.flow.op(node) for node in computed.tolist()} <= MOVING:
            continue
        yield computed, lines


def _calls(subject: Subject, nodes: Column) -> Column:
    """Which nodes are calls of jitted functions, through which one looks at what is in them."""
    bodies = subject.graph.owned_regions
    through = subject.outline.role[nodes] == _THROUGH
    return through & np.array([node in bodies for node in nodes.tolist()], bool)


def _computed(subject: Subject, nodes: Column) -> Column:
    """The nodes, with what is in calls in place of these."""
    graph, found, waiting = subject.graph, set(), nodes.tolist()
    while waiting:
        node = waiting.pop()
        if subject.outline.role[node] != _THROUGH:
            found.add(node)
            continue
        for region in graph.owned_regions.get(node, ()):
            inside = np.flatnonzero((graph.nodes.region == region) & (graph.nodes.kind == OPERATION))
            waiting += inside[subject.outline.role[inside] <= _THROUGH].tolist()
    return np.array(sorted(found), np.int32)


def _finding(subject: Subject, nodes: Column, lines: tuple[Line, ...]) -> Finding:
    count = len(nodes)
    flow = subject.flow
    flops = sum(total_flops(flow, node) * turns_around(flow, node) for node in nodes.tolist())
    cost = f" Executed, it would take {flops_text(flops)}." if flops >= _COSTLY else ""
    return Finding(
        kind="dead",
        severity=WARNING if count >= _WARNING_EQUATIONS else ADVICE if count >= _ADVICE_EQUATIONS else NOTE,
        title=f"{plural(count, 'equation')} that no result needs ({lines_text(lines)})",
        text=(
            f"What {lines_text(lines)} compute{'s' * (len(lines) == 1)} reaches no result of the function. It is never "
            "executed, but it is traced each time the function is compiled." + cost + subject.tracing(count)
        ),
        remedy=_remedy(subject, nodes),
        nodes=nodes.astype(np.int32),
        lines=lines,
        figures={"equations": count, "flops": flops},
    )


# What is asked of an array that says nothing of its numbers.
_OF_TYPES = ("shape", "dtype", "ndim", "size", "weak_type", "nbytes", "itemsize")
_BY_TYPES = ("zeros_like", "ones_like", "empty_like", "full_like", "result_type", "promote_types", "len")


def _is_for_its_shape(statement: ast.stmt | None, function: ast.AST | None) -> bool:
    """Whether a statement reads the shape of what it computes, or gives it a name of which that is read."""
    if statement is None:
        return False
    if isinstance(statement, ast.Assert) or any(_asks(node, None) for node in ast.walk(statement)):
        return True
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if function is None or not isinstance(target, ast.Name):
        return False
    named = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == target.id]
    # Of a name that is given again it is not known which value is asked.
    once = sum(isinstance(node.ctx, ast.Store) for node in named) == 1
    return once and any(_asks(node, target.id) for node in ast.walk(function))


def _asks(node: ast.AST, name: str | None) -> bool:
    """Whether an expression asks for the shape or type of a name, or of what is computed there and has none."""
    if isinstance(node, ast.Attribute) and node.attr in _OF_TYPES:
        asked = node.value
    elif isinstance(node, ast.Call) and node.args:
        called = node.func
        last = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        asked = node.args[0] if last in _BY_TYPES else ast.Constant(None)
    else:
        return False
    return isinstance(asked, ast.Name) and asked.id == name if name else isinstance(asked, (ast.Call, ast.BinOp))


def _remedy(subject: Subject, nodes: Column) -> str:
    if any(_is_for_its_shape(*subject.statement(node)) for node in nodes.tolist()):
        return "Its shape or type alone is read: jax.eval_shape gives these for a function, and computes nothing."
    for node in nodes.tolist():
        statement = subject.statement(node)[0]
        if subject.flow.op(node).startswith("scatter") and isinstance(statement, ast.Expr):
            return "x.at[...].set(...) gives a new array and leaves x as it is: assign what it gives, x = x.at[...]."
    return "Return it if it was meant to be, or remove it."


def _unused(subject: Subject, dead: Column) -> Column:
    """Of dead nodes, those of statements whose results the source does not use, and what only these read."""
    graph = subject.graph
    found = np.zeros(len(graph), bool)
    rows = np.flatnonzero(dead)
    readers: dict[int, set[int]] = {}
    source = graph.operands.source
    read = np.flatnonzero(source >= 0)
    of_dead = read[dead[graph.value_node[source[read]]]]
    pairs = zip(graph.value_node[source[of_dead]].tolist(), graph.operand_node[of_dead].tolist(), strict=True)
    for maker, reader in pairs:
        readers.setdefault(maker, set()).add(reader)
    for node in rows[::-1].tolist():
        read_by = readers.get(node)
        found[node] = _is_of_no_use(subject, node) or (bool(read_by) and all(found[one] for one in read_by or ()))
    return found


def _is_of_no_use(subject: Subject, node: int) -> bool:
    """Whether the source does not use what the statement of a node makes."""
    statement, function = subject.statement(node)
    # A call of a library that gives nothing may have kept what it made, as a sample of a model is kept.
    kept = isinstance(statement, ast.Expr) and not subject.is_own(node)
    return not kept and _is_unused(statement, function)


def _is_left_by_library(subject: Subject, nodes: Column) -> bool:
    """Whether all that dead nodes come to is made inside of a library, by calls whose results are used: a check of
    arguments, or what a handler of the library puts something else in the place of. Nobody can remove that."""
    graph = subject.graph
    source = graph.operands.source
    inside = np.zeros(len(graph), bool)
    inside[nodes] = True
    read = np.flatnonzero((source >= 0) & inside[graph.operand_node])
    ends = np.setdiff1d(nodes, graph.value_node[source[read]])
    return not any(subject.is_own(node) or _is_of_no_use(subject, node) for node in ends.tolist())


def _of_unused_calls(subject: Subject, unneeded: Column, dead: Column) -> Column:
    """Of each dead node the frame of the call around it whose result, such as a gradient, nothing reads; or -1.

    All of that call is dead, and what it gives has a name in the source.
    """
    graph = subject.graph
    stack = graph.nodes.stack
    needed = np.unique(stack[(graph.nodes.kind == OPERATION) & ~unneeded]).tolist()
    alive = {frame for one in needed for frame in subject.own_frames(one)}
    found = np.full(len(graph), -1, np.int32)
    for one in np.unique(stack[dead]).tolist():
        for frame in subject.own_frames(one)[-2::-1]:
            statement, function = subject.statement_at(frame)
            if frame not in alive and not isinstance(statement, ast.Expr) and _is_unused(statement, function):
                found[dead & (stack == one)] = frame
    return found


@lru_cache(maxsize=4_096)
def _is_unused(statement: ast.AST | None, function: ast.AST | None) -> bool:
    """Whether nothing in a function reads what a statement of it makes."""
    # What a function without a name gives goes to whoever calls it; the statement around it says nothing of that.
    if isinstance(function, ast.Lambda):
        return False
    if isinstance(statement, ast.Expr):
        return not any(isinstance(node, ast.Lambda) for node in ast.walk(statement))
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        return False
    names = [node for target in targets for node in ast.walk(target)]
    if function is None or not all(
        isinstance(node, (ast.Name, ast.Tuple, ast.List, ast.expr_context)) for node in names
    ):
        return False
    wanted = {node.id for node in names if isinstance(node, ast.Name)}
    return not any(
        (isinstance(node, ast.Name) and node.id in wanted and not isinstance(node.ctx, ast.Store))
        or (isinstance(node, (ast.Global, ast.Nonlocal)) and wanted & set(node.names))
        for node in ast.walk(function)
    )


def _of_derivatives(graph: Graph) -> Column:
    """The nodes whose name stack says that a derivative made them."""
    strings = graph.tables.strings
    scopes, scope = np.unique(graph.nodes.scope, return_inverse=True)
    marked = [any(mark in strings[text] for mark in DERIVATIVES) for text in scopes.tolist()]
    return np.array(marked, bool)[scope]


def _in_derivatives(subject: Subject, nodes: Column, derived: Column) -> Column:
    """Of some nodes, those that were made in a call all else of which is part of a derivative: what the rule of a
    custom derivative calls has a name stack of its own."""
    stack = subject.graph.nodes.stack
    found = np.zeros(len(nodes), bool)
    if not nodes.any() or not derived.any():
        return found
    others = (subject.graph.nodes.kind == OPERATION) & ~nodes
    of_derivatives = {frame for one in np.unique(stack[others & derived]).tolist() for frame in subject.own_frames(one)}
    plain = {frame for one in np.unique(stack[others & ~derived]).tolist() for frame in subject.own_frames(one)}
    for one in np.unique(stack[nodes]).tolist():
        if (of_derivatives - plain).intersection(subject.own_frames(one)[:-1]):
            found |= nodes & (stack == one)
    return found


def _groups(graph: Graph, alone: Column, dead: Column) -> Iterator[Column]:
    """The dead nodes that speak for themselves, those that read one another together, in program order."""
    nodes = np.flatnonzero(alone)
    leader = list(range(len(graph)))

    def lead(node: int) -> int:
        while leader[node] != node:
            leader[node] = leader[leader[node]]
            node = leader[node]
        return node

    for reader in nodes.tolist():
        for source in graph.operands.source[graph.first_operand[reader] : graph.first_operand[reader + 1]].tolist():
            if source >= 0 and dead[graph.value_node[source]]:
                one, other = sorted((lead(reader), lead(int(graph.value_node[source]))))
                leader[other] = one
    groups: dict[int, list[int]] = {}
    for node in nodes.tolist():
        groups.setdefault(lead(node), []).append(node)
    for members in groups.values():
        yield np.array(members)


def _whole_lines(subject: Subject, nodes: Column, dead: Column) -> bool:
    """Whether all that came from some expression of the person's is dead: else it is a by-product of what is needed."""
    graph = subject.graph
    stacks = np.unique(graph.nodes.stack[nodes])
    frames = {subject.own_frame(stack) for stack in stacks.tolist()}
    operations = np.flatnonzero((graph.nodes.kind == OPERATION) & ~dead)
    alive = {subject.own_frame(stack) for stack in np.unique(graph.nodes.stack[operations]).tolist()}
    return bool(frames - alive - {-1})
