"""What a function does only while it is traced: numbers of its module are baked in, prints and clocks and dice do not
happen again when it runs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jaxviz.find.finding import NOTE, WARNING, Finding, Line, Subject, lines_text
from jaxviz.scope.impure import CHANGE, CLOCK, DICE, ENVIRONMENT, NUMBER, PRINT, STORE, Seen

_TELL = {
    PRINT: (
        NOTE,
        "{names} prints only while JAX traces",
        "When the compiled function runs, Python is not there any more; what is printed are tracers, not numbers.",
        'jax.debug.print("{{x}}", x=x) prints the numbers of each run.',
    ),
    CLOCK: (
        WARNING,
        "{names} is read once, while JAX traces",
        "The time of tracing is part of the compiled program: each run gets the same.",
        "Read the clock outside and pass the time as an argument; to time a run, wait with jax.block_until_ready.",
    ),
    DICE: (
        WARNING,
        "{names} gives the same numbers in each run",
        "It is called while JAX traces, and what it gave is part of the compiled program.",
        "Draw with jax.random and a key that is an argument, split for each use.",
    ),
    ENVIRONMENT: (
        NOTE,
        "{names} is read once, while JAX traces",
        "What the variable of the environment is then is part of the compiled program: a later change is not seen.",
        "Read it outside, and pass it as an argument, or as a static one where it decides what is computed.",
    ),
    STORE: (
        WARNING,
        "{names} is assigned only while JAX traces",
        "A compiled function changes nothing of Python: it is assigned once, and what is computed is a tracer then.",
        "Return the new value and assign it where the function is called.",
    ),
    CHANGE: (
        WARNING,
        "{names} happens only while JAX traces",
        "A compiled function changes nothing of Python: it is put in once, and what is computed is a tracer then.",
        "Return the value, and keep it where the function is called.",
    ),
    NUMBER: (
        NOTE,
        "{names} is baked in",
        "The number is read from around the function while JAX traces: a later change of it is not seen by what was "
        "compiled.",
        "Pass it as an argument; a name in capitals that no function assigns is taken for one that does not change.",
    ),
}


def find(subject: Subject) -> Iterator[Finding]:
    for kind, (severity, title, text, remedy) in _TELL.items():
        seen = [one for one in subject.seen if one.kind == kind and _was_traced(subject, one)]
        if kind == PRINT:
            seen = [one for one in seen if not _is_called_back(subject, one)]
        nodes_of = [subject.nodes_at(subject.file(one.file), one.line) for one in seen]
        if kind == NUMBER:
            told = [place for place, one in enumerate(seen) if _is_in(subject, nodes_of[place], one.value)]
            seen, nodes_of = [seen[place] for place in told], [nodes_of[place] for place in told]
        if not seen:
            continue
        nodes = np.unique(np.concatenate([np.zeros(0, np.int32), *nodes_of])).astype(np.int32)
        lines = tuple(
            sorted({Line(file, one.line) for one in seen if (file := subject.file(one.file)) >= 0}, key=_order)
        )
        names = list(dict.fromkeys(f"`{one.name}`" + (f" = {one.value}" if one.value else "") for one in seen))
        few = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        title = title.replace(" is ", " are ") if len(names) > 1 else title
        yield Finding(
            kind="impure",
            severity=severity,
            title=f"{title.format(names=few)} ({lines_text(lines or tuple(Line(-1, one.line) for one in seen))})",
            text=text,
            remedy=remedy.replace("{{", "{").replace("}}", "}"),
            nodes=nodes,
            lines=lines,
            figures={"names": len(names)},
        )


def _order(line: Line) -> tuple[int, int]:
    return line.file, line.line


def _was_traced(subject: Subject, seen: Seen) -> bool:
    """Whether equations come from the function: not all that a function refers to is called."""
    file, (first, last) = subject.file(seen.file), seen.function
    if seen.outermost and seen.kind != NUMBER:
        return True
    frames = subject.graph.tables.frames
    return file >= 0 and any(
        at == file and first <= line <= last for at, line in zip(frames.file, frames.line, strict=True)
    )


def _is_called_back(subject: Subject, seen: Seen) -> bool:
    """Whether what stands in the line is handed to a callback, and is done in each run."""
    return any(
        "callback" in subject.flow.op(node) for node in subject.nodes_at(subject.file(seen.file), seen.line).tolist()
    )


def _is_in(subject: Subject, nodes: np.ndarray, value: str) -> bool:
    """Whether one of the nodes reads the number: then it is a number that is computed with, not one of a shape."""
    try:
        number = complex(value)
    except ValueError:
        return False
    flow = subject.flow
    read = (flow.number(source) for node in nodes.tolist() for source in flow.operands(node))
    return any(other is not None and abs(other - number) <= 1e-6 * max(abs(number), 1.0) for other in read)
