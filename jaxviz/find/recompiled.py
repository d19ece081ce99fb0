"""Why a function was compiled again, and what to do about it.

A reason is what differs from the earlier specialization that is most alike. Where nothing differs that is known, that
is said: a wrong reason is worse than none.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxviz.find.finding import ADVICE, NOTE, WARNING, Finding, Line
from jaxviz.find.static_fields import changed_field
from jaxviz.specialization import is_plain

if TYPE_CHECKING:
    from jaxviz.specialization import Definition, Signature, Specialization, Static

#: Kinds of reasons for which a second compilation is nearly always a mistake, and those that have their use.
_MISTAKES = ("function", "weak", "passing", "value")
_USEFUL = ("shape", "dtype", "static", "tree", "placement", "setting", "wrapper")
# So many compilations more than one are worth a word, and so many are a fault.
_ADVICE, _WARNING = {"mistake": 1, "useful": 3}, {"mistake": 2, "useful": 8}
# A third value of a static argument is a note: there may be many more.
_NOTED = {"static": 2}
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


def reasons(new: Specialization, earlier: Sequence[Specialization]) -> tuple[Reason, ...]:
    """Why `new` was compiled, given all specializations that came before, of any function."""
    known = [one for one in earlier if new.definition.same_object(one.definition)]
    if known:
        found = _closest(new, known)
        return found or (
            Reason(
                "unknown",
                "nothing that is known of its arguments differs from an earlier call: JAX's cache was cleared, or "
                "something else that JAX compiles for has changed, such as the mesh",
            ),
        )
    made = [one for one in earlier if new.definition.made_again(one.definition)]
    if made:
        differing = _closest(new, made)
        if new.definition.called and differing:
            # Whether it was given the same function is not known.
            return tuple(_of_turns(reason, new.definition.called) for reason in differing)
        return (_new_object(new.definition, made[-1].definition), *differing)
    if any(new.definition.written_again(one.definition) for one in earlier):
        return (Reason("redefined", "it was defined anew, which makes another function of it"),)
    return (Reason("first", "compiled for the first time"),)


def find_recompiled(
    history: Sequence[Specialization], about: Definition | None = None, seconds: Sequence[float] = ()
) -> tuple[Finding, ...]:
    """One finding for each function that was compiled again and again for a reason that can be mended; those of one
    function alone if `about` is given. `seconds` is what each compilation took, where that is known."""
    groups: list[tuple[Definition, list[tuple[Reason, ...]]]] = []
    costs: list[float] = []
    for number, one in enumerate(history):
        why = reasons(one, history[:number])
        group = next((members for definition, members in groups if _is_one(one.definition, definition)), None)
        if group is None:
            group = []
            groups.append((one.definition, group))
            costs.append(0.0)
        place = next(place for place, (_, members) in enumerate(groups) if members is group)
        # What came first had to be compiled in any case.
        costs[place] += seconds[number] if group and number < len(seconds) else 0.0
        group.append(why)
    found = [
        _finding(definition, members, cost)
        for (definition, members), cost in zip(groups, costs, strict=True)
        if about is None or _is_one(about, definition)
    ]
    return tuple(finding for finding in found if finding is not None)


def joined(remedies: Iterable[str]) -> str:
    """Remedies one after the other; those that differ only in the argument that they are about are one.

    >>> joined(["Pad `x`.", "Pad `y`.", "Pad `x`."])
    'Pad `x` and `y`.'
    """
    about: dict[tuple[str, ...], list[str]] = {}
    for remedy in dict.fromkeys(filter(None, remedies)):
        before, tick, after = remedy.partition("`")
        name, _, rest = after.partition("`")
        # Elsewhere in the text the name may not be one of several.
        key = (before, rest) if tick and f"`{name}`" not in rest else (remedy,)
        about.setdefault(key, []).append(name)
    return " ".join(key[0] if len(key) == 1 else f"{key[0]}{_and(names)}{key[1]}" for key, names in about.items())


def _and(names: Sequence[str]) -> str:
    *others, last = (f"`{name}`" for name in names)
    return f"{', '.join(others)} and {last}" if others else last


def _is_one(one: Definition, other: Definition) -> bool:
    return one.same_object(other) or one.made_again(other)


def _finding(definition: Definition, members: Sequence[tuple[Reason, ...]], cost: float) -> Finding | None:
    counts: dict[str, list[Reason]] = {}
    for why in members:
        for reason in why:
            counts.setdefault(reason.kind, []).append(reason)
    mistakes = max(((kind, len(counts.get(kind, ()))) for kind in _MISTAKES), key=lambda one: one[1])
    useful = max(((kind, len(counts.get(kind, ()))) for kind in _USEFUL), key=lambda one: one[1])
    if mistakes[1] >= _ADVICE["mistake"]:
        kind, group = mistakes[0], "mistake"
    elif useful[1] >= _NOTED.get(useful[0], _ADVICE["useful"]):
        kind, group = useful[0], "useful"
    else:
        return None
    count = len(counts[kind])
    # The one that decides first, then the others, the most frequent first.
    others = sorted(
        (one for one in counts if one in _MISTAKES + _USEFUL and one != kind), key=lambda k: -len(counts[k])
    )
    told = [kind, *others]
    parts = [f"{_times(len(counts[one]))} because {counts[one][-1].text}" for one in told]
    text = "; ".join(parts)
    took = f" Compiling it again took {cost:.2g} s." if cost else ""
    where = f" (line {definition.line})" if definition.line > 0 else ""
    return Finding(
        kind="recompiled",
        severity=WARNING if count >= _WARNING[group] else ADVICE if count >= _ADVICE[group] else NOTE,
        title=f"{definition.name} was compiled {len(members)} times{where}",
        text=f"{text[0].upper()}{text[1:]}.{took}",
        remedy=joined(counts[one][-1].remedy for one in told),
        nodes=np.empty(0, np.int32),
        # Of no document yet, so that the file has no row.
        lines=(Line(-1, definition.line),) if definition.line > 0 else (),
        figures={
            "compilations": len(members),
            **{one: len(counts[one]) for one in told},
            **({"seconds": cost} if cost else {}),
        },
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times, the last time"


def _closest(new: Specialization, others: Sequence[Specialization]) -> tuple[Reason, ...]:
    """What differs from the one that is most alike, nothing where one is the same. Of several that are alike, that
    from which it differs by a mistake, which needed no compiling, and of these the latest."""
    found = [tuple(_differences(other, new)) for other in reversed(others)]

    def unlike(differing: tuple[Reason, ...]) -> tuple[int, bool]:
        return sum(reason.count for reason in differing), not any(reason.kind in _MISTAKES for reason in differing)

    return min(found, key=unlike)


def _new_object(new: Definition, last: Definition) -> Reason:
    changed = [name for name, text in new.captured.items() if last.captured.get(name, text) != text]
    captured = "".join(
        f", this time with {name} = {new.captured[name]}, before with {last.captured[name]}" for name in changed[:1]
    )
    what = "this lambda" if new.name == "<lambda>" else f"`{new.name}`"
    if new.layers and new.inner_serial == last.inner_serial:
        # A library's wrapper is made by the same code wherever it is called, so it may be another line that made it.
        remedy = f"Where what is wrapped is the same each time, wrap and jit {what} once."
        if changed and changed[0].isidentifier():
            remedy = (
                f"Jit {what} once and pass `{changed[0]}` as an argument; if a shape or Python's `if` depends on it, "
                f'as a static one (static_argnames="{changed[0]}"), which is compiled once for each value.'
            )
        return Reason(
            "wrapper",
            f"{what} came wrapped anew (by partial, vmap, a bound method or the like), which is another function "
            f"to JAX{captured}",
            remedy,
            new.name,
        )
    if new.called:
        return _called_outside(new, captured)
    remedy = (
        f"Make and jit {what} once, outside of the loop or function that calls it; JAX knows functions by identity."
    )
    if changed:
        passed = f"`{changed[0]}`" if changed[0].isidentifier() else f"what is {changed[0]} of the partial"
        remedy = f"Pass {passed} as an argument, and make and jit {what} once."
    return Reason(
        "function", f"{what} is a new function object: the line that makes it ran again{captured}", remedy, new.name
    )


def _called_outside(new: Definition, captured: str) -> Reason:
    """What JAX compiles where a loop is called outside of any jitted function is compiled for itself."""
    name = f"`{new.called}`"
    inside = f"all {name} inside of a function that is jitted once"
    if new.wrapping:
        why = (
            f"{name} puts a new function around the one that it is given in each call, which is compiled outside of jit"
        )
        return Reason("function", f"{why}{captured}", f"C{inside}.", new.called)
    return Reason(
        "function",
        f"the function that {name} was given is a new object: the line that makes it ran again{captured}",
        f"Make that function once and give {name} the same each time, or c{inside}; JAX knows functions by identity.",
        new.called,
    )


def _of_turns(reason: Reason, called: str) -> Reason:
    """With the cure for a loop outside of jit, where its number of turns is what differs."""
    if reason.path != "length":
        return reason
    remedy = (
        "Call `fori_loop` inside of a jitted function that has its bounds as arguments: that is compiled once for all."
        if called == "fori_loop"
        else f"Bring `{called}` to a few fixed lengths; each is compiled for itself."
    )
    return replace(
        reason, text=reason.text.replace("the static argument `length`", "the number of turns"), remedy=remedy
    )


def _differences(before: Specialization, now: Specialization) -> Iterator[Reason]:
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
