"""`%%jaxviz`: runs a cell, and shows every function that JAX compiles meanwhile."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.display import display

from jaxviz.listening.recorder import Recording, recording
from jaxviz.notebook.line import Options
from jaxviz.notebook.session import RECORDED, session

if TYPE_CHECKING:
    from jaxviz.listening.listening import Compilation

# A cell shows so many programs; all of them are in the side panel.
_MOST_SHOWN = 5


def run_cell(shell: Any, options: Options, rest: str, line: str, cell: str) -> Any:
    """Runs a cell as if the magic were not there, and shows what was compiled below its output."""
    __tracebackhide__ = True
    if rest:
        raise UsageError("%%jaxviz takes options alone: write %jaxviz for one call, or put the call into the cell.")
    for name in ("save", "svg", "static", "target", "run", "memory", "values", "compile"):
        if getattr(options, name):
            raise UsageError(f"%%jaxviz has no --{name}, which is for one call: it has --stage, --height, --passes.")
    from jaxviz.listening.listening import ear

    listed = session()

    def hear(compilation: Compilation, whole: bool) -> None:
        if compilation.own:
            listed.note_compiled(compilation, RECORDED)

    ear.add(hear)
    try:
        with recording() as found:
            value = _run(shell, f"%%jaxviz {line}".rstrip() + "\n", cell)
    finally:
        ear.remove(hear)
    _show(found, options)
    return value


def _run(shell: Any, first_line: str, cell: str) -> Any:
    """Runs the cell in the notebook's names; gives the value of its last line if that is an expression."""
    __tracebackhide__ = True
    transformed = shell.transform_cell(cell)
    # With its own first line, so that lines have the numbers that they have in the notebook.
    name = shell.compile.cache(first_line + transformed, _number(shell), first_line + cell)
    tree = shell.transform_ast(shell.compile.ast_parse("\n" + transformed, filename=name))
    body, last = tree.body, None
    if body and isinstance(body[-1], ast.Expr) and not cell.rstrip().endswith(";"):
        last = ast.Expression(body.pop().value)
    flags = shell.compile.flags
    exec(compile(ast.Module(body, []), name, "exec", flags), shell.user_ns)
    return eval(compile(last, name, "eval", flags), shell.user_ns) if last is not None else None


def _number(shell: Any) -> int:
    """The number of the cell that runs: a newer IPython counts on before it runs a cell, an older one after it."""
    return len(shell.history_manager.input_hist_parsed) - 1


def _show(found: Recording, options: Options) -> None:
    programs = found.programs
    cost = [sum(one.seconds.values()) for one in found.compilations]
    # One picture for each function: that of other shapes looks like it, and is a click away.
    costliest: dict[tuple[object, ...], int] = {}
    for number, one in enumerate(found.compilations):
        of = one.definition
        function = (of.qualified, of.file, of.line, of.code, of.piece)
        before = costliest.get(function)
        # What a fresh function object made again is the same picture: the last is meant.
        if before is None or cost[number] >= cost[before] or one.call == found.compilations[before].call:
            costliest[function] = number
    order = sorted(costliest.values(), key=lambda number: -cost[number])
    shown = sorted(order[:_MOST_SHOWN])
    alike = {(one.definition.qualified, one.call) for one in found.compilations}
    print(_told(found, len(alike) > len(shown), len(order) > len(shown)))
    for number in shown:
        exploration = programs[number]
        exploration.height = options.height
        exploration.stage = options.stage or exploration.stage
        exploration.with_passes = options.passes
        display(exploration)


def _told(found: Recording, more: bool, others: bool) -> str:
    """Each function with the reason, and what to do; `more` were compiled than are drawn, of `others` none is."""
    if not found.compilations:
        lines = ["This cell had no function compiled: what it called was compiled before, or is not jitted."]
    else:
        count = len(found.compilations)
        which = "the functions that cost most are drawn, each once" if others else "each function is drawn once"
        where = f"; {which}, all {count} are in the side panel" if more else ""
        lines = [f"{count} program{'s were' if count > 1 else ' was'} compiled{where}:"]
        for compilation, why in zip(found.compilations, found.reasons, strict=True):
            cost = sum(compilation.seconds.values())
            lines.append(f"  {compilation.call}  {cost:.2f} s  {'; '.join(reason.text for reason in why)}")
    if found.operations:
        count, cost = len(found.operations), sum(sum(one.seconds.values()) for one in found.operations)
        lines.append(
            f"{count} operation{'s' * (count > 1)} of JAX ran outside of jit, each compiled by itself: {cost:.2f} s"
        )
    lines += [f"{finding.title}. {finding.text} {finding.remedy}".rstrip() for finding in found.findings]
    return "\n".join(lines)
