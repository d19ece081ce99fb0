"""What compiling a program cost, by the schema of a document, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxviz.document.model import CompilingEntry, ProgramEntry
from jaxviz.document.rows import columns_of, rows_of, short

if TYPE_CHECKING:
    from jaxviz.document.read import JsonReader

# Of the passes and lines, so many are kept: those that cost most.
_MOST_PASSES, _MOST_LINES = 40, 20


def compiling_json(entry: CompilingEntry) -> dict[str, Any]:
    """The timeline of one program, and what its parts cost."""
    cost = entry.cost
    curve = cost.curve
    return {
        "program": entry.program,
        "words": list(cost.lines()),
        "steps": columns_of(cost.steps, ("name", "kind", "start", "seconds", "parent")),
        "passes": columns_of(cost.passes[:_MOST_PASSES], ("name", "seconds", "runs")),
        "functions": columns_of(
            cost.functions, ("name", "file", "line", "calls", "equations", "trace", "lower", "compile")
        ),
        "lines": columns_of(cost.traced[:_MOST_LINES], ("file", "line", "seconds")),
        **({"curve": _curve_json(curve)} if curve is not None else {}),
    }


def _curve_json(curve: Any) -> dict[str, Any]:
    def run(cost: Any) -> float:
        return -1 if cost is None or cost.run is None else short(cost.run)

    return {
        "name": curve.name,
        "own": curve.own,
        "turns": [point.turns for point in curve.points],
        "loop": [short(point.loop.ready) for point in curve.points],
        "loopRun": [run(point.loop) for point in curve.points],
        "unrolled": [-1 if point.unrolled is None else short(point.unrolled.ready) for point in curve.points],
        "unrolledRun": [run(point.unrolled) for point in curve.points],
    }


def read_compiling(reader: JsonReader, value: Any, position: str, programs: tuple[ProgramEntry, ...]) -> CompilingEntry:
    """What compiling one program cost, each thing checked as it is taken."""
    from jaxviz.measure.compiling import CompileCost, LineCost, PassCost, Step
    from jaxviz.measure.functions import FunctionCost

    if not isinstance(value, dict):
        raise reader.fail(position, "an object")
    words = reader.list(value, "words", position)
    if any(not isinstance(text, str) for text in words):
        raise reader.fail(f"{position}.words", "strings")
    steps = [Step(**row) for row in rows_of(reader, value, "steps", position, Step._fields)]
    for number, step in enumerate(steps):
        if step.parent >= number:
            raise reader.fail(f"{position}.steps.parent[{number}]", "an earlier row, or -1")
        if step.kind not in ("trace", "lower", "compile", "optimize", "generate", "part"):
            raise reader.fail(f"{position}.steps.kind[{number}]", "a kind of step")
    fields = tuple(FunctionCost.__dataclass_fields__)
    return CompilingEntry(
        reader.number(value, "program", position, 0, len(programs)),
        CompileCost(
            tuple(steps),
            tuple(PassCost(**row) for row in rows_of(reader, value, "passes", position, PassCost._fields)),
            tuple(FunctionCost(**row) for row in rows_of(reader, value, "functions", position, fields)),
            tuple(LineCost(**row) for row in rows_of(reader, value, "lines", position, LineCost._fields)),
            curve=_read_curve(reader, value["curve"], f"{position}.curve") if "curve" in value else None,
            words=tuple(words),
        ),
    )


def _read_curve(reader: JsonReader, value: Any, position: str) -> Any:
    from jaxviz.loops.cost import Cost
    from jaxviz.loops.curve import Curve, Point

    if not isinstance(value, dict):
        raise reader.fail(position, "an object")
    turns = reader.list(value, "turns", position)
    columns = {name: reader.list(value, name, position) for name in ("loop", "loopRun", "unrolled", "unrolledRun")}
    for name, column in {"turns": turns, **columns}.items():
        if len(column) != len(turns):
            raise reader.fail(f"{position}.{name}", f"{len(turns)} numbers")
        for number, item in enumerate(column):
            if type(item) not in ((int,) if name == "turns" else (int, float)) or not -1 <= item < float("inf"):
                raise reader.fail(f"{position}.{name}[{number}]", "a number, at least -1")

    def cost(ready: float, run: float) -> Cost:
        return Cost(0, ready, None, None if run < 0 else run)

    points = [
        Point(
            count,
            cost(columns["loop"][row], columns["loopRun"][row]),
            None if columns["unrolled"][row] < 0 else cost(columns["unrolled"][row], columns["unrolledRun"][row]),
        )
        for row, count in enumerate(turns)
    ]
    return Curve(reader.text(value, "name", position), reader.number(value, "own", position, 0, None), tuple(points))
