"""What can go wrong in a run, in words."""

from __future__ import annotations

import os
from typing import Any


class RunError(RuntimeError):
    """A program that cannot be run, or that failed while it ran; the message says why and what to do."""


class RunStopped(RunError):
    """A run that was stopped before its end."""


class NoMemory(RuntimeError):
    """Nothing says what a program takes; the message says why."""


def failed(call: str, error: BaseException) -> RunError:
    """The words for an error that came while a program ran."""
    if isinstance(error, RunError):
        return error
    text = str(error).strip()
    # JAX has one of its own besides that of Python.
    if "FloatingPoint" in type(error).__name__:
        return RunError(
            f"{call} was ended because a value is {_bad_word(text)}, which jax_debug_nans or jax_debug_infs asks for. "
            "ex.values().first_bad says where it begins."
        )
    first = text.splitlines()[0].rstrip(".") if text else type(error).__name__
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in text or "out of memory" in text.lower():
        return RunError(f"{call} ran out of memory: {first}. Smaller arguments, or donated ones, need less.")
    # The last line of a traceback of Python says what a callback raised.
    raised = [line for line in text.splitlines() if line and not line[0].isspace()]
    reason = raised[-1] if "Traceback" in text and raised else first
    return RunError(f"{call} failed while it ran: {reason}")


def _bad_word(text: str) -> str:
    return "infinite" if "inf" in text.lower().split("nan")[0] else "NaN"


def check_memory(call: str, needed: int, device: Any) -> None:
    """Raises `RunError` where a run needs more than there is: on a CPU the system would end the whole process."""
    from jaxviz.units import bytes_text

    free = free_bytes(device)
    if free is not None and needed > free:
        raise RunError(
            f"{call} needs {bytes_text(needed)} for what it makes, and {bytes_text(free)} are free on {device}: it was "
            "not run. Smaller arguments, or donated ones, need less."
        )


def free_bytes(device: Any) -> int | None:
    """The memory that is free on a device; None where nothing says it."""
    stats = device.memory_stats() if device.platform != "cpu" else None
    if stats and "bytes_limit" in stats:
        return int(stats["bytes_limit"] - stats.get("bytes_in_use", 0))
    if device.platform != "cpu":
        return None
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None
