"""The part of a program that JAX had traced when an error ended it, found through the frames of its traceback.

What is being traced is held by values in those frames: in the person's variables, and in JAX's own. Loops and branches
that were entered are bodies of an operation that was never finished.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from jaxviz import compat
from jaxviz.compat import FailedEquation, Operand, PartialJaxpr, UnfinishedEquation
from jaxviz.compat import traces as compat_traces


@dataclass(frozen=True, eq=False)
class Traced:
    """What was traced: the jaxpr so far. The last equation of the innermost body is what could not be made."""

    jaxpr: PartialJaxpr
    #: For each unfinished body, outermost first, each the last of its own: how many frames led to it.
    entered: tuple[int, ...]


def traced_so_far(frames: Sequence[FrameType], name: str, own: Sequence[int] = ()) -> Traced | None:
    """What was traced in frames, outermost first; None where nothing of it is left. `name` is of what failed.

    What has no name is left out. `own` are the numbers of the frames that are the person's.
    """
    found: list[tuple[Any, int]] = []
    for number, frame in enumerate(frames):
        for value in _held(frame):
            trace = compat_traces.tracing(value)
            if trace is not None and not any(trace is other for other, _ in found):
                found.append((trace, number))
    beside = [compat_traces.tangents_of(value) for frame in frames for value in _held(frame)]
    found = [one for one in found if not any(one[0] is other for other in beside)]
    # Before the function is entered there is only what JAX does with the arguments.
    found = _told(found, own) or (found[:1] if own else [])
    if not found:
        return None
    traces, entered = zip(*found, strict=True)
    jaxpr = _jaxpr(traces[-1], *([FailedEquation(name, _culprits(frames, traces))] if name else []))
    for number in reversed(range(len(traces) - 1)):
        before = [frame for frame in own if frame < entered[number + 1]]
        between = frames[max(before, default=-1) + 1 : entered[number + 1] + 1]
        operands = _operands(between, traces[number], jaxpr.invars)
        jaxpr = _jaxpr(traces[number], UnfinishedEquation(jaxpr, operands))
    return Traced(jaxpr, entered[1:])


def _told(found: Sequence[tuple[Any, int]], own: Sequence[int]) -> list[tuple[Any, int]]:
    """The traces with any equation, and those of the person's functions: JAX has empty ones of its own functions."""
    ends = [*(number for _, number in found[1:]), sys.maxsize]
    return [
        (trace, start)
        for (trace, start), end in zip(found, ends, strict=True)
        if compat_traces.equations_so_far(trace) or any(start <= number < end for number in own)
    ]


def _held(frame: FrameType) -> Iterator[Any]:
    """The local values of a frame, and those inside the lists and dictionaries among them."""
    for value in list(dict(frame.f_locals).values()):
        yield value
        if type(value) in (list, tuple):
            yield from value[:_LOOKED_AT]
        elif type(value) is dict:
            yield from list(value.values())[:_LOOKED_AT]


def _operands(frames: Sequence[FrameType], trace: Any, arguments: Sequence[Any]) -> list[Operand]:
    """The variables of a trace that went into a body as its arguments.

    `frames` are those of JAX that lead into the body. They hold the operands as a list; values that are no variables
    of the trace, such as numbers, have no place in it.
    """
    for frame in reversed(frames):
        for held in list(dict(frame.f_locals).values()):
            values = compat_traces.listed(held)
            if len(values) == len(arguments) and all(map(_becomes, values, arguments)):
                found = [
                    Operand(variable, number, _shape(value) != argument.aval.shape)
                    for number, (value, argument) in enumerate(zip(values, arguments, strict=True))
                    if (variable := compat_traces.variable_of(value, trace)) is not None
                ]
                if found:
                    return found
    return []


def _becomes(value: Any, argument: Any) -> bool:
    """Whether a value may be what an argument of a body is made of: it, or a stack of which each turn gets a slice."""
    return argument.aval.shape in (_shape(value), _shape(value)[1:])


def _shape(value: Any) -> tuple[int, ...]:
    """As the function sees it: what is mapped over it has not."""
    return tuple(getattr(value, "shape", ()))


# Of a long list, so many entries are looked at.
_LOOKED_AT = 64


def _culprits(frames: Sequence[FrameType], traces: Sequence[Any]) -> tuple[Any, ...]:
    """The variables of the innermost frame that holds any: what JAX worked on when it gave up.

    What is from around the body that was being traced may not have come into it yet: it has the variable that it has
    there.
    """
    for frame in reversed(frames):
        variables: dict[int, Any] = {}
        for value in _held(frame):
            known = (compat_traces.variable_of(value, trace) for trace in reversed(traces))
            variable = next((one for one in known if one is not None), None)
            if variable is not None:
                variables[id(variable)] = variable
        if variables:
            return tuple(variables.values())
    return ()


def _jaxpr(trace: Any, *last: FailedEquation | UnfinishedEquation) -> PartialJaxpr:
    equations = [*compat_traces.equations_so_far(trace), *last]
    arguments = compat_traces.arguments_so_far(trace)
    constants = dict(compat_traces.constants_so_far(trace))
    known = {*arguments, *constants}
    for equation in equations:
        for variable in equation.invars:
            # Its equation is gone: JAX holds what nothing needs loosely.
            if not isinstance(variable, compat.Literal) and variable not in known:
                known.add(variable)
                constants[variable] = None
        known.update(equation.outvars)
    return PartialJaxpr(tuple(equations), arguments, (), tuple(constants), tuple(constants.values()), trace)
