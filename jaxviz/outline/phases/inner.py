"""The phases of gradients that are taken within what is differentiated, as steps of meta-learning and penalties do.

Such a gradient is one step of the pass forward, and has phases of its own in its call. So it has on the way back of all
that, in the same words: first what undoes its own way back, then what undoes its pass forward. In a body name stacks
begin anew, so there they say the phases of the inner gradient alone.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column, Graph
from jaxviz.outline.calls.modules import BACKWARD, FORWARD, Scope
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.outline.phases.derivatives import steps_of
from jaxviz.outline.phases.phases import Phases
from jaxviz.tables import rows_used


class InnerGradients:
    """The phases of inner gradients of one graph, whose outer ones are `phases`."""

    def __init__(
        self, graph: Graph, scopes: Mapping[int, Scope], stack: Column, stacks: StackTree, phases: Phases
    ) -> None:
        self._graph = graph
        self._stack = stack
        self._stacks = stacks
        self._phases = phases
        # Of each scope: its phase, that by its outermost derivative, and that of what this one is taken of.
        said = np.zeros((3, max(scopes, default=0) + 1), np.int32)
        if phases.mixed.any():
            for scope, parsed in scopes.items():
                said[:, scope] = parsed.phase, parsed.outer_phase, _phase_inside(graph.tables.strings[scope])
        self._own, self._outer, self._inside = said

    def of(
        self, at: Column, region: Column, phase: Column, prefix: Column, in_phase: NDArray[np.bool_], around: Column
    ) -> tuple[Column, Column]:
        """Of each operation `at`, its phase of an inner gradient, 0 for none, and the stack of the call that takes it,
        or -1; `phase` and `prefix` as `Phases.of` gives them.

        `in_phase` says of regions whether they are inside a phase, `around` the call stacks that they stand in.
        """
        inner, taking = np.zeros(len(at), np.int32), np.full(len(at), -1, np.int32)
        told_by = self._phases.told_by[at]
        scope = self._graph.nodes.scope[told_by]
        own, outer = self._own[scope], self._outer[scope]
        holds = np.zeros(len(in_phase), np.bool_)
        holds[region[(phase == FORWARD) & (own == BACKWARD) & (outer == FORWARD)]] = True
        back = phase == BACKWARD
        in_body = (in_phase & self._phases.mixed)[region]
        wanted = (holds[region] & ((phase == FORWARD) | back)) | in_body
        if not wanted.any():
            return inner, taking
        above = np.where(in_body, around[region], prefix)[wanted]
        taking[wanted] = self._calls(self._stack[at[wanted]], above)
        taking[told_by != at] = -1
        said = np.where(back, self._inside[scope], own)
        held = np.flatnonzero(taking >= 0)
        goes_on = (taking[held] == np.append(-1, taking[held[:-1]])) & (np.diff(held, prepend=-1) == 1)
        # What says nothing goes by what came before it in the same call.
        known = np.maximum.accumulate(np.where((said[held] > 0) | ~goes_on, np.arange(len(held)), 0))
        first = np.where(back[held], BACKWARD, FORWARD)
        inner[held] = np.where(said[held[known]] > 0, said[held[known]], first)
        # A gradient all of which is seen at one time only has no phases.
        for call in rows_used(taking[held]):
            for here in (taking == call) & ~back, (taking == call) & back:
                if len(set(inner[here].tolist())) == 1:
                    inner[here], taking[here] = 0, -1
        return inner, taking

    def _calls(self, stack: Column, above: Column) -> Column:
        """Of each stack, the outermost call below another one that takes a gradient, or -1."""
        found = np.full(len(stack), -1, np.int32)
        pairs, which = np.unique(np.stack([stack, above]), axis=1, return_inverse=True)
        for number, (one, outer) in enumerate(pairs.T.tolist()):
            call, held = -1, one
            while held >= 0 and held != outer:
                if self._phases.takes_gradient(held):
                    call = held
                held = self._stacks.parent(held)
            if held == outer:
                found[which.reshape(-1) == number] = self._phases.call_of(call)
        return found


def _phase_inside(scope: str) -> int:
    """The phase that a name stack has within its outermost derivative, 0 for none.

    >>> _phase_inside("transpose(jvp(transpose(jvp())))"), _phase_inside("transpose(jvp(jvp()))")
    (2, 1)
    >>> _phase_inside("jvp(transpose(jvp()))"), _phase_inside("transpose(jvp())")
    (2, 0)
    """
    steps = steps_of(scope)
    inside = steps[2 if steps[:1] == ["transpose"] else 1 :]
    return BACKWARD if "transpose" in inside else FORWARD if inside else 0
