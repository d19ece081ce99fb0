"""Numbers as people read them."""

from __future__ import annotations


def plural(count: int, word: str) -> str:
    """A number and its word.

    >>> plural(1, "equation"), plural(1000, "equation")
    ('1 equation', '1,000 equations')
    """
    return f"{count:,} {word}{'s' * (count != 1)}"


def bytes_text(count: float) -> str:
    """A number of bytes as people read it.

    >>> bytes_text(512), bytes_text(2_500_000)
    ('512 B', '2.5 MB')
    """
    for unit, size in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"


def seconds_text(seconds: float) -> str:
    """A time as people read it.

    >>> seconds_text(0.00123), seconds_text(75.0)
    ('1.23 ms', '75 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def flops_text(flops: float) -> str:
    """A number of floating-point operations as people read it.

    >>> flops_text(2.5e9)
    '2.5 GFLOP'
    """
    for unit, size in (("TFLOP", 1e12), ("GFLOP", 1e9), ("MFLOP", 1e6), ("kFLOP", 1e3)):
        if flops >= size:
            return f"{flops / size:.3g} {unit}"
    return f"{flops:.0f} FLOP"
