"""`jaxviz` in a shell: explore, export, open, diff, doctor, demo. Types of arguments are enough; nothing is run."""

from __future__ import annotations

import argparse
import inspect
import json
import os
import sys
import tempfile
import traceback
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxviz._version import __version__

if TYPE_CHECKING:
    from jaxviz.document import Document
    from jaxviz.exploration import Exploration

_STAGES = ("jaxpr", "stablehlo", "hlo")
_OPENED = "HLO, MLIR, a folder of dumps or an archive of one, an export, a document; - for what comes through a pipe"
_PIPE = "/dev/stdin"
# What a shell says of a process that was ended by the signals for these.
_INTERRUPTED, _UNREAD = 130, 141


class CliError(Exception):
    """What the person is told in one line."""


class OwnError(Exception):
    """An error in the person's own code: as Python tells it, and in words."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; gives the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if "run" not in options:
        parser.print_help(sys.stderr)
        return 2
    from jaxviz.argument_text import ArgumentError
    from jaxviz.document import DocumentError
    from jaxviz.export.bundles import BundleError
    from jaxviz.export.engine import DrawingError
    from jaxviz.export.png import PngError
    from jaxviz.named import NotImported, NotNamed
    from jaxviz.opening.contents import OpenError
    from jaxviz.targets import TargetError

    told = (
        CliError,
        NotNamed,
        ArgumentError,
        DocumentError,
        OpenError,
        TargetError,
        BundleError,
        DrawingError,
        PngError,
    )
    try:
        status: int = options.run(options)
    except told as error:
        print(f"jaxviz: {error}", file=sys.stderr)
        return 2
    except OwnError as error:
        print(error, file=sys.stderr)
        return 1
    except NotImported as error:
        print(f"{_told(error.reason)}\njaxviz: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # Who reads has enough; Python would say so when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _UNREAD
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        print(f"jaxviz: {where}{error.strerror or error}", file=sys.stderr)
        return 2
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("jaxviz", description="See what JAX makes of your function.")
    parser.add_argument("--version", action="version", version=f"jaxviz {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND")

    def command(name: str, run: Callable[[Any], int], help: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=help, description=f"{help[0].upper()}{help[1:]}.")
        made.set_defaults(run=run)
        return made

    def call(made: argparse.ArgumentParser) -> None:
        made.add_argument("function", help="pkg.mod:fn or path/to/file.py:fn")
        such = "such as 'f32[128,64]' \"{'w': f32[64,8]}\" 3 scale=2; what a module has: pkg.mod:name pkg.mod:fn()"
        made.add_argument("--args", nargs="*", default=[], metavar="ARG", help=such)
        made.add_argument(
            "--static", nargs="*", default=[], metavar="ARG", help="static arguments, by number or name: 1 size"
        )
        made.add_argument(
            "--donate", nargs="*", default=[], metavar="ARG", help="arguments whose memory may be used for results"
        )
        made.add_argument("--passes", action="store_true", help="what each pass of the compiler did, too")
        made.add_argument("--target", help='a device to compile for, such as "cuda:h100"')

    explore = command("explore", _explore, "say what JAX makes of a function, and what is worth knowing")
    call(explore)
    export = command("export", _export, "write a picture, page or document of a function")
    call(export)
    export.add_argument("-o", "--output", required=True, metavar="FILE", help=".svg .png .html .dot .json .jaxviz")
    export.add_argument("--stage", choices=_STAGES, default="jaxpr")
    export.add_argument("--theme", choices=("light", "dark", "auto"), default="light")
    opened = command("open", _open, "show a file that a compiler or jaxviz wrote, in a browser")
    opened.add_argument("path", help=_OPENED)
    opened.add_argument("--program", metavar="NAME", help="the one of a folder to show first, as its list names it")
    opened.add_argument("-o", "--output", metavar="FILE", help="write it there instead, as with export")
    diff = command("diff", _diff, "compare two documents; for continuous integration")
    diff.add_argument("before")
    diff.add_argument("after")
    diff.add_argument(
        "--fail-on", default="", metavar="NAMES", help=f"fail where one has grown: {', '.join(MEASURES)}; with commas"
    )
    diff.add_argument("--json", action="store_true", help="print numbers for programs")
    command("doctor", _doctor, "say what is installed here, and what is in the way")
    demo = command("demo", _demo, "show an example in a browser")
    demo.add_argument("-o", "--output", metavar="FILE", help="write the page there instead")
    return parser


def _explore(options: Any) -> int:
    exploration = _explored(options)
    print(repr(exploration).strip("<>").removeprefix("jaxviz "))
    document = exploration.document()
    for name, count in _measures(document).items():
        print(f"  {name}: {count:,}")
    for stage, reason in document.programs[0].missing.items():
        print(f"  no {stage}: {reason}")
    for finding in exploration.findings:
        print(f"{finding.severity}: {finding.title}. {finding.text} {finding.remedy}".rstrip())
    return 0


def _export(options: Any) -> int:
    _write(_explored(options), Path(options.output), options.stage, options.theme)
    return 0


def _open(options: Any) -> int:
    from jaxviz.opening import open as open_path
    from jaxviz.opening.large import long_to_read

    path = _PIPE if options.path == "-" else options.path
    if said := long_to_read(path):
        print(said, file=sys.stderr, flush=True)
    opened = open_path(path)
    if options.program is not None:
        try:
            opened = opened[options.program]
        except KeyError as error:
            raise CliError(error.args[0]) from None
    print(opened)
    if options.output:
        _write(opened, Path(options.output), opened.stage, "light")
    else:
        _show(opened.to_html())
    return 0


def _explored(options: Any) -> Exploration:
    from jaxviz.argument_text import arguments_of
    from jaxviz.exploration import Exploration
    from jaxviz.program.jit_options import JitOptions, arguments_in
    from jaxviz.program.program import Program

    args, kwargs = arguments_of(options.args)
    named = [arguments_in(" ".join(each)) if each else () for each in (options.static, options.donate)]
    function = load_function(options.function)
    _check_arguments(function, options.function, args, kwargs)
    exploration = Exploration(Program(function, args, kwargs, JitOptions.named(*named), options.target))
    exploration.with_passes = options.passes
    try:
        exploration.trace()
    except Exception as error:
        # As a notebook shows it: from the lines of the function on, and what is known of such an error.
        raise OwnError("\n".join(map(str, filter(None, (_told(error), exploration.failed))))) from None
    return exploration


def _check_arguments(function: Any, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Says which arguments are missing, or are too many, as the person gives them here."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        # What was not written in Python does not say what it takes.
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise CliError(
            f"{name}{signature}: {error}; give the arguments as --args 'f32[128,64]' 'scale=f32[]'"
        ) from None


def load_function(text: str) -> Any:
    """The function that `pkg.mod:fn` or `file.py:fn` names."""
    from jaxviz.named import named

    value = named(text)
    if not callable(value):
        raise CliError(f"{text} is no function but {type(value).__name__}")
    return value


def _told(error: BaseException) -> str:
    """An error as Python tells it, from the person's lines on."""
    from jaxviz.tracebacks import without_our_frames

    return "".join(traceback.format_exception(error.with_traceback(without_our_frames(error.__traceback__))))


def _write(exploration: Exploration, path: Path, stage: str, theme: Any) -> None:
    suffix = path.suffix.lower()
    if suffix == ".svg":
        exploration.to_svg(path, stage=stage, theme=theme)
    elif suffix == ".png":
        exploration.to_png(path, stage=stage, theme=theme)
    elif suffix in (".html", ".htm"):
        exploration.to_html(path, stage=stage)
    elif suffix == ".dot":
        exploration.to_dot(path, stage=stage)
    elif suffix == ".json":
        exploration.to_json(path)
    elif suffix == ".jaxviz":
        exploration.with_others().save(path)
    else:
        raise CliError(f"cannot tell from {path.name} what to write: it may end in .svg .png .html .dot .json .jaxviz")
    print(path)


def _show(page: str) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".html", prefix="jaxviz-", delete=False, encoding="utf-8") as file:
        file.write(page)
    print(file.name)
    webbrowser.open(Path(file.name).as_uri())


#: What `diff` counts in a document, all better when smaller.
MEASURES = ("equations", "instructions", "kernels", "flops", "findings", "warnings")


def _measures(document: Document) -> dict[str, int]:
    """The counts of the first program, as far as its stages are there."""
    from jaxviz.costs.cost import flops_of
    from jaxviz.costs.kernels import kernel_count
    from jaxviz.graph import OPERATION

    stages = {stage.kind: document.graphs[stage.graph] for stage in document.programs[0].stages}
    found = {}
    if "jaxpr" in stages:
        found["equations"] = int((stages["jaxpr"].nodes.kind == OPERATION).sum())
    if "hlo" in stages:
        found["instructions"] = int((stages["hlo"].nodes.kind == OPERATION).sum())
        found["kernels"] = kernel_count(stages["hlo"])
        found["flops"] = round(flops_of(stages["hlo"]))
    found["findings"] = len(document.findings)
    found["warnings"] = sum(entry.finding.severity == "warning" for entry in document.findings)
    return found


def _diff(options: Any) -> int:
    from jaxviz.opening import open as open_path

    before, after = (_measures(open_path(path).document()) for path in (options.before, options.after))
    wanted = [name.strip() for name in options.fail_on.split(",") if name.strip()]
    for name in wanted:
        if name not in MEASURES:
            raise CliError(f"--fail-on knows no {name!r}; it knows: {', '.join(MEASURES)}")
        if name not in before or name not in after:
            raise CliError(f"one of the documents does not say its {name}")
    grown = [name for name in wanted if after[name] > before[name]]
    names = [name for name in MEASURES if name in before or name in after]
    if options.json:
        counts = {name: {"before": before.get(name), "after": after.get(name)} for name in names}
        print(json.dumps({"measures": counts, "failed": grown}))
    else:
        for name in names:
            one, other = before.get(name), after.get(name)
            change = "" if one is None or other is None else f"{other - one:+,}" if one != other else "the same"
            mark = "  <- has grown" if name in grown else ""
            print(f"{name:>12}  {_count(one):>10}  {_count(other):>10}  {change}{mark}")
    return 1 if grown else 0


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _doctor(options: Any) -> int:
    from jaxviz.doctor import checks

    found = checks()
    for check in found:
        print(f"{'ok ' if check.ok else 'BAD' if check.needed else '-  '} {check.text}")
    return 0 if all(check.ok or not check.needed for check in found) else 1


def _demo(options: Any) -> int:
    from jaxviz.demo import exploration

    page = exploration().to_html()
    if options.output:
        Path(options.output).write_text(page, "utf-8")
        print(options.output)
    else:
        _show(page)
    return 0
