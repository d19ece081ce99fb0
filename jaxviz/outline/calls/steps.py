"""From call stacks to steps of paths: the person's frames as statements and expressions, a library's as functions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from jaxviz.outline.calls.modules import unnumbered
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.outline.elements import CALL, FUNCTION, ITSELF, STATEMENT, Element, Paths
from jaxviz.outline.written.expressions import GENERIC, POOR, WRAPPER, Expressions, is_control
from jaxviz.outline.written.operations import Operations
from jaxviz.outline.written.transformations import takes_jacobian
from jaxviz.read.spoken import passes_on, said
from jaxviz.tables import Tables

_WORD = re.compile(r"\w+")


class Steps:
    """The steps of the call stacks of one graph, as numbers of elements of its paths."""

    def __init__(self, tables: Tables, paths: Paths, stacks: StackTree, expressions: Expressions, program: str) -> None:
        self._tables = tables
        self._program = program
        self._paths = paths
        self._stacks = stacks
        self._expressions = expressions
        self._operations = Operations(tables, stacks)
        # Numbers of elements: by what was asked for, then of the parts that many call stacks share.
        self._known: dict[tuple[int, int, int | None, int, bool], tuple[int, ...]] = {}
        self._own: dict[tuple[int, int], tuple[int, ...]] = {}
        self._calls: dict[tuple[int, int], int] = {}
        self._places: dict[int, int] = {}
        self._elements: dict[tuple[int, str], tuple[int, ...]] = {}

    def between(
        self, stack: int, above: int, module: int | None = None, called: int = -1, in_phase: bool = False
    ) -> tuple[int, ...]:
        """The steps of a call stack below the stack `above`: the person's frames, then a library's inside them.

        `module` is the stack that all equations of a module have in common. Inside it are the frames that count; but
        the person's innermost one always does where it calls none of a library. `called` is the frame that the last
        one calls, where that is known. `in_phase` says that a call that takes a gradient has given way to its phases.
        """
        key = stack, above, module, called, in_phase
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = tuple(self._between(*key))
        return known

    def _between(self, stack: int, above: int, module: int | None, called: int, in_phase: bool) -> list[int]:
        stacks, library = self._stacks, self._stacks.library
        frames = stacks.frames_between(stack, above)
        last = len(frames) - 1
        while last >= 0 and library[frames[last]]:
            last -= 1
        outside = 0
        if module is not None:
            below = stacks.depth(stack) - stacks.depth(module) if stacks.holds(module, stack) else 0
            outside = max(len(frames) - below, 0)
        inside = frames[max(outside, last + 1) :]
        itself = in_phase and called < 0 and not inside and last >= 0
        if itself and self._expressions.takes_gradient(frames[last]):
            # What taking a gradient does itself belongs to what the gradient is taken of.
            last -= 1
        found: list[int] = []
        if outside > last + 1 and not inside:
            # What a library's module itself does is told by its own place, not by the person's call of the module.
            inside = frames[-1:]
        first = outside if inside else min(outside, max(last, 0))
        beside = stacks.outside(stack) - stacks.depth(above) - 1
        for place in range(first, last + 1):
            frame = frames[place]
            if library[frame]:
                continue
            before = frames[place - 1] if place else stacks.frame(above) if above >= 0 else -1
            if before >= 0 and library[before]:
                between = list(itertools.takewhile(lambda each: library[each], reversed(frames[:place])))
                asking = frames[place - len(between) - 1] if len(between) < place else -1
                called_back = self._called_back(frame, before, asking if asking >= 0 else stacks.own_frame(above))
                # What the library does around it and what it does are one call.
                found += self._in_library(asking, reversed(between)) if called_back else ()
                found += called_back
            elif before >= 0 and self._hands_over(before, frame):
                # What JAX calls has none of its own frames around it.
                found += self._called_back(frame, before, before)
            if place != beside:
                inner = frames[place + 1] if place + 1 < len(frames) else called
                own = self._own.get((frame, inner))
                if own is None:
                    own = self._own[frame, inner] = self._own_steps(frame, inner)
                found += own
        found += self._in_library(frames[last] if last >= 0 else -1, inside if outside < len(frames) else ())
        if inside:
            in_library = self._places.get(inside[-1])
            if in_library is None:
                in_library = self._places[inside[-1]] = self._paths.number(self._library_place(inside[-1]))
            found.append(in_library)
        return found

    def _in_library(self, caller: int, frames: Iterable[int]) -> Iterator[int]:
        """The steps of a library's functions, each called by the one before it, the first by `caller`."""
        for frame in frames:
            call = self._calls.get((caller, frame))
            if call is None:
                call = self._calls[caller, frame] = self._paths.number(self._library_element(caller, frame))
            yield call
            caller = frame

    def itself(self, stack: int) -> tuple[int, ...]:
        """The step of what a call does itself that takes a Jacobian: the directions that it is taken along."""
        frame = self._stacks.frame(stack)
        name = "" if self._stacks.library[frame] else self._expressions.at(frame).name
        if not takes_jacobian(name):
            return ()
        told = f"{name.partition('(')[0]} itself"
        return (self._paths.number(Element(FUNCTION, (ITSELF, frame), told, (FUNCTION, ITSELF, frame))),)

    def module(self, step: int, frame: int) -> int:
        """The step of a module that is known by its class, by what the person calls it at a frame."""
        element = self._paths.elements[step]
        called = "" if self._stacks.library[frame] else self._expressions.at(frame).called
        if not called:
            return step
        token = *element.token, unnumbered(called).rstrip("0123456789")
        return self._paths.number(element._replace(key=(*element.key, called), name=called, token=token))

    def _own_steps(self, frame: int, called: int) -> tuple[int, ...]:
        """The statement and the expression at one of the person's frames; `called` is the frame it calls, or -1."""
        expression = self._expressions.at(frame)
        if expression.iterated and (called < 0 or self._stacks.library[called]):
            # What a comprehension does itself is to take apart what it goes through.
            return (self._paths.number(_unpacking(frame, expression.iterated)),)
        name = expression.name
        # A generator of the person's makes only now what is taken apart, and says itself what that is.
        is_made = expression.unpacks and called >= 0 and not self._stacks.library[called]
        # What a variable of a letter or two stands for says more than it; an attribute was named by the person.
        says_little = is_made or name in POOR or (len(name) <= 2 and not expression.text.startswith(f"self.{name}("))
        better = self._called_name(called, frame) if called >= 0 and says_little else ""
        if is_made and not better:
            return ()
        if not better and name in GENERIC and self._only_passes_on(called):
            return ()
        known = self._elements.get((frame, better))
        if known is None:
            call = self._indexed(frame) or (
                Element(CALL, (frame, better), better or name, (CALL, frame, better), frame, expression.text),
            )
            if expression.statement[0]:
                statement = (self._tables.frames.file[frame], *expression.statement)
                text = expression.statement_text
                call = (Element(STATEMENT, statement, text, (STATEMENT, *statement), frame, text), *call)
            known = self._elements[frame, better] = tuple(map(self._paths.number, call))
        return known

    def _called_back(self, frame: int, caller: int, asking: int) -> tuple[int, ...]:
        """The step of the person's function that a library calls; none where the person's call of the library, at the
        frame `asking`, names it, where it is the program itself, or where its name says nothing."""
        name = self._called_name(frame, asking)
        known = _WORD.findall(self._expressions.at(asking).name) if asking >= 0 else [self._program]
        if not name or name in known:
            return ()
        function = self._tables.frames.function[frame]
        return (self._paths.number(Element(CALL, (caller, function), name, (CALL, (function, name)))),)

    def _hands_over(self, caller: int, called: int) -> bool:
        """Whether the call at a frame is given the function that it leads to: `odeint(dynamics, y0, ts)`."""
        name, call = self._called_name(called, caller), self._expressions.at(caller)
        return bool(name) and name in _WORD.findall(call.text) and not is_control(call.name)

    def _indexed(self, frame: int) -> tuple[Element, ...]:
        """The steps of indexing by constants, a detail of the operation that it is for; none where it stands alone."""
        expression = self._expressions.at(frame)
        around = self._operations.at(frame, expression.operation) if expression.operation is not None else -1
        if around < 0:
            return ()
        whole = self._expressions.at(around)
        return (
            Element(CALL, (around, ""), whole.name, (CALL, around, ""), around, whole.text),
            Element(FUNCTION, ("index", frame), expression.name, (FUNCTION, frame), frame, expression.text),
        )

    def _called_name(self, called: int, caller: int) -> str:
        """What is called where the name that it has at the call says nothing: a class, a function, a lambda."""
        function = self._tables.frames.function[called]
        name = self._function_name(function)
        if name == "<lambda>":
            name = self._expressions.at(called).function
        elif self._stacks.library[called] and passes_on(name):
            return ""
        if name in GENERIC and not self._stacks.library[called]:
            if name in _WORD.findall(self._expressions.at(caller).text) and self._expressions.in_reach(called, caller):
                # One of the functions beside it, which a person knows by its name.
                return ""
            # What makes such functions, or the class that has one.
            name = self._tables.strings[function].rpartition(".")[0].rpartition(".")[2]
        return "" if name in GENERIC or name.startswith("_") else name

    def _only_passes_on(self, called: int) -> bool:
        """Whether a call goes to a lambda that does nothing but call what it is given."""
        if called < 0 or self._stacks.library[called]:
            return False
        function = self._tables.strings[self._tables.frames.function[called]]
        return function.endswith("<lambda>") and self._expressions.at(called).name in GENERIC

    def _function_name(self, function: int) -> str:
        """What is called: a function or a method, the class of an object, what made a wrapper."""
        return said(self._tables.strings[function]).rpartition(".")[2]

    def _library_element(self, caller: int, frame: int) -> Element:
        """The call of a library's function: named by the function, told apart by where it was called."""
        function = self._tables.frames.function[frame]
        name = self._function_name(function)
        # An operator, as `__eq__`, is told by what it is written for.
        name = WRAPPER if passes_on(name) or name.startswith("__") else name.strip("_")
        return Element(FUNCTION, (caller, function), name, (FUNCTION, caller, function), frame)

    def _library_place(self, frame: int) -> Element:
        """The place in a library at which an equation was made; its name is looked up only where it is shown."""
        return Element(FUNCTION, (frame,), "", (FUNCTION, frame), frame)


def _unpacking(frame: int, iterated: str) -> Element:
    """The step of a comprehension that takes an array apart: it is told by what is gone through."""
    return Element(CALL, (frame, "unpack"), iterated, (CALL, frame, "unpack"), frame, iterated)
