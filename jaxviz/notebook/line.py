"""The line of a magic: options, and behind them a call or a path."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from IPython.core.error import UsageError

from jaxviz.document import STAGE_KINDS
from jaxviz.notebook.paths import path_in
from jaxviz.program.jit_options import JitOptions, arguments_in

#: What to write, at the end of what is said of a line that cannot be read.
EXAMPLE = "write a call, such as %jaxviz step(params, x)"

_USAGE = (
    "%jaxviz [--stage NAME] [--height PX] [--save FILE] [--svg FILE] [--static ARG] [--donate ARG] "
    "[--target NAME] [--passes] [--run [N]] [--memory] [--values] [--compile] [--vs 'g(args)'] fn(args), or a path"
)


@dataclass(frozen=True)
class Options:
    """What stands between `%jaxviz` and the call."""

    # None for the one that is shown first without the option.
    stage: str | None = None
    height: int | None = None
    save: Path | None = None
    svg: Path | None = None
    # Arguments by their number or name.
    static: tuple[int | str, ...] = ()
    donate: tuple[int | str, ...] = ()
    target: str | None = None
    passes: bool = False
    # How often the call is run; None not at all.
    run: int | None = None
    # What it needs of memory, what its values are, and what compiling it costs.
    memory: bool = False
    values: bool = False
    compile: bool = False
    # The other call, to be put beside it.
    vs: str | None = None

    @property
    def jit(self) -> JitOptions:
        """What is said of the arguments beside the call."""
        return JitOptions.named(self.static, self.donate)


def _whole_number(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ValueError("a whole number above 0")
    return int(text)


def _arguments(text: str) -> tuple[int | str, ...]:
    try:
        return arguments_in(text)
    except ValueError:
        raise ValueError("arguments by number or name, such as 1 or 0,2 or size") from None


def _stage(text: str) -> str:
    if text not in STAGE_KINDS:
        raise ValueError(f"{', '.join(STAGE_KINDS[:-1])} or {STAGE_KINDS[-1]}")
    return text


# Name -> how its value is read; a ValueError says what was expected.
_READERS: dict[str, Callable[[str], Any]] = {
    "stage": _stage,
    "height": _whole_number,
    "save": Path,
    "svg": Path,
    "static": _arguments,
    "donate": _arguments,
    "target": str,
    "run": _whole_number,
    "vs": str,
}
# Options without a value.
_FLAGS = ("passes", "memory", "values", "compile")
#: How often a call is run where no number is given.
RUNS = 20


def parse(line: str) -> tuple[Options, ast.Call | Path]:
    """Options and the call of a magic's line, or the path in it. Raises a one-line UsageError for anything else."""
    options, rest, hint = _options_and_rest(line)
    if not rest:
        raise UsageError(f"%jaxviz wants a call to explore: {hint}{EXAMPLE}.")
    path = path_in(rest)
    if path is not None:
        return options, path
    return options, _call_in(rest)


def options_of(line: str) -> tuple[Options, str]:
    """Options of a magic's line, and what stands behind them."""
    options, rest, _ = _options_and_rest(line)
    return options, rest


def _options_and_rest(line: str) -> tuple[Options, str, str]:
    """Options, what stands behind them, and a hint where that may have been taken for a value."""
    rest = line.strip().rstrip(";").rstrip()
    if rest in ("-h", "--help", "-?"):
        raise UsageError(_USAGE)
    values: dict[str, Any] = {}
    while match := re.match(r"--?([A-Za-z][\w-]*)(?:(?:\s*=\s*|\s+)('[^']*'|\"[^\"]*\"|\S+))?\s*", rest):
        name, value = match.group(1), match.group(2)
        if name in _FLAGS:
            values[name] = True
            rest = rest[match.end(1) :].lstrip()
            continue
        if name == "run" and not re.match(r"\s*=|\s+[\d.+-]+(?:\s|$)", rest[match.end(1) :]):
            values[name] = RUNS
            rest = rest[match.end(1) :].lstrip()
            continue
        if name not in _READERS:
            known = ", ".join(f"--{option}" for option in (*_READERS, *_FLAGS))
            raise UsageError(f"%jaxviz has no option --{name}; it has {known}.")
        try:
            values[name] = _READERS[name]((value or "").strip("'\"") or _missing())
        except ValueError as error:
            raise UsageError(f"%jaxviz --{name} wants {error}.") from None
        rest = rest[match.end() :]
    hint = f"--{name} took {value} for its value: " if values and value and value.endswith(")") else ""
    return Options(**values), rest, hint


def _call_in(rest: str) -> ast.Call:
    behind = re.search(r"\)\s+--?([A-Za-z][\w-]*)", rest)
    if behind and behind[1] in _READERS:
        raise UsageError(f"%jaxviz wants options in front of the call: %jaxviz --{behind[1]} ... f(x).")
    try:
        expression = ast.parse(rest, "<%jaxviz>", "eval").body
    except SyntaxError as error:
        if re.match(r"[A-Za-z_]\w*\s*=[^=]", rest):
            raise UsageError(f"%jaxviz wants a call alone: write %jaxviz {rest.partition('=')[2].strip()}.") from None
        raise UsageError(f"%jaxviz cannot read {rest!r} ({error.msg}): {EXAMPLE}.") from None
    if not isinstance(expression, ast.Call):
        hint = (
            f"%jaxviz {rest}(...) with its arguments" if isinstance(expression, (ast.Name, ast.Attribute)) else EXAMPLE
        )
        if isinstance(expression, ast.Name) and Path(rest).is_dir():
            hint += f", or %jaxviz {rest}/ for the folder"
        raise UsageError(f"%jaxviz wants a call, and {rest!r} is none: write {hint.removeprefix('write ')}.")
    return expression


def _missing() -> str:
    raise ValueError("a value")
