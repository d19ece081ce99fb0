"""Why a function was compiled again, and what to do about it.

A reason is what differs from the earlier specialization that is most alike. Where nothing differs that is known, that
is said: a wrong reason is worse than none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from jaxviz.find.differing import Reason, differences
from jaxviz.find.finding import ADVICE, NOTE, WARNING, Finding, Line

if TYPE_CHECKING:
    from jaxviz.program.specialization import Definition, Specialization

#: Kinds of reasons for which a second compilation is nearly always a mistake, and those that have their use.
_MISTAKES = ("function", "weak", "passing", "value")
_USEFUL = ("shape", "dtype", "static", "tree", "placement", "setting", "wrapper")
# So many compilations more than one are worth a word, and so many are a fault.
_ADVICE, _WARNING = {"mistake": 1, "useful": 3}, {"mistake": 2, "useful": 8}
# A third value of a static argument is a note: there may be many more.
_NOTED = {"static": 2}


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
    found = [tuple(differences(other, new)) for other in reversed(others)]

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
