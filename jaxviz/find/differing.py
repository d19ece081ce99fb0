"""What differs between two specializations of a function: shapes, types, placements, the structure of arguments, static
values, settings of JAX.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from jaxviz.find.static_fields import changed_field
from jaxviz.program.specialization import is_plain

if TYPE_CHECKING:
    from jaxviz.program.specialization import Signature, Specialization, Static

# A text names so many arguments; the rest are counted.
_MOST_NAMED = 3
# The longest text of a value.
_LONGEST = 80


@dataclass(frozen=True)
class Reason:
    """Why a specialization was compiled: what differs, in words, and what to do."""

    kind: str
    text: str
    remedy: str = ""
    #: The argument or variable that it is about.
    path: str = ""
    #: How many arguments differ in this way.
    count: int = 1


def differences(before: Specialization, now: Specialization) -> Iterator[Reason]:
    """What `now` has other than `before`, each with what to do about it."""
    one, other = before.signature, now.signature
    yield from _trees(one, other)
    yield from _leaves(one, other)
    yield from _statics(one, other)
    yield from _left_out(one, other)
    passed = one.by_name ^ other.by_name
    for name in sorted(passed):
        if name in (one.trees.keys() & other.trees.keys()) | (_static_names(one) & _static_names(other)):
            how = "by name, before by position" if name in other.by_name else "by position, before by name"
            yield Reason("passing", f"`{name}` was passed {how}", f"Pass `{name}` the same way in every call.", name)
    for name, value in now.settings.items():
        if before.settings.get(name, value) != value:
            yield Reason(
                "setting",
                f"{name} was {value}, before {before.settings[name]}",
                "Set it once, before the first call.",
                name,
            )


def _static_names(signature: Signature) -> set[str]:
    return {static.path for static in signature.statics if static.given}


def _trees(one: Signature, other: Signature) -> Iterator[Reason]:
    for name in sorted(one.trees.keys() | other.trees.keys()):
        if name not in one.trees or name not in other.trees:
            given = "was given, before it was left out" if name in other.trees else "was left out, before it was given"
            yield Reason("tree", f"`{name}` {given}", f"Always pass `{name}`.", name)
        elif (changed := changed_field(name, one.trees[name], other.trees[name])) is not None:
            yield Reason(
                "static",
                f"`{changed.path}`, a static field, was {_brief(changed.now)}, before {_brief(changed.before)}",
                f"Make `{changed.path}` an array, not a static field, if it changes from call to call: JAX compiles "
                "for each value of a static one.",
                changed.path,
            )
        elif one.trees[name] != other.trees[name] and (nothing := _was_none(name, one, other)):
            yield Reason("tree", nothing, f"Give `{name}` in every call, or None in every call.", name)
        elif one.trees[name] != other.trees[name]:
            yield Reason(
                "tree",
                f"the structure of `{name}` differed{_how_trees_differ(name, one, other)}",
                f"Keep the structure of `{name}`: the same keys and lengths, and None for None.",
                name,
            )


def _was_none(name: str, one: Signature, other: Signature) -> str:
    """In words, that an argument is an array in one call and None in the other; empty where it is not so."""
    held = [name in (leaf.path for leaf in side.leaves) for side in (one, other)]
    empty = [not any(_belongs(leaf.path, name) for leaf in side.leaves) for side in (one, other)]
    empty = [
        none and repr(side.trees[name]) == "PyTreeDef(None)" for none, side in zip(empty, (one, other), strict=True)
    ]
    if held[1] and empty[0]:
        return f"`{name}` was an array, before None"
    return f"`{name}` was None, before an array" if held[0] and empty[1] else ""


def _how_trees_differ(name: str, one: Signature, other: Signature) -> str:
    before, now = ([leaf.path for leaf in side.leaves if _belongs(leaf.path, name)] for side in (one, other))
    added, gone = [path for path in now if path not in before], [path for path in before if path not in now]
    parts = [f"{_named(added)} {'was' if len(added) == 1 else 'were'} new"] if added else []
    parts += [f"{_named(gone)} {'was' if len(gone) == 1 else 'were'} gone"] if gone else []
    return f": {', '.join(parts)}" if parts else f": {_brief(other.trees[name])}, before {_brief(one.trees[name])}"


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _belongs(path: str, name: str) -> bool:
    return path == name or path.startswith((f"{name}[", f"{name}."))


def _leaves(one: Signature, other: Signature) -> Iterator[Reason]:
    before = {leaf.path: leaf for leaf in one.leaves}
    changed: dict[tuple[str, str, str, str], list[str]] = {}
    for leaf in other.leaves:
        old = before.get(leaf.path)
        if old is None:
            continue
        if leaf.dtype != old.dtype and "key<" in f"{leaf.dtype} {old.dtype}":
            # The shape of what JAX keeps a key in is no shape of the person's.
            changed.setdefault(("key", leaf.text, old.text, ""), []).append(leaf.path)
            continue
        if leaf.shape != old.shape:
            what = ("shape", _shape(leaf.shape), _shape(old.shape), _axis(old.shape, leaf.shape))
            changed.setdefault(what, []).append(leaf.path)
        if leaf.dtype != old.dtype:
            changed.setdefault(("dtype", leaf.dtype, old.dtype, ""), []).append(leaf.path)
        elif leaf.weak != old.weak and leaf.shape == old.shape:
            changed.setdefault(("weak", str(leaf.weak), leaf.text, leaf.dtype), []).append(leaf.path)
        if leaf.placement != old.placement:
            changed.setdefault(("placement", leaf.placement, old.placement, ""), []).append(leaf.path)
    for (kind, now, then, more), paths in changed.items():
        yield replace(_leaf_reason(kind, now, then, more, paths), count=len(paths))


def _leaf_reason(kind: str, now: str, then: str, more: str, paths: list[str]) -> Reason:
    what, path, was = _named(paths), paths[0], "was" if len(paths) == 1 else "were"
    if kind == "shape":
        where = f"axis {more} of {what}" if more else what
        return Reason(
            "shape",
            f"the shape of {what} was {now}, before {then}",
            f"Bring {where} to a few fixed sizes, by padding (and a mask) for instance, where many sizes come.",
            path,
        )
    if kind == "key":
        made = "Make keys in one way, such as jax.random.key; jax.random.PRNGKey gives an array of numbers."
        return Reason("dtype", f"{what} {was} {now}, before {then}", made, path)
    if kind == "dtype":
        return Reason(
            "dtype", f"{what} {was} {now}, before {then}", f"Convert {what} to one type before the call.", path
        )
    if kind == "weak":
        number, array = "a Python number (a weak type)", f"an array of type {then}"
        now, then = (number, array) if now == "True" else (array, number)
        return Reason(
            "weak",
            f"{what} {was} {now}, before {then}",
            f"Pass {what} as an array each time, such as jnp.asarray({path}, '{_LONG.get(more, more)}').",
            path,
        )
    return Reason(
        "placement",
        f"{what} lay {_place(now)}, before {_place(then)}",
        f"Place {what} the same way before each call, with jax.device_put.",
        path,
    )


def _place(placement: str) -> str:
    return f"on {placement}" if placement else "wherever JAX puts it"


_LONG = {"f32": "float32", "f64": "float64", "i32": "int32", "i64": "int64", "c64": "complex64", "c128": "complex128"}


def _statics(one: Signature, other: Signature) -> Iterator[Reason]:
    before = {static.path: static for static in one.statics}
    for static in other.statics:
        old = before.get(static.path)
        if old is None or static.same(old):
            continue
        if (made := _made_anew(static, old)) is not None:
            yield made
        elif static.text == old.text or not (hasattr(static.value, "__qualname__") or _compares(static.value)):
            yield _other_object(static, old)
        else:
            choosing = callable(static.value) and callable(old.value)
            yield Reason(
                "static",
                f"the static argument `{static.path}` was {static.text}, before {old.text}",
                f"Each function that is given for `{static.path}` is compiled with it, as it must be; jax.lax.switch "
                "chooses among several in one program."
                if choosing
                else f"Each value of `{static.path}` is compiled for itself. Make it a traced argument unless a shape "
                "or Python's own `if` and `for` depend on it.",
                static.path,
            )


def _left_out(one: Signature, other: Signature) -> Iterator[Reason]:
    """Static values that were given once and once left to a default that is the same: two calls to JAX."""
    before = {static.path: static for static in one.statics}
    for static in other.statics:
        old = before.get(static.path)
        if old is not None and static.given != old.given and static.same(old):
            default = f"left to its default, {static.text} too"
            how = f"given, before it was {default}" if static.given else f"{default}, before it was given"
            text = f"the static argument `{static.path}` was {how}"
            yield Reason("passing", text, f"Pass `{static.path}` the same way in every call.", static.path)


def _made_anew(static: Static, old: Static) -> Reason | None:
    """A function, or a partial of one, that the same line has made again: JAX compares them by identity."""
    now, before = (_parts(one.value) for one in (static, old))
    if now is None or before is None or now[0] is not before[0]:
        return None
    what = "partial" if isinstance(static.value, functools.partial) else "function"
    if now[1:] != before[1:]:
        return Reason(
            "static",
            f"the static argument `{static.path}` was a partial with other arguments",
            f"Pass what changes as an argument of its own, not inside of `{static.path}`.",
            static.path,
        )
    return Reason(
        "value",
        f"the static argument `{static.path}` is a new {what} object: the line that makes it ran again",
        f"Make that {what} once, outside of the loop or function that calls, and pass the same object each time: JAX "
        "knows functions by identity.",
        static.path,
    )


def _parts(value: Any) -> tuple[Any, ...] | None:
    """What a function is made of: its code, or that of the one in a partial, with what the partial holds."""
    if isinstance(value, functools.partial):
        inner = getattr(value.func, "__code__", value.func)
        return inner, repr(value.args), repr(sorted(value.keywords.items()))
    code = getattr(value, "__code__", None)
    return (code,) if code is not None else None


def _other_object(static: Static, old: Static) -> Reason:
    """An object that JAX takes for another one, though it may hold the same."""
    kind = type(static.value).__name__
    field = _changed_field(old.value, static.value) if type(old.value) is type(static.value) else None
    if field is not None:
        path = f"{static.path}.{field}"
        now, before = (_brief(vars(one.value)[field]) for one in (static, old))
        return Reason(
            "static",
            f"the static argument `{static.path}` was another {kind}: `{path}` was {now}, before {before}",
            f"Each {kind} is compiled for itself. Pass `{path}` as an argument of its own that is traced, unless a "
            "shape or Python's own `if` and `for` depend on it.",
            path,
        )
    remedy = "Pass the same object each time."
    if not _compares(static.value):
        remedy = f"{remedy[:-1]}, or give {kind} an `__eq__` and a `__hash__` (a frozen dataclass has both)."
    text = f"the static argument `{static.path}` was an object that equals no earlier one"
    return Reason("value", text, remedy, static.path)


def _changed_field(before: Any, now: Any) -> str | None:
    """The first field of two objects that holds another plain value."""
    one, other = (getattr(value, "__dict__", {}) for value in (before, now))
    shared = (name for name in other if name in one)
    return next((name for name in shared if is_plain(one[name]) and one[name] != other[name]), None)


def _compares(value: object) -> bool:
    """Whether objects of its class can be equal without being the same."""
    return "__eq__" in {name for one in type(value).__mro__[:-1] for name in vars(one)}


def _shape(shape: tuple[object, ...]) -> str:
    return f"[{','.join(map(str, shape))}]"


def _axis(old: tuple[object, ...], new: tuple[object, ...]) -> str:
    """The number of the axis that differs, where only one does."""
    if len(old) != len(new):
        return ""
    axes = [number for number, (one, other) in enumerate(zip(old, new, strict=True)) if one != other]
    return str(axes[0]) if len(axes) == 1 else ""


def _named(paths: Sequence[str]) -> str:
    shown = [f"`{path}`" for path in paths[:_MOST_NAMED]]
    if len(paths) > _MOST_NAMED:
        shown.append(f"{len(paths) - _MOST_NAMED} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
