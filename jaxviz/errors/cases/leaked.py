"""Traced values that were kept after their function had ended: told by the line that stores them."""

from __future__ import annotations

import ast
import dataclasses
import re

from jaxviz.errors.cases.leaks import (
    changed_by_itself,
    definition_with_source,
    returned_from_inside,
    returned_instead,
    stored_inside,
    stored_outside,
)
from jaxviz.errors.cases.loop import Loop
from jaxviz.errors.cases.turns import turns_in_python
from jaxviz.errors.explanation import Case, Cure, Explanation, error_page
from jaxviz.errors.failure import Failure, last_name


def _leaked(failure: Failure, match: re.Match[str]) -> Explanation:
    made = re.search(
        r"(?:was created on line|leaked intermediate value was created on line):?\s+(\S+?):(\d+)(?::\d+)?\s",
        failure.message,
    )
    where = f" on line {made[2]}{_of_file(made[1])}" if made else ""
    inner = re.search(r"when the value leaked was (\S+) at (\S+?):(\d+) traced for ([\w ]+)\.", failure.message)
    if not where and inner:
        where = f", `{inner[1]}` on line {inner[3]}{_of_file(inner[2])}, under {inner[4]}"
    code = "def inner(x):\n    value = ...\n    return result, value   # give it back\n\nresult, value = inner(x)"
    at = (inner[2], int(inner[3])) if inner else ()
    of_jitted = returned_from_inside(failure.fn, *at) if not inner or inner[4] == "jit" else ""
    going_on = ", and go on with `kept`" if of_jitted else ""
    of_itself = changed_by_itself(failure.fn) if not inner or inner[1] == failure.name else ""
    stored = stored_inside(failure.fn, *at)
    reason = (
        f"A value that was traced inside another function{where} was kept in a variable outside, and is used after "
        f"that function has ended. While it was traced it had no number, and now it never gets one. {stored}".rstrip()
    )
    cures = (
        Cure(
            f"Give the value back instead of storing it{going_on}:",
            of_jitted or of_itself or _given_back(failure) or code,
            inside=False,
        ),
        *_turns_of_leak(failure),
        Cure("To find where it was stored:", f"with jax.checking_leaks():\n    {failure.name}(...)"),
    )
    return Explanation(
        "leak",
        "a traced value was kept after its function had ended",
        reason,
        cures,
        failure.link or error_page("UnexpectedTracerError"),
    )


def _of_file(path: str) -> str:
    """` of step.py`; nothing of a cell of a notebook, whose file nobody knows by its name."""
    return "" if "/ipykernel_" in path else f" of {path.rpartition('/')[2]}"


def _turns_of_leak(failure: Failure) -> list[Cure]:
    """For what the body of a loop of JAX stored outside: the same turns made by Python, where storing goes."""
    source, function = definition_with_source(failure.fn)
    for node in ast.walk(function) if function is not None and source is not None else ():
        if isinstance(node, ast.Call) and last_name(node.func) in ("fori_loop", "scan"):
            at = failure.seen_in(source, node)
            return [dataclasses.replace(cure, inside=False) for cure in turns_in_python(at, Loop(at))]
    return []


def _given_back(failure: Failure) -> str:
    """For what leaked out of the function of a derivative: the way that JAX has for it."""
    wrapped = re.search(r"wrapped in a (\w+) to escape", failure.message)
    if wrapped and wrapped[1] in ("LinearizeTracer", "JVPTracer", "GradTracer"):
        return (
            "def loss(parameters):\n    ...\n    return value, extra   # give it back beside the loss\n\n"
            "(value, extra), gradient = jax.value_and_grad(loss, has_aux=True)(parameters)"
        )
    return ""


def _leak_seen(failure: Failure, match: re.Match[str]) -> Explanation:
    """What `jax.checking_leaks` found: a traced value that something still holds."""
    return _still_held(failure, failure.message)


def _leak_not_followed(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """The same where JAX itself fails on its way through what holds the value, and so says nothing of the leak."""
    at = failure.places[-1].frame if failure.places else None
    if at is None or at.f_code.co_name != "_why_alive":
        return None
    # Private to JAX: what it says of the value it was to follow.
    origin = getattr(at.f_locals.get("x"), "_origin_msg", None)
    return _still_held(failure, origin() if callable(origin) else "")


def _still_held(failure: Failure, said: str) -> Explanation:
    where = re.search(r"while tracing the function (\S+) at (\S+?):(\d+) for ([\w ]+)\.", said)
    inside = f" of `{where[1]}` (line {where[3]}{_of_file(where[2])})" if where else ""
    stores = stored_outside(failure.fn)
    shown = f" Line {stores[0][0]} stores it: `{stores[0][1]}`." if stores else ""
    reason = (
        f"A traced value{inside} is still held by something outside after the function has ended, where it has no "
        f"number and never gets one. `jax.checking_leaks` looks for that.{shown}"
    )
    code = returned_instead(failure.fn)
    cures = (Cure("Give the value back instead of storing it:", code, inside=False),) if code else ()
    title = "a traced value is kept after its function has ended"
    return Explanation("leak", title, reason, cures, error_page("UnexpectedTracerError"))


CASES = (
    Case("leak", ("UnexpectedTracerError",), "", _leaked),
    Case("leak", ("Exception",), r"^Leaked trace", _leak_seen),
    Case("leak", ("IndexError",), r"^list index out of range", _leak_not_followed),
)
