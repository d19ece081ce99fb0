"""`%jaxviz fn(args)`: the call is taken apart, never made; the function is explored with these arguments.

`%jaxviz PATH` opens a file or folder.

Options come first: `%jaxviz --height 400 --save step.jaxviz step(params, x)`.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from jaxviz.comparison import Comparison
from jaxviz.exploration import Exploration
from jaxviz.export.engine import DrawingError
from jaxviz.measure.errors import NoMemory, RunError
from jaxviz.measure.told import kernel_shell
from jaxviz.notebook.cell import run_cell
from jaxviz.notebook.line import EXAMPLE, RUNS, Options, options_of, parse
from jaxviz.notebook.paths import opened
from jaxviz.notebook.session import note_explored
from jaxviz.notebook.unused import value_is_unused
from jaxviz.opening import open as open_path
from jaxviz.opening.made import is_made
from jaxviz.program.program import Program
from jaxviz.targets import TargetError

# What stands for a file in what is evaluated of the line.
_CALL = "<%jaxviz>"


@magics_class
class JaxvizMagics(Magics):
    """The magics that `%load_ext jaxviz` registers."""

    _terminal_told = False

    @line_cell_magic
    def jaxviz(self, line: str, cell: str | None = None) -> Any:
        """Explore what JAX makes of a call: %jaxviz [--height PX] [--save FILE] [--svg FILE] [--static ARG] fn(args)

        %%jaxviz runs a cell and shows every function that JAX compiles meanwhile.
        """
        __tracebackhide__ = True
        if cell is not None:
            return run_cell(self.shell, *options_of(line), line, cell)
        options, rest = options_of(line)
        made = self.shell.user_ns.get(rest) if self.shell is not None and rest.isidentifier() else None
        if is_made(made):
            found: Exploration = self._opened(options, made, rest)
        else:
            options, call = parse(line)
            found = self._explored(options, call)
        shown = found if options.vs is None or found.stopped else self._compared(options, found)
        self._write(options, shown)
        if self.shell is not None and value_is_unused(self.shell.user_ns):
            display(shown)
        self._tell_terminal()
        return shown

    def _tell_terminal(self) -> None:
        """A terminal shows words alone: how to see the rest is said once."""
        if kernel_shell() is None and sys.stdout.isatty() and not self._terminal_told:
            self._terminal_told = True
            print("jaxviz: a terminal shows no picture; _.to_html('page.html') writes the explorer.", file=sys.stderr)

    def _explored(self, options: Options, call: ast.Call | Path) -> Exploration:
        """What one call or path stands for."""
        __tracebackhide__ = True
        if isinstance(call, Path):
            return self._opened(options, call, repr(str(call)))
        assert self.shell is not None  # a magic is always run by a shell
        call = _asked_of_jit(call, self.shell.user_ns)
        function, args, kwargs = take_apart(call, self.shell.user_ns)
        if is_made(function):
            return self._opened(options, function, ast.unparse(call.func))
        if not callable(function):
            kind = type(function).__name__
            raise UsageError(f"%jaxviz wants a call of a function, and {ast.unparse(call.func)} is {kind}: {EXAMPLE}.")
        if isinstance(getattr(function, "__self__", None), jax.Array):
            inner = ast.unparse(call.func).rpartition(".")[0]
            raise UsageError(
                f"%jaxviz wants one call, and this calls a method of what {inner} gives: "
                "put both into a function, and write %jaxviz with a call of that."
            )
        if function is open_path and len(args) == 1 and not kwargs:
            return self._opened(options, args[0], ast.unparse(call.args[0]))
        try:
            exploration = Exploration(Program(function, args, kwargs, options.jit, options.target))
        except TargetError as error:
            raise UsageError(f"%jaxviz --target: {error}") from None
        exploration.call = ast.unparse(call)
        exploration.typed = tuple(map(ast.unparse, (call.func, *call.args, *call.keywords)))
        exploration.typed += tuple(f"{name}={value!r}" for name, value in options.jit.given.items())
        exploration.height = options.height
        exploration.stage = options.stage or exploration.stage
        exploration.with_passes = options.passes
        try:
            exploration.trace()
        except Exception:
            if exploration.failed is not None:
                display(exploration.failed)
                # What cannot be listed may not hide the error.
                with suppress(Exception):
                    note_explored(exploration)
            raise
        _measure(exploration, options)
        note_explored(exploration)
        return exploration

    def _opened(self, options: Options, path: Any, said: str) -> Exploration:
        for name in _asked(options):
            kind = type(path).__name__ if is_made(path) else "a file"
            raise UsageError(f"%jaxviz --{name} wants a call to run, and {said} is {kind}.")
        return opened(path, options.stage, options.height)

    def _compared(self, options: Options, first: Exploration) -> Comparison:
        """What was explored, beside what `--vs` names."""
        __tracebackhide__ = True
        assert options.vs is not None  # it is asked before
        own, other = parse(options.vs)
        if own != Options():
            raise UsageError("%jaxviz --vs wants a call without options: %jaxviz --vs 'g(x)' f(x).")
        found = Comparison(first, self._explored(replace(options, vs=None, static=(), donate=()), other))
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
        "run": lambda: exploration.follow_nan(exploration.run(options.run or RUNS)),
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


def _asked_of_jit(call: ast.Call, namespace: dict[str, Any]) -> ast.Call:
    """Of `step.lower(x).compile()` the call of `step`: what JAX makes of that is what is explored anyway."""
    __tracebackhide__ = True
    inner = call
    while isinstance(inner.func, ast.Attribute) and isinstance(inner.func.value, ast.Call) and not inner.args:
        if inner.func.attr not in ("lower", "compile"):
            return call
        inner = inner.func.value
    if not isinstance(inner.func, ast.Attribute) or inner.func.attr not in ("lower", "trace"):
        return call
    of = ast.copy_location(ast.Call(inner.func.value, [], []), call)
    function, _, _ = take_apart(of, namespace)
    asked = ast.copy_location(ast.Call(inner.func.value, inner.args, inner.keywords), call)
    return asked if isinstance(function, jax.stages.Wrapped) else call


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
