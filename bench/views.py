"""What is seen at first of many programs: how many boxes, at what zoom, how many of them named by the person.

    python -m bench views [--only=NAME,...] [--hlo] [--files] [--quick]

A first view should hold at most 25 boxes at a zoom of 0.75 or more, in 760x560 and in a cell of 900x400; that of the
training step of a transformer at most 16 at 0.95 in 760x560; 95 % of all boxes a name from the person's source. With
`--hlo`, the optimized HLO of the same programs: at most 40 boxes. With `--files`, as a person sees what was written to
files, which have only their metadata: the samples for a GPU and a TPU, or without `--hlo` the StableHLO of the same
programs. Boxes are those that stand for equations.
"""

from __future__ import annotations

import functools
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax

import jaxviz as jv
from bench import wide_models
from jaxviz.first_view import Box, FirstView
from jaxviz.outline.written.expressions import GENERIC

_SPACES = ((760, 560), (900, 400))
_NAMED = ("module", "call", "statement", "expression")
# What says how something runs, not what it is: a call of these alone could be anything.
_HOW = GENERIC | {"vmap", "pmap", "jit", "grad", "value_and_grad", "scan", "while_loop", "fori_loop", "cond", "switch"}
# A body that is told by its place alone.
_UNNAMED = re.compile(r"while|do|body|case \d+|if (true|false)")
_Case = tuple[Callable[..., Any], tuple[Any, ...]]


def programs(quick: bool) -> dict[str, Callable[[], _Case]]:
    """The corpus, transformers of several depths, and programs of other styles."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from programs import CORPUS, flax_block
    from styles import STYLES

    depths = (2,) if quick else (2, 4, 12, 64)
    layers = {f"flax train {depth}": functools.partial(flax_block, layers=depth) for depth in depths}
    return {**CORPUS, **layers, **STYLES, **wide_models.PROGRAMS}


def is_named(box: Box, operations: set[str]) -> bool:
    """Whether a box says what the person wrote, not what JAX made of it."""
    if box.kind == "body":
        return not _UNNAMED.fullmatch(box.name)
    if box.kind == "phase" or box.name in _HOW:
        return False
    return box.kind in _NAMED or box.name.split(" ")[0] not in operations


def is_readable(view: FirstView, name: str, space: tuple[int, int], most: int) -> bool:
    if "flax train" in name and space == _SPACES[0] and most == 25:
        return len(view.closed) <= 16 and view.zoom >= 0.95
    return len(view.closed) <= most and view.zoom >= 0.75


def explored(make: Callable[[], _Case]) -> Any:
    fn, values = make()
    return jv.explore(fn, *values)


def written(make: Callable[[], _Case], folder: str) -> Any:
    """The StableHLO of a program, as it is where it was written to a file."""
    fn, values = make()
    path = Path(folder, "program.mlir")
    path.write_text(jax.jit(fn).lower(*values).as_text(debug_info=True))
    return jv.open(path)


def files(stage: str, folder: str, quick: bool) -> dict[str, Callable[[], Any]]:
    """The same as `programs`, or the samples, each opened from a file."""
    if stage == "hlo":
        found = sorted((Path(__file__).parents[1] / "tests" / "data" / "hlo").iterdir())
        return {path.name.removesuffix(".gz").removesuffix(".txt"): functools.partial(jv.open, path) for path in found}
    return {name: functools.partial(written, make, folder) for name, make in programs(quick).items()}


def main() -> None:
    arguments = sys.argv[2:]
    quick, of_files = "--quick" in arguments, "--files" in arguments
    stage, most = ("hlo", 40) if "--hlo" in arguments else ("stablehlo" if of_files else "jaxpr", 25)
    chosen = next((one.removeprefix("--only=").split(",") for one in arguments if one.startswith("--only=")), None)
    named = boxes = missed = 0
    print(f"{stage:20} {'equations':>9} {'760x560':>12} {'900x400':>12} {'named':>7}")
    with tempfile.TemporaryDirectory() as folder:
        cases = {name: functools.partial(explored, make) for name, make in programs(quick).items()}
        for name, make in (files(stage, folder, quick) if of_files else cases).items():
            if chosen and name not in chosen:
                continue
            seen = make()
            graph = getattr(seen, stage)
            operations = {graph.tables.strings[op] for op in graph.nodes.op.tolist()}
            equations = int((graph.nodes.kind == 0).sum())
            columns, own = [], 0
            for space in _SPACES:
                view = seen.view(stage=stage, width=space[0], height=space[1])
                readable = is_readable(view, "" if of_files else name, space, most)
                missed += not readable
                columns.append(f"{len(view.closed):>5} {view.zoom:.2f}{' ' if readable else '!'}")
                own = sum(is_named(box, operations) for box in view.closed)
                named, boxes = named + own, boxes + len(view.closed)
            print(
                f"{name:20} {equations:>9,} {columns[0]:>12} {columns[1]:>12} {own / max(1, len(view.closed)):>7.0%}",
                flush=True,
            )
    print(f"\n{missed} views miss the mark (!); {named / max(1, boxes):.1%} of {boxes} boxes are named from the source")


if __name__ == "__main__":
    main()
