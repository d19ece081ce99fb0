"""`%jaxviz fn(args)`: the call is taken apart, never made; the function is explored with these arguments.

`%jaxviz PATH` opens a file or folder.

Options come first: `%jaxviz --height 400 --save step.jaxviz step(params, x)`.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from jaxviz.comparison import Comparison
from jaxviz.document import STAGE_KINDS
from jaxviz.exploration import Exploration
from jaxviz.export.engine import DrawingError
from jaxviz.measure.errors import NoMemory, RunError
from jaxviz.notebook.paths import opened, path_in
from jaxviz.notebook.session import note_explored
from jaxviz.notebook.unused import value_is_unused
from jaxviz.opening import open as open_path
from jaxviz.program import Program
from jaxviz.targets import TargetError

_EXAMPLE = "write a call, such as %jaxviz step(params, x)"


_USAGE = (
    "%jaxviz [--stage NAME] [--height PX] [--save FILE] [--svg FILE] [--static N] [--target NAME] [--passes] "
    "[--run [N]] [--memory] [--values] [--compile] [--vs 'g(args)'] fn(args), or a path"
)


@dataclass(frozen=True)
class Options:
    """What stands between `%jaxviz` and the call."""

    # None for the one that is shown first without the option.
    stage: str | None = None
    height: int | None = None
    save: Path | None = None
    svg: Path | None = None
    static: tuple[int, ...] = ()
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


def _whole_number(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ValueError("a whole number above 0")
    return int(text)


def _numbers(text: str) -> tuple[int, ...]:
    parts = [part for part in re.split(r"[,\s]+", text) if part]
    if not parts or not all(re.fullmatch(r"-?\d+", part) for part in parts):
        raise ValueError("argument numbers such as 1 or 0,2")
    return tuple(int(part) for part in parts)


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
    "static": _numbers,
    "target": str,
    "run": _whole_number,
    "vs": str,
}
# What stands for a file in what is evaluated of the line.
_CALL = "<%jaxviz>"
# Options without a value.
_FLAGS = ("passes", "memory", "values", "compile")
# Options whose value may be left out: what it is then.
_RUNS = 20


@magics_class
class JaxvizMagics(Magics):
    """The magics that `%load_ext jaxviz` registers."""

    @line_cell_magic
    def jaxviz(self, line: str, cell: str | None = None) -> Any:
        """Explore what JAX makes of a call: %jaxviz [--height PX] [--save FILE] [--svg FILE] [--static N] fn(args)

        %%jaxviz runs a cell and shows every function that JAX compiles meanwhile.
        """
        __tracebackhide__ = True
        if cell is not None:
            from jaxviz.notebook.cell import run_cell

            return run_cell(self.shell, *options_of(line), line, cell)
        options, call = parse(line)
        found = self._explored(options, call)
        shown = found if options.vs is None or found.stopped else self._compared(options, found)
        self._write(options, shown)
        if self.shell is not None and value_is_unused(self.shell.user_ns):
            display(shown)
        return shown

    def _explored(self, options: Options, call: ast.Call | Path) -> Exploration:
        """What one call or path stands for."""
        __tracebackhide__ = True
        if isinstance(call, Path):
            return self._opened(options, call)
        assert self.shell is not None  # a magic is always run by a shell
        function, args, kwargs = take_apart(call, self.shell.user_ns)
        if not callable(function):
            kind = type(function).__name__
            raise UsageError(f"%jaxviz wants a call of a function, and {ast.unparse(call.func)} is {kind}: {_EXAMPLE}.")
        if isinstance(getattr(function, "__self__", None), jax.Array):
            inner = ast.unparse(call.func).rpartition(".")[0]
            raise UsageError(
                f"%jaxviz wants one call, and this calls a method of what {inner} gives: "
                "put both into a function, and write %jaxviz with a call of that."
            )
        if function is open_path and len(args) == 1 and not kwargs:
            return self._opened(options, Path(args[0]))
        try:
            exploration = Exploration(Program(function, args, kwargs, options.static, options.target))
        except TargetError as error:
            raise UsageError(f"%jaxviz --target: {error}") from None
        exploration.call = ast.unparse(call)
        exploration.typed = tuple(map(ast.unparse, (call.func, *call.args, *call.keywords)))
        if options.static:
            exploration.typed += (f"static_argnums={options.static}",)
        exploration.height = options.height
        exploration.stage = options.stage or exploration.stage
        exploration.with_passes = options.passes
        try:
            exploration.trace()
        except Exception:
            if exploration.failed is not None:
                display(exploration.failed)
            raise
        _measure(exploration, options)
        note_explored(exploration)
        return exploration

    def _opened(self, options: Options, path: Path) -> Exploration:
        for name in _asked(options):
            raise UsageError(f"%jaxviz --{name} wants a call to run, and {str(path)!r} is a file.")
        return opened(path, options.stage, options.height)

    def _compared(self, options: Options, first: Exploration) -> Comparison:
        """What was explored, beside what `--vs` names."""
        __tracebackhide__ = True
        assert options.vs is not None  # it is asked before
        own, other = parse(options.vs)
        if own != Options():
            raise UsageError("%jaxviz --vs wants a call without options: %jaxviz --vs 'g(x)' f(x).")
        found = Comparison(first, self._explored(replace(options, vs=None, static=()), other))
        found.height, found.stage = options.height, options.stage
        return found

    def _write(self, options: Options, exploration: Exploration | Comparison) -> None:
        """What cannot be written is said in one line; the picture is shown all the same."""
        try:
            if options.save is not None:
                exploration.document().save(options.save.expanduser())
            if options.svg is not None:
                stage = exploration.first_stage if isinstance(exploration, Comparison) else exploration.stage
                exploration.to_svg(options.svg, stage=stage)
        except OSError as error:
            print(f"%jaxviz: {error.filename}: {error.strerror}", file=sys.stderr)
        except (ValueError, DrawingError) as error:
            print(f"%jaxviz: {error}", file=sys.stderr)


def _asked(options: Options) -> list[str]:
    """What is to be measured, by the names of the options, in the order in which it is."""
    return [name for name in ("run", "memory", "values", "compile") if getattr(options, name) not in (None, False)]


def _measure(exploration: Exploration, options: Options) -> None:
    """What cannot be measured, or was stopped, is said in one line; the picture is shown all the same."""
    acts: dict[str, Callable[[], object]] = {
        "run": lambda: exploration.run(options.run or _RUNS),
        "memory": exploration.memory,
        "values": exploration.values,
        "compile": exploration.compile_cost,
    }
    for name in _asked(options):
        try:
            acts[name]()
        except (RunError, NoMemory) as error:
            print(f"%jaxviz --{name}: {error}", file=sys.stderr)
        except KeyboardInterrupt:
            print(f"%jaxviz --{name}: stopped, so nothing is measured", file=sys.stderr)
            exploration.stopped = True
            return


def parse(line: str) -> tuple[Options, ast.Call | Path]:
    """Options and the call of a magic's line, or the path in it. Raises a one-line UsageError for anything else."""
    options, rest, hint = _options_and_rest(line)
    if not rest:
        raise UsageError(f"%jaxviz wants a call to explore: {hint}{_EXAMPLE}.")
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
            values[name] = _RUNS
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
        raise UsageError(f"%jaxviz cannot read {rest!r} ({error.msg}): {_EXAMPLE}.") from None
    if not isinstance(expression, ast.Call):
        hint = (
            f"%jaxviz {rest}(...) with its arguments" if isinstance(expression, (ast.Name, ast.Attribute)) else _EXAMPLE
        )
        raise UsageError(f"%jaxviz wants a call, and {rest!r} is none: write {hint.removeprefix('write ')}.")
    return expression


def _missing() -> str:
    raise ValueError("a value")


def take_apart(call: ast.Call, namespace: dict[str, Any]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Evaluates the function and the arguments of a call, but not the call."""
    __tracebackhide__ = True

    def collect(function: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        return function, args, kwargs

    name = "_jaxviz_collect"
    rebuilt = ast.Call(ast.Name(name, ast.Load()), [call.func, *call.args], call.keywords)
    expression = ast.fix_missing_locations(ast.copy_location(ast.Expression(rebuilt), call))
    code = compile(expression, _CALL, "eval")
    # An error in it is shown with what was typed.
    typed = ast.unparse(call)
    linecache.cache[_CALL] = (len(typed), None, [typed], _CALL)
    try:
        # The notebook's names as globals, so that comprehensions and lambdas among the arguments find them.
        return eval(code, namespace, {name: collect})
    except Exception as error:
        ours = error.__traceback__
        raise error.with_traceback(ours and ours.tb_next) from error.__cause__
