"""Gradients that nothing reads, though the value beside them is read, as of `value_and_grad(f)(x)[0]`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from jaxviz.find.finding import ADVICE, NOTE, WARNING, Finding, Subject, lines_text
from jaxviz.graph import OPERATION
from jaxviz.link.liveness import needed_nodes
from jaxviz.units import plural

_Mask = NDArray[np.bool_]

# So many equations cost time to trace and lower; so many cost seconds.
_ADVICE_EQUATIONS, _WARNING_EQUATIONS = 3, 1_000


def find(subject: Subject) -> Iterator[Finding]:
    """One finding for each call all of whose way back is dead, and some of whose way forward is not."""
    graph, derivatives = subject.graph, subject.derivatives
    operations = graph.nodes.kind == OPERATION
    # What is transposed and no derivative, as by `jax.linear_transpose`, has no way forward.
    back = operations & (derivatives.order > 0) & derivatives.derived
    if not back.any():
        return
    needed = needed_nodes(graph) > 0
    stack = graph.nodes.stack
    paths = {one: subject.own_frames(one) for one in np.unique(stack[operations & derivatives.derived]).tolist()}
    alive = {frame for one in np.unique(stack[back & needed]).tolist() for frame in paths[one]}
    forward = {frame for one in np.unique(stack[operations & needed & ~back]).tolist() for frame in paths.get(one, ())}
    calls: dict[int, list[tuple[int, ...]]] = {}
    for one in np.unique(stack[back & ~needed]).tolist():
        # The outermost call of which no part of the way back is read.
        outermost = next((frame for frame in paths[one] if frame not in alive), -1)
        if outermost in forward:
            calls.setdefault(outermost, []).append(tuple(paths[one]))
    for outermost, inside in calls.items():
        frame = _asked_for(inside, outermost)
        within = [one for one, path in paths.items() if frame in path]
        if _is_part(subject, np.isin(stack, within), back):
            continue
        nodes = np.flatnonzero(back & np.isin(stack, within)).astype(np.int32)
        count, lines = len(nodes), subject.lines_at([frame])
        yield Finding(
            kind="dead",
            severity=WARNING if count >= _WARNING_EQUATIONS else ADVICE if count >= _ADVICE_EQUATIONS else NOTE,
            title=f"a gradient that no result needs: {plural(count, 'equation')} ({lines_text(lines)})",
            text=(
                "The value is read, and the gradient beside it is not. Its way back is never executed, but it is "
                "traced each time the function is compiled." + subject.tracing(count)
            ),
            remedy="Call the function itself where its value alone is wanted.",
            nodes=nodes,
            lines=lines,
            figures={"equations": count},
        )


def _is_part(subject: Subject, within: _Mask, back: _Mask) -> bool:
    """Whether these lines are but a part of what is differentiated, as those are on which an argument is read whose
    gradient alone nothing reads. The rest of it takes the value from there, and the way back comes from the rest."""
    graph, flow = subject.graph, subject.flow
    derived = subject.derivatives.derived
    for inside, outside in ((within & back, ~within & back), (~within & derived & ~back, within & derived & ~back)):
        for node in np.flatnonzero(inside & (graph.nodes.kind == OPERATION)).tolist():
            sources = [flow.back(source) for source in flow.operands(node) if source >= 0]
            if any(source >= 0 and outside[graph.value_node[source]] for source in sources):
                return True
    return False


def _asked_for(paths: list[tuple[int, ...]], outermost: int) -> int:
    """The call of a gradient: what is around all of its way back, but for the lines of the differentiated function."""
    depth = paths[0].index(outermost)
    while len({path[depth] for path in paths}) == 1 and all(len(path) > depth + 2 for path in paths):
        depth += 1
    same = len({path[depth] for path in paths}) == 1
    return paths[0][depth if same else depth - 1]
