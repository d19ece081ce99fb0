"""What a loop carries changes its structure or its type from one turn to the next."""

from __future__ import annotations

import ast
import re
import textwrap
from typing import Any

from jaxviz.errors.cases.given import argument, gives_nothing
from jaxviz.errors.cases.loop import Loop
from jaxviz.errors.cases.turns import (
    full_size,
    grows,
    second_turn_fails,
    sizes_of,
    started_alike,
    turns_in_python,
)
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure
from jaxviz.errors.forms import fitted, form_of_code, part_of
from jaxviz.errors.rewriting import grouped, parameters, rewritten
from jaxviz.errors.source import names_read


def _structure(failure: Failure, match: re.Match[str]) -> Explanation:
    loop = Loop(failure)
    given = failure.text(loop.result) if loop.result is not None else "None" if loop.body is not None else ""
    reason = (
        f"`{loop.name}` hands what its body gives to the next turn, so it must be built of the same tuples, lists and "
        f"dictionaries as `{loop.carry}`, which it was given."
    )
    if given and not gives_nothing(loop.body):
        reason += f" The body gives `{given}`, which is built differently."
    elif loop.body is not None:
        reason = (
            f"`{loop.name}` hands what its body gives to the next turn. The body gives nothing: it has no `return`, so "
            "what it computes is lost."
        )
    mapped = _mapped(failure, loop)
    if mapped:
        reason = (
            f"`{loop.name}` is traced once for all its turns, and hands what its body gives to the next turn, with "
            f"the structure that it came in with. The list `{loop.carry}` has one entry more after each turn."
        )
        cure = Cure("Let `jax.lax.map` collect what each turn makes, as one array:", mapped)
        title = f"`{loop.carry}` grows in the body of `{loop.name}`"
        return Explanation("carry structure", title, reason, (cure,), api_page("jax.lax.map"))
    code = _built_alike(failure, loop)
    cures = (Cure(f"Give `{loop.carry}` back as it came in, each part in its place:", code),) if code else ()
    title = f"the body of `{loop.name}` gives back another structure"
    return Explanation("carry structure", title, reason, cures, api_page(f"jax.lax.{loop.name}"))


def _mapped(failure: Failure, loop: Loop) -> str:
    """A `fori_loop` that does nothing but append to an empty list: its body, mapped over the numbers of the turns."""
    body, source, call = loop.body, failure.source, loop.call
    lowest, highest = argument(call, 0, "lower"), argument(call, 1, "upper")
    begins_empty = isinstance(loop.start, ast.List) and not loop.start.elts
    if loop.name != "fori_loop" or not begins_empty or not isinstance(body, ast.FunctionDef) or len(body.body) < 2:
        return ""
    *before, last, _ = body.body
    added = last.value if isinstance(last, ast.Expr) else None
    if not isinstance(added, ast.Call) or failure.text(added.func) != f"{loop.carry}.append" or len(added.args) != 1:
        return ""
    read = [name for part in (*before, added.args[0]) for name in names_read(part)]
    if loop.carry in read or source is None or call is None or lowest is None or highest is None:
        return ""
    turn, made = parameters(body)[0], failure.text(added.args[0])
    counted = f"jnp.arange({failure.text(lowest)}, {failure.text(highest)})"
    if not before:
        return failure.with_(call, f"jax.lax.map(lambda {turn}: {made}, {counted})")
    lines = [line for one in before for line in textwrap.dedent(source.text(one)).splitlines()]
    function = "\n".join([f"def {body.name}({turn}):", *(f"    {line}" for line in [*lines, f"return {made}"])])
    return f"{function}\n\n{failure.with_(call, f'jax.lax.map({body.name}, {counted})')}"


def _named(failure: Failure, loop: Loop) -> str:
    """For what comes in as a named tuple and goes out as a tuple of as many: the same of its class."""
    start: Any = failure.value(loop.start)
    fields, carried = getattr(type(start), "_fields", ()), loop.carried
    if not fields or not isinstance(carried, ast.Tuple) or len(carried.elts) != len(fields):
        return ""
    text = failure.text(carried)
    inside = text[1:-1] if text.startswith("(") else text
    return rewritten(failure, carried, f"{type(start).__name__}({inside})")


def _built_alike(failure: Failure, loop: Loop) -> str:
    if loop.body is not None and gives_nothing(loop.body):
        text = ", ".join(loop.taken_apart()) or loop.carry
        text = f"({text}), None" if loop.name == "scan" and "," in text else text
        lacking = loop.result
        return rewritten(failure, lacking, text) if lacking is not None else f"return {text}"
    carried = loop.carried
    if named := _named(failure, loop):
        return named
    form = form_of_code(failure, loop.start)
    if carried is None or form.kind == "unknown":
        return ""
    built = fitted(failure, form, carried, "", loop.part)
    if built is None or built == failure.text(carried):
        return ""
    if loop.carried is loop.result and not failure.text(carried).startswith("(") and built.startswith("("):
        built = built[1:-1] if isinstance(loop.body, ast.FunctionDef) else built
    return rewritten(failure, carried, built)


def _type(failure: Failure, match: re.Match[str]) -> Explanation:
    loop = Loop(failure)
    found = re.search(
        r"input carry (?:component )?(.*?) has type (\w+\[[^\]]*\]) but the corresponding output carry component has "
        r"type (\w+\[[^\]]*\])",
        failure.message,
    )
    name, before, after = found.groups() if found else ("", "its type", "another")
    path = re.sub(r"^loop_carry\[\d\]", "", name) if name.startswith("loop_carry") else _path(name)
    name = loop.carry + path
    cures: list[Cure] = []
    ends = False
    if found and sizes_of(before) == sizes_of(after):
        cures = _of_one_type(failure, loop, path, before, after)
    elif found and _stretches(before, after) and not grows(loop.body):
        cures = _wider_start(failure, loop, path, after)
    elif found:
        ends = second_turn_fails(failure, loop, path, after)
        cures = started_alike(failure, loop, path, after)
        cures = cures or [*full_size(failure, loop, before, after), *([] if ends else turns_in_python(failure, loop))]
    reason = (
        f"`{loop.name}` becomes one loop of the compiled program, whose state has the same memory in each turn. "
        f"`{name}` comes in as {before} and is given back as {after}."
    )
    if found and not cures and ends:
        reason += f" It could not take that in the next turn either: give `{name}` back in the shape in which it came."
    elif found and not cures:
        reason += (
            " An array of the full size, into which each turn writes its part, keeps its shape."
            if len(sizes_of(before)) and grows(loop.body)
            else ""
        )
    title = f"the body of `{loop.name}` changes the type of `{name}`"
    return Explanation("carry type", title, reason, tuple(cures), api_page(f"jax.lax.{loop.name}"))


def _path(name: str) -> str:
    return name[name.index("[") :] if "[" in name else ""


def _stretches(before: str, after: str) -> bool:
    """Whether the first type becomes the second by broadcasting, as a number does to which an array is added."""
    one, other = sizes_of(before), sizes_of(after)
    ends = zip(reversed(one), reversed(other), strict=False)
    return len(one) <= len(other) and all(size in (wide, "1") for size, wide in ends)


def _of_one_type(failure: Failure, loop: Loop, path: str, before: str, after: str) -> list[Cure]:
    given_back, begun = [], []
    part = part_of(loop.carried, path)
    dtype, other = (_dtype(type_) for type_ in (before, after))
    if part is not None:
        text = f"{grouped(failure.text(part), part)}.astype(jnp.{dtype})"
        code = rewritten(failure, part, text)
        given_back.append(Cure(f"Or give it back in the type in which it came in, {before}:", code))
    start = part_of(loop.start, path)
    if start is not None:
        code = failure.with_(start, f"jnp.asarray({failure.text(start)}, jnp.{other})")
        begun.append(Cure(f"Or begin with the type that it has after one turn, {after}:", code))
    # Fractions are not cut off where that was not asked for.
    return [*begun, *given_back] if _is_of_wider_kind(dtype, other) else [*given_back, *begun]


#: Each holds the numbers of those before it.
_KINDS = ("bool", "int", "float", "complex")


def _is_of_wider_kind(dtype: str, other: str) -> bool:
    """Whether numbers of the second type are of a kind that the first cannot hold, such as fractions."""
    one, two = (next((place for place, kind in enumerate(_KINDS) if kind in name), 0) for name in (dtype, other))
    return one < two


def _dtype(type_: str) -> str:
    name = type_.partition("[")[0]
    return "bool_" if name == "bool" else name


def _wider_start(failure: Failure, loop: Loop, path: str, after: str) -> list[Cure]:
    start = part_of(loop.start, path)
    if start is None:
        return []
    sizes, text = sizes_of(after), failure.text(start)
    shape = f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
    begin = f"jnp.full({shape}, {text}, jnp.{_dtype(after)})"
    if not isinstance(start, ast.Constant):
        begin = f"jnp.broadcast_to({text}, {shape}).astype(jnp.{_dtype(after)})"
    return [Cure(f"Begin with the shape that it has after one turn, {shape}:", failure.with_(start, begin))]


_TYPE = ("TypeError",)

CASES: tuple[Case, ...] = (
    Case("carry type", _TYPE, r"carry input and carry output must have equal types", _type),
    Case("carry structure", _TYPE, r"carry input and carry output must have the same pytree structure", _structure),
)
