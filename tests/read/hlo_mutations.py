"""Small random damage to HLO modules, the same for the same random numbers."""

from __future__ import annotations

import re
from random import Random

_LETTERS = '{}()[]",=%\\\n 0123456789-<>?ab\u00e9\x00'
_PIECES = ("9" * 20, "{" * 50, "(" * 300, "%x", '"', "/*", "*/", "\r\n", "ROOT ", "metadata={", "}}")


def changed_text(text: str, random: Random) -> str:
    """A text after one to five changes of characters, words or lines."""
    for _ in range(random.choice((1, 1, 2, 5))):
        text = _change_text(text, random)
    return text


def _change_text(text: str, random: Random) -> str:
    kind = random.randrange(9)
    start = random.randrange(len(text) + 1)
    end = min(len(text), start + random.choice((1, 3, 20, 300)))
    if kind < 3:
        middle = ("", random.choice(_LETTERS), text[start:end] * 2)[kind]
        return text[:start] + middle + text[end:]
    if kind == 3:
        return text[:start] + random.choice(_PIECES) + text[start:]
    if kind == 4:
        return text[:start]
    if kind == 5:
        words = re.findall(r"[\w.-]+", text) or ["a"]
        return text.replace(random.choice(words), random.choice(words), random.choice((1, 1, 50)))
    lines = text.split("\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    if kind == 6:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 7:
        lines.insert(one, lines[other])
    else:
        del lines[one]
    return "\n".join(lines)


def changed_bytes(data: bytes, random: Random) -> bytes:
    """Bytes after one to twenty changes."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 5, 20))):
        if not changed:
            break
        kind, place = random.randrange(5), random.randrange(len(changed))
        if kind == 0:
            changed[place] = random.randrange(256)
        elif kind == 1:
            changed[place] ^= 1 << random.randrange(8)
        elif kind == 2:
            del changed[place : place + random.choice((1, 2, 10))]
        elif kind == 3:
            changed[place:place] = random.randbytes(random.choice((1, 3)))
        elif random.random() < 0.3:
            del changed[place:]
    return bytes(changed)
