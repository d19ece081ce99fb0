"""Phases: what runs forward, what runs backward, what comes before, and the update after it.

A body has phases where its name stacks hold both `jvp` and `transpose`. Phases are runs of program order, so two
gradients in one body give two of each. They stand inside the function that takes the gradient: the frames down to it
hold them all, the call that takes it (`value_and_grad(loss)`) gives way to them. Of the derivative of a derivative the
way back is a phase of its own, unless the inner gradient is a step of what is differentiated: then that is one pass
forward, with the calls of `grad` in it, which have phases of their own (`inner.py`), and one backward. A loop of the
person that takes gradients itself is no part of what comes before or after one: it stands beside its phases, as the
loop of a minimizer does beside its first step.
Where one gradient is taken again and again, as in a loop that Python unrolled, its update is what follows in the turn.
What `jvp` and `linearize` compute beside a gradient is phases of its own (`tangents.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import ARGUMENT, Column, Graph
from jaxviz.outline.calls.modules import BACKWARD, FORWARD, Scope
from jaxviz.outline.calls.moved import loops_of_moved
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.outline.elements import PHASE, Element
from jaxviz.outline.phases.derivatives import Derivatives, derivatives_of, levels_of
from jaxviz.outline.phases.tangents import Tangents
from jaxviz.outline.phases.training import Training
from jaxviz.outline.written.expressions import Expressions, is_control
from jaxviz.outline.written.transformations import calls_gradient, derivatives_in
from jaxviz.tables import rows_used

BEFORE, UPDATE, SECOND, THIRD, TANGENT_FORWARD, TANGENT_BACKWARD, AFTER, TANGENTS = 3, 4, 5, 6, 7, 8, 9, 10
PHASE_NAMES = {
    FORWARD: "forward",
    BACKWARD: "backward",
    BEFORE: "before",
    UPDATE: "update",
    SECOND: "second backward",
    THIRD: "third backward",
    # A forward derivative of a gradient, as in a Hessian, runs along with it.
    TANGENT_FORWARD: "forward with tangents",
    TANGENT_BACKWARD: "backward with tangents",
    # What comes after and updates nothing that was given.
    AFTER: "after",
    # The derivative alone, as what `linearize` gives computes it.
    TANGENTS: "tangents",
}
FORWARD_NAMES = frozenset({PHASE_NAMES[FORWARD], PHASE_NAMES[TANGENT_FORWARD]})
BACKWARD_NAMES = frozenset({PHASE_NAMES[BACKWARD], PHASE_NAMES[TANGENT_BACKWARD]})

# The share of a phase's equations whose call stacks begin with what is held to be common to all of them.
_MOST = 0.8
# So often a run backward may change between the ways back of a derivative and of what it is taken of.
_MOST_TURNS = 5
# What has phases of its own in place of one that its neighbours tell.
_APART = -1


class Phases:
    """The phases of one graph."""

    def __init__(
        self,
        graph: Graph,
        scopes: Mapping[int, Scope],
        stack: Column,
        stacks: StackTree,
        expressions: Expressions,
        wrappers: Collection[str],
    ) -> None:
        """`stack` are the call stacks of the nodes, in `stacks`; `wrappers` operations whose bodies are but a call."""
        self._graph = graph
        self._stack = stack
        self._stacks = stacks
        self._expressions = expressions
        self._tangents = Tangents(graph, stacks, expressions)
        self._training = Training(graph, stack, wrappers)
        # By frame, whether it takes a gradient.
        self._gradients: dict[int, bool] = {}
        size = max(scopes, default=0) + 1
        self._phase_of_scope = np.zeros(size, np.int32)
        # The same by the outermost derivative alone: the way back of an inner one is part of its pass forward.
        self._outer_phase_of_scope = np.zeros(size, np.int32)
        self._undoes_derivative = np.zeros(size, bool)
        for scope, parsed in scopes.items():
            self._phase_of_scope[scope] = parsed.phase
            self._outer_phase_of_scope[scope] = parsed.outer_phase
            levels, _ = levels_of(graph.tables.strings[scope])
            self._undoes_derivative[scope] = parsed.outer_phase == BACKWARD and levels > 1
        #: Of each node, the one that says its phase: of what was moved out of a loop, the loop.
        self.told_by = np.arange(len(graph))
        moved = loops_of_moved(graph, stacks, stack)
        self.told_by[list(moved)] = list(moved.values())
        own = self._phase_of_scope[graph.nodes.scope[self.told_by]]
        count = len(graph.regions.owner)
        forward = np.bincount(graph.nodes.region[own == FORWARD], minlength=count) > 0
        backward = np.bincount(graph.nodes.region[own == BACKWARD], minlength=count) > 0
        #: Of each region, whether its own equations are of more than one phase.
        self.mixed: NDArray[np.bool_] = forward & backward
        self._derived = forward & ~backward
        self._derivatives = derivatives_of(graph) if self.mixed.any() else None
        self._turns_gradients = self._owners_of_gradients()

    def _owners_of_gradients(self) -> NDArray[np.bool_]:
        """Of each node, whether it is a loop or condition of the person's in whose bodies gradients are taken."""
        graph, stacks = self._graph, self._stacks
        found = np.zeros(len(graph), np.bool_)
        for region in np.flatnonzero(self.mixed).tolist():
            while region and not found[owner := int(graph.regions.owner[region])]:
                found[owner] = True
                region = int(graph.nodes.region[owner])
        for owner in np.flatnonzero(found).tolist():
            stack = int(self._stack[owner])
            found[owner] = stack >= 0 and is_control(self._expressions.at(stacks.frame(stack)).name)
        return found

    def of(self, at: Column, region: Column, in_phase: NDArray[np.bool_]) -> tuple[Column, Column, Column]:
        """Of each operation `at`: its phase, 0 for none; the call stack down to the call that takes the gradient, or
        -1; and the stack that holds the phases.

        `in_phase` says of regions whether they are inside a phase; those within a phase are told in `inner.py`.
        """
        phase = np.zeros(len(at), np.int32)
        prefix = np.full(len(at), -1, np.int32)
        holding = np.full(len(at), -1, np.int32)
        for number in rows_used(region[(self._derived & ~in_phase)[region]]):
            # Without a gradient, what is linearized is apart from what is computed with that.
            here = np.flatnonzero(region == number)
            beside, of_call = self._beside_gradients(np.zeros_like(here), self._stack[at[here]], at[here])
            if (beside == TANGENTS).any():
                apart = of_call >= 0
                phase[here[apart]], prefix[here[apart]] = beside[apart], of_call[apart]
                holding[here[apart]] = [self._stacks.parent(call) for call in of_call[apart].tolist()]
        wanted = self.mixed & ~in_phase
        derivatives = self._derivatives
        if derivatives is None or not wanted.any():
            return phase, prefix, holding
        for number in rows_used(region[wanted[region]]):
            here = np.flatnonzero(region == number)
            phase[here], prefix[here], holding[here] = self._of_region(derivatives, at[here])
            late = here[phase[here] == UPDATE]
            if len(late) and not self._reads_arguments(at[late], number):
                phase[late] = AFTER
        return phase, prefix, holding

    def _of_region(self, derivatives: Derivatives, nodes: Column) -> tuple[Column, Column, Column]:
        """The same of the operations of one body, which has both phases."""
        stack, told_by = self._stack[nodes], self.told_by[nodes]
        scope = self._graph.nodes.scope[told_by]
        own, outer = self._phase_of_scope[scope], self._outer_phase_of_scope[scope]
        undoes = self._undoes_derivative[scope]
        if undoes.any() and _holds_gradients(own, outer) and self._is_derived_twice(stack[undoes], stack[outer > 0]):
            return self._of_body(outer, stack, nodes, least_share=1.0)
        # What the call that takes the gradient does itself is of no phase; a jitted function that it is taken of is.
        taking = [one for one in rows_used(stack[stack >= 0]) if self.takes_gradient(one)]
        if taking:
            own[np.isin(stack, taking) & ~np.isin(nodes, self._graph.regions.owner[1:])] = 0
        levels, order = derivatives.levels[told_by], derivatives.order[told_by]
        least = levels[own == BACKWARD].min() if (own == BACKWARD).any() else 0
        # What makes ready for a derivative of derivatives is part of neither.
        own[(own == FORWARD) & (levels < least)] = 0
        phase, prefix, holding = self._of_body(own, stack, nodes, least_share=_MOST)
        return _by_order(phase, np.where(own == BACKWARD, order, 0), least), prefix, holding

    def _is_derived_twice(self, stack: Column, derived: Column) -> bool:
        """Whether any of some call stacks goes through more than one derivative, as far as the person's calls say.

        They do not where anything `derived` goes through none. What a rule of `custom_jvp` computes has the scopes of
        the derivative that it is the rule of twice.
        """
        taken = {one: self._derivatives_taken(one) for one in rows_used(derived[derived >= 0])}
        return 0 in taken.values() or any(taken.get(one, 0) != 1 for one in rows_used(stack))

    def _derivatives_taken(self, stack: int) -> int:
        """How many derivatives the person's calls in a stack take."""
        frames = [frame for frame in self._stacks.frames_between(stack, -1) if not self._stacks.library[frame]]
        expressions = map(self._expressions.at, frames)
        return sum(derivatives_in(one.name) or int(one.gradient) for one in expressions)

    def _reads_arguments(self, nodes: Column, region: int) -> bool:
        """Whether any of some nodes reads what a body is given, as an update of parameters does."""
        graph = self._graph
        is_late = np.zeros(len(graph), bool)
        is_late[nodes] = True
        sources = graph.operands.source[is_late[graph.operand_node]]
        makers = graph.value_node[sources[sources >= 0]]
        return bool(((graph.nodes.kind[makers] == ARGUMENT) & (graph.nodes.region[makers] == region)).any())

    def _of_body(self, own: Column, stack: Column, nodes: Column, least_share: float) -> tuple[Column, Column, Column]:
        beside, of_call = self._beside_gradients(own, stack, nodes)
        own = np.where(of_call >= 0, _APART, own)
        phase = _filled(own)
        starts = _starts_of_gradients(phase)
        prefix = self._prefixes(starts, own, stack, least_share)
        gradients = np.unique(prefix)
        caller = np.array([self._stacks.parent(self.call_of(one)) for one in gradients.tolist()], np.int32)
        holding = caller[np.searchsorted(gradients, prefix)]
        around = np.isin(phase, (BEFORE, UPDATE))
        is_several = len(gradients[gradients >= 0]) > 1
        if is_several or self._turns_gradients[nodes[around]].any():
            # Of several gradients, each holds its own phases; what lies between them stands by itself.
            holding = prefix
            between = around & (prefix >= 0)
            phase = np.where(between, 0, phase).astype(np.int32)
            # What such a call does itself, a Jacobian's basis, stands beside its phases.
            itself = (phase == 0) & (stack >= 0) & np.isin(stack, gradients)
            prefix, holding = (np.where(itself, stack, column).astype(np.int32) for column in (prefix, holding))
        elif around.any() and not self._is_training(phase, stack, nodes, int(gradients[0])):
            # A gradient that is one step among others stands in its call, and the others beside it.
            holding = prefix
            phase = np.where(around, 0, phase).astype(np.int32)
        elif gradients[0] >= 0:
            gradient = int(gradients[0])
            # Beside the call of a function that takes the gradient, as of a force, nothing is a phase of it.
            phase[around & ~self._in_function_of(stack, gradient)] = 0
            if around[starts[1:] - 1].any():
                # Of one that is taken in every turn of a loop, what lies between may be of this turn, the next, or
                # neither.
                phase[around & ~self._in_rest_of_turn(stack, phase == UPDATE, gradient)] = 0
        for call in np.unique(of_call[of_call >= 0]).tolist():
            here = of_call == call
            phase[here], prefix[here], holding[here] = beside[here], call, self._stacks.parent(call)
            prefix[here & (phase == 0)] = -1
        return phase, prefix, holding

    def _beside_gradients(self, own: Column, stack: Column, nodes: Column) -> tuple[Column, Column]:
        """Of what `jvp` and `linearize` compute in a body: its phase, and the call; -1 for all else, such as what runs
        forward for a way back."""
        beside, of_call = np.zeros(len(nodes), np.int32), np.full(len(nodes), -1, np.int32)
        for call, held, tangents, linearizes in self._tangents.calls(nodes, stack, own == BACKWARD):
            is_gradient = bool((own[held] == BACKWARD).any())
            if is_gradient and not linearizes:
                continue
            # What takes a whole Jacobian is one step, which its call tells.
            told = 0 if self.takes_gradient(call) else TANGENT_FORWARD
            beside[held] = FORWARD if linearizes else told
            beside[tangents] = TANGENTS
            of_call[tangents if is_gradient else held] = call
        return beside, of_call

    def _is_training(self, phase: Column, stack: Column, nodes: Column, gradient: int) -> bool:
        """Whether a gradient and what stands around it are a step of training. A program of one gradient is told by
        its phases, unless that is clearly one step among others."""
        here = self._in_function_of(stack, gradient) if gradient >= 0 else np.ones(len(nodes), np.bool_)
        if self._training.is_top[self._graph.nodes.region[nodes[0]]] and here.all():
            # What stands apart, as what `jvp` computes, is in calls of its own either way.
            told, nodes = phase[phase > 0], nodes[phase > 0]
            slopes = np.isin(told, (FORWARD, BACKWARD))
            return gradient < 0 or not self._training.is_one_step_of_program(nodes, slopes, told == UPDATE)
        phase, stack, nodes = phase[here], stack[here], nodes[here]
        if not np.isin(phase, (BEFORE, UPDATE)).any():
            return True
        update = phase == UPDATE
        if gradient >= 0 and self._is_part_of_statement(gradient, stack[update]):
            return False
        return self._training.is_step(nodes, np.isin(phase, (FORWARD, BACKWARD)), update)

    def _is_part_of_statement(self, gradient: int, others: Column) -> bool:
        """Whether the call that takes a gradient is an operand in a statement, of which others of its body are too."""
        stacks, call = self._stacks, self.call_of(gradient)
        caller, statement = stacks.parent(call), self._statement(stacks.frame(call))
        inside = [one for one in rows_used(others[others >= 0]) if one != caller and stacks.holds(caller, one)]
        frames = {stacks.frames_between(one, caller)[0] for one in inside}
        return statement[1] > 0 and any(self._statement(frame) == statement for frame in frames)

    def _statement(self, frame: int) -> tuple[int, int, int, int]:
        """The file, and where in it the statement of a frame begins and ends, 0 if not known."""
        return self._graph.tables.frames.file[frame], *self._expressions.at(frame).statement

    def _in_function_of(self, stack: Column, gradient: int) -> NDArray[np.bool_]:
        """Of each call stack, whether it is of the call of the person's function that takes a gradient, or empty."""
        stacks = self._stacks
        caller = stacks.parent(self.call_of(gradient))
        return np.isin(stack, [one for one in rows_used(stack[stack >= 0]) if stacks.holds(caller, one)]) | (stack < 0)

    def _in_rest_of_turn(self, stack: Column, wanted: NDArray[np.bool_], gradient: int) -> NDArray[np.bool_]:
        """Of each of the call stacks `wanted`, whether it stands after a gradient in the same turn of the innermost
        loop around it, or where there is none, in the same call of its function."""
        found = np.zeros(len(stack), np.bool_)
        for one in rows_used(stack[wanted & (stack >= 0)]):
            if self._follows_in_turn(one, gradient):
                found |= wanted & (stack == one)
        return found

    def _follows_in_turn(self, stack: int, gradient: int) -> bool:
        gradient = self.call_of(gradient)
        caller = self._stacks.parent(gradient)
        if not self._stacks.holds(caller, stack) or stack == caller:
            return False
        frame, taking = self._stacks.frames_between(stack, caller)[0], self._stacks.frame(gradient)
        taken = self._expressions.at(taking)
        same_turn = self._expressions.at(frame).loop_places[: len(taken.loop_places)] == taken.loop_places
        # An expression is evaluated when all in it is: the arguments of a call before it, what it is part of after it.
        # What makes the loop itself take its next turn is no part of one.
        place, end = self._expressions.place_of(frame), self._expressions.place_of(taking)[2:]
        return same_turn and taken.statement[0] > 0 and place not in taken.loop_places and place[2:] >= end

    def _prefixes(self, starts: NDArray[np.intp], own: Column, stack: Column, least_share: float) -> Column:
        """For each equation of a body, the call stack down to the call that takes the gradient that `starts` there."""
        found = np.empty(len(own), np.int32)
        for start, end in zip(starts, [*starts[1:], len(own)], strict=True):
            found[start:end] = self._prefix(own[start:end], stack[start:end], least_share)
        return found

    def _prefix(self, own: Column, stack: Column, least_share: float) -> int:
        """The call that takes the gradient, of whose phases it holds at least such a share each."""
        counts = []
        for phase in (FORWARD, BACKWARD):
            below = stack[(own == phase) & (stack >= 0)]
            total = self._stacks.totals(below)
            counts.append((total, least_share * len(below)))
        (forward, forward_least), (backward, backward_least) = counts
        shared = [
            candidate
            for candidate, count in forward.items()
            if count >= forward_least and backward.get(candidate, 0) >= backward_least
        ]
        stacks, deepest = self._stacks, max(shared, key=self._stacks.depth, default=-1)
        for takes in (self.takes_gradient, self._library_takes_gradient):
            candidate = deepest
            while candidate >= 0:
                if takes(candidate):
                    return candidate
                candidate = stacks.parent(candidate)
        return -1

    def call_of(self, gradient: int) -> int:
        """The person's call that takes a gradient, without what a library does in it to take it."""
        stacks = self._stacks
        while gradient >= 0 and stacks.library[stacks.frame(gradient)]:
            gradient = stacks.parent(gradient)
        return gradient

    def takes_gradient(self, stack: int) -> bool:
        """Whether the innermost frame of a stack is the person's call that takes a gradient."""
        frame = self._stacks.own_frame(stack)
        known = self._gradients.get(frame)
        if known is None:
            known = self._gradients[frame] = frame >= 0 and self._expressions.takes_gradient(frame)
        return known

    def _library_takes_gradient(self, stack: int) -> bool:
        """Whether the innermost frame of a stack is a library's call of what takes a gradient."""
        frame = self._stacks.frame(stack)
        return self._stacks.library[frame] and calls_gradient(self._expressions.at(frame).name)

    def element(self, phase: int, prefix: int) -> Element:
        """The step of a path; `prefix` as in `of`."""
        call = self.call_of(prefix)
        frame = self._stacks.frame(call) if call >= 0 else -1
        known = frame >= 0 and phase not in (BEFORE, UPDATE, AFTER)
        detail = self._expressions.at(frame).name if known else ""
        return Element(PHASE, (phase, frame), PHASE_NAMES[phase], (PHASE, phase, frame), frame, detail)


def _holds_gradients(own: Column, outer: Column) -> bool:
    """Whether what is differentiated goes on forward after a gradient that it took itself, as steps of meta-learning
    and penalties on gradients do; `own` and `outer` are the phases with and without those of inner gradients."""
    inner = own[(outer == FORWARD) & (own > 0)]
    back = np.flatnonzero(inner == BACKWARD)
    return len(back) > 0 and bool((inner[back[0] :] == FORWARD).any())


def _by_order(phase: Column, order: Column, least: int) -> Column:
    """Phases in which each run backward that goes on into the way back of a derivative is cut there.

    `order` is that of what runs backward, 0 for what goes by its neighbours; `least` of how many derivatives all that
    runs backward is part of.
    """
    if least > 1 and not (order > 1).any():
        # There is another derivative, and no way back of it.
        names = np.arange(len(PHASE_NAMES) + 1)
        names[[FORWARD, BACKWARD]] = TANGENT_FORWARD, TANGENT_BACKWARD
        return names[phase].astype(np.int32)
    edges = np.flatnonzero(np.diff(phase, prepend=-1, append=-1))
    for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        said = order[start:end]
        if phase[start] != BACKWARD or not (said > 1).any():
            continue
        known = np.flatnonzero(said)
        said = said[known[np.maximum(np.searchsorted(known, np.arange(end - start), side="right") - 1, 0)]]
        # Where the ways back take turns at every step, one is not apart from the other.
        if np.count_nonzero(np.diff(said)) < _MOST_TURNS:
            phase[start:end] = np.array([BACKWARD, SECOND, THIRD])[np.clip(said - said.min(), 0, 2)]
    return phase


def _starts_of_gradients(phase: Column) -> NDArray[np.intp]:
    """Where the gradients of a body begin: one is a run forward and the run backward after it, with what lies around
    them."""
    told = np.flatnonzero(phase > 0)
    over = (phase[told] == BACKWARD) | (phase[told] == UPDATE)
    return np.append(0, told[np.flatnonzero(over[:-1] & (phase[told[1:]] == FORWARD)) + 1])


def _filled(own: Column) -> Column:
    """The phase of each equation in program order; those that have none go by what comes before and after them."""
    place = np.arange(len(own))
    before = np.maximum.accumulate(np.where(own > 0, place, -1))
    after = np.minimum.accumulate(np.where(own > 0, place, len(own))[::-1])[::-1]
    padded = np.append(own, 0)
    # Place -1 is the same as one past the last: no phase.
    last, following = padded[before], padded[after]
    phase = own.copy()
    none = own == 0
    apart = np.flatnonzero(own == _APART)
    if len(apart):
        phase[apart] = 0
        # What lies between phases that are apart and those of a gradient stands by itself.
        none &= (place > apart[-1]) | (place < apart[0]) | ((last > 0) & (following == last))
    phase[none & (last == 0)] = BEFORE
    phase[none & (last == FORWARD)] = FORWARD
    phase[none & (last == BACKWARD)] = UPDATE
    phase[none & (last == BACKWARD) & (following == BACKWARD)] = BACKWARD
    return phase
