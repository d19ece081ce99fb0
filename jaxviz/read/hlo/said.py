"""Types of instructions that HLO text leaves out where they are made, and says elsewhere.

XLA can print a module without the types of results: each stands then where the value is read, and those of arguments
and results in the heads of their computations and of the module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from jaxviz.read.hlo.nested import closing, operands, parts
from jaxviz.read.hlo.relined import UNKNOWN

_UNTYPED = re.compile(rf"((?:ROOT )?%?([^\s=]+) = ){re.escape(UNKNOWN)} (?=[a-z])")
_PARAMETER = re.compile(r"parameter\((\d{1,9})\)")
_HEAD = re.compile(r"(ENTRY )?%?[^\s({]+ (?=\()")
_LAYOUT = "entry_computation_layout={"
_ARROW = "->"
_ARRAY = re.compile(r"[a-z]\w*\[[^\]]*\](?:\{[^{}]*\})?")


def with_types_said(lines: Sequence[str]) -> list[str]:
    """The lines, each as XLA prints an instruction, with the types that others of them say.

    >>> with_types_said(["HloModule m", "e (p: f32[2]) -> f32[2] {", "p = ? parameter(0)", "n = ? sine(p)", "}"])[2:4]
    ['p = f32[2] parameter(0)', 'n = f32[2] sine(p)']
    """
    found = list(lines)
    if not any(map(_UNTYPED.match, lines)):
        return found
    _, is_there, layout = lines[0].partition(_LAYOUT)
    of_entry = _signature(layout) if is_there else ([], "")
    heads: list[int] = []
    for number, line in enumerate(lines):
        if line.endswith("{"):
            heads.append(number)
        elif line.startswith("}") and heads:
            head = heads.pop()
            _fill(found, range(head + 1, number), lines[head], of_entry)
    return found


def _fill(lines: list[str], inside: range, head: str, of_entry: tuple[list[str], str]) -> None:
    """Put the types that are said of the instructions of one computation into its lines."""
    signed = _HEAD.match(head)
    arguments, result = _signature(head[signed.end() :]) if signed else ([], "")
    types = {name.lstrip("%"): type_ for name, _, type_ in (each.partition(": ") for each in arguments)}
    numbered: list[str] = []
    if head.startswith("ENTRY"):
        numbered, result = of_entry[0], of_entry[1] or result
    # Where they are read, they have layouts, too.
    types |= dict(pair for line in map(lines.__getitem__, inside) for pair in _read(line))
    root = next((at for at in inside if lines[at].startswith("ROOT ")), inside.stop - 1)
    for at in inside:
        untyped = _UNTYPED.match(lines[at])
        if untyped is None:
            continue
        rest = lines[at][untyped.end() :]
        parameter = _PARAMETER.match(rest)
        number = int(parameter[1]) if parameter else len(numbered)
        said = numbered[number] if number < len(numbered) else types.get(untyped[2], result if at == root else "")
        lines[at] = f"{untyped[1]}{said or UNKNOWN} {rest}"


def _read(line: str) -> Iterator[tuple[str, str]]:
    """The operands that a line reads, each with the type that stands before it."""
    start, end = operands(line)
    for part in parts(line[start + 1 : end]) if start >= 0 else ():
        type_, _, name = part.rpartition(" ")
        if type_.endswith(("]", "}", ")")):
            yield name.lstrip("%"), type_


def _signature(text: str) -> tuple[list[str], str]:
    """The types in `(f32[2], s32[])->f32[2]` and what follows it, or arguments with their names."""
    end = closing(text, 0) if text.startswith("(") else -1
    _, arrow, rest = text[end + 1 :].partition(_ARROW)
    if end < 0 or not arrow:
        return [], ""
    rest = rest.strip()
    array = _ARRAY.match(rest)
    return parts(text[1:end]), array[0] if array else rest[: closing(rest, 0) + 1]
