"""`explore`: a function and arguments in, an `Exploration` out, whose stages are made when they are asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

from jaxviz.document import Document, ProgramEntry, StageEntry
from jaxviz.export.svg import Theme, to_svg
from jaxviz.graph import Graph
from jaxviz.program import Program
from jaxviz.read.jaxpr import read_jaxpr
from jaxviz.tables import Tables


@dataclass(frozen=True)
class Box:
    """One box of a first view."""

    name: str
    equations: int
    open: bool


@dataclass(frozen=True)
class FirstView:
    """What would be seen at first in a given space."""

    boxes: tuple[Box, ...]
    zoom: float


class Exploration:
    """What JAX makes of one function with given arguments.

    Shows itself in a notebook. Every stage is made once, when it is first asked for, and timed::

        ex = jv.explore(step, params, x)
        ex.jaxpr                               # a Graph
        ex.document().save("step.jaxviz")
        ex.to_svg()
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        # How the call reads; the magic sets it to what was typed.
        self.call = program.call
        # Height of the cell output in px; None lets the picture decide.
        self.height: int | None = None
        self._tables = Tables()
        self._seconds: dict[str, float] = {}

    @cached_property
    def jaxpr(self) -> Graph:
        """The jaxpr that JAX traces the function to."""
        __tracebackhide__ = True
        jaxpr = self.program.jaxpr
        start = perf_counter()
        graph = read_jaxpr(
            jaxpr,
            self._tables,
            argument_names=self.program.argument_names,
            result_names=self.program.result_names,
        )
        self._seconds["read"] = perf_counter() - start
        return graph

    def document(self) -> Document:
        """All of it as data: what is saved, sent to the browser and reopened."""
        __tracebackhide__ = True
        graph = self.jaxpr
        seconds = {"trace": self.program.seconds["trace"], "read": self._seconds["read"]}
        entry = ProgramEntry(
            name=self.program.name,
            call=self.call,
            file=self._tables.file(self.program.file),
            line=self.program.line,
            stages=(StageEntry(kind="jaxpr", graph=0, seconds=seconds),),
        )
        return Document(tables=self._tables, graphs=(graph,), programs=(entry,))

    def view(self, stage: str = "jaxpr", width: int = 760, height: int = 560) -> FirstView:
        """What would be seen at first of a stage in a space of `width` x `height` px."""
        from jaxviz.export import engine

        if stage != "jaxpr":
            raise ValueError(f"stage {stage!r} is not one of: jaxpr")
        text = engine.call("view", self.document().to_json(packed=False), {"width": width, "height": height})
        seen = json.loads(text)
        boxes = tuple(Box(box["name"], box["equations"], box["open"]) for box in seen["boxes"])
        return FirstView(boxes, seen["zoom"])

    def to_svg(self, *, width: int = 760, height: int = 560, theme: Theme = "light") -> str:
        """The first view as SVG, drawn for a space of `width` x `height` px."""
        return to_svg(self.document(), width=width, height=height, theme=theme)

    def __repr__(self) -> str:
        equations = sum(node.kind == "operation" for node in self.jaxpr)
        regions = len(self.jaxpr.regions.owner) - 1
        parts = [f"{equations} equation{'s' * (equations != 1)}"]
        if regions:
            parts.append(f"{regions} region{'s' * (regions != 1)}")
        return f"<jaxviz {self.call}: {', '.join(parts)}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        from jaxviz.notebook.display import mime_bundle

        return mime_bundle(self.document(), repr(self), height=self.height)


def explore(
    fn: Callable[..., Any], /, *args: Any, static_argnums: int | Sequence[int] = (), **kwargs: Any
) -> Exploration:
    """Explores what JAX makes of `fn(*args, **kwargs)`, without running it.

    Arguments may be arrays, pytrees of arrays, numbers, or `jax.ShapeDtypeStruct` where only the shape is known.
    `fn` may be any callable; a function that is already jitted is taken as it is, with its own options.

    Example::

        jv.explore(lambda x: jnp.sin(x) * 2, jnp.ones(8))
    """
    return Exploration(Program(fn, args, kwargs, static_argnums=static_argnums))


def load(path: str | Path) -> Document:
    """Opens a document that was saved with `ex.document().save(path)`."""
    return Document.load(path)
