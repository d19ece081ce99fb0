"""Operands of instructions in HLO text, taken apart; those that are instructions themselves get lines of their own.

A person may write `add(p, f32[] constant(1))`: XLA makes two instructions of it, and names the inner one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_NAME = r"[^\s=,(){}%\"]+"
_MAY_BE_NESTED = re.compile(r"[a-z]\(.*[a-z-]\(")
_TYPE = r"(?:[^\s(){]|\{[^{}]*+\})++|b?\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\)"
_INSTRUCTION = re.compile(rf"(?:({_TYPE}) )?([a-z][\w-]*)\((.*)\)$")
# With the parenthesis of its operands; letters before one in a layout are capitals.
_OPCODE = re.compile(r"[a-z][\w-]*\(")
_ATOMS = ("constant", "parameter")
_COMMENT = re.compile(r"/\*.*?\*/")
_OPENING, _CLOSING = "([{", ")]}"


def operand_names(inside: str) -> list[str]:
    """The names of operands, with types before them or without.

    >>> operand_names("(f32[2]{0}, s32[]) %pair, f32[2,3]{1,0} x, /*index=2*/ y")
    ['pair', 'x', 'y']
    """
    return [part.split(" ")[-1].lstrip("%") for part in parts(_COMMENT.sub("", inside))]


def with_operands_apart(lines: Sequence[str], numbers: Sequence[int]) -> tuple[list[str], list[int]]:
    """The lines with each instruction that is an operand in a line before that of its reader, and their numbers."""
    taken: set[str] = set()
    found: list[str] = []
    places: list[int] = []
    for line, number in zip(lines, numbers, strict=True):
        if _MAY_BE_NESTED.search(line):
            if not taken:
                taken.update(re.findall(rf"(?:^|ROOT )%?({_NAME}) = ", "\n".join(lines), re.MULTILINE))
            apart = list(_apart(line, taken))
        else:
            apart = [line]
        found += apart
        places += [number] * len(apart)
    return found, places


def _apart(line: str, taken: set[str]) -> Iterator[str]:
    start, end = operands(line)
    if start < 0 or line[:start].rpartition(" ")[2] in _ATOMS:
        yield line
        return
    read = parts(line[start + 1 : end])
    for place, operand in enumerate(read):
        inner = _INSTRUCTION.match(operand)
        if inner is not None:
            name = _new_name(inner[2], taken)
            yield from _apart(f"{name} = {inner[1] or '?'} {inner[2]}({inner[3]})", taken)
            read[place] = name
    yield f"{line[: start + 1]}{', '.join(read)}{line[end:]}"


def operands(line: str) -> tuple[int, int]:
    """Where the parenthesis around the operands of an instruction opens and closes; -1 where there is none."""
    at = line.find(" = ") + 3
    if at < 3:
        return -1, -1
    if line.startswith(("(", "b("), at):
        at = closing(line, line.index("(", at))
    opening = _OPCODE.search(line, max(at, 0)) if at >= 0 else None
    start = opening.end() - 1 if opening else -1
    end = closing(line, start) if opening else -1
    return (start, end) if end >= 0 else (-1, -1)


def closing(line: str, start: int) -> int:
    """Where the bracket that opens here is closed; -1 where it is not."""
    depth = 0
    for at in range(start, len(line)):
        depth += (line[at] in _OPENING) - (line[at] in _CLOSING)
        if depth == 0:
            return at
    return -1


def parts(inside: str) -> list[str]:
    """What commas separate that are in no brackets."""
    found: list[str] = []
    depth, start = 0, 0
    for at, character in enumerate(inside):
        depth += (character in _OPENING) - (character in _CLOSING)
        if character == "," and depth == 0:
            found.append(inside[start:at].strip())
            start = at + 1
    return [*found, inside[start:].strip()]


def _new_name(opcode: str, taken: set[str]) -> str:
    """As XLA calls what has no name."""
    name, count = f"{opcode}.anon", 0
    while name in taken:
        count += 1
        name = f"{opcode}.anon.{count}"
    taken.add(name)
    return name
