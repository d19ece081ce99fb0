"""`compare`: two programs, or one for two targets, matched and side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxviz.differences import Differences, differences
from jaxviz.document import STAGE_KINDS, Document, LinksEntry, ProgramEntry
from jaxviz.exploration import Exploration
from jaxviz.export.svg import Opened, Theme, to_svg
from jaxviz.export.written import written_text
from jaxviz.link.links import Links, link_shares
from jaxviz.shown import ShownGrowing

if TYPE_CHECKING:
    from jaxviz.link.side import Seen
    from jaxviz.notebook.growing import Step

#: What can be compared: an exploration, a document, or the path of a file.
Comparable = Exploration | Document | str | Path


class Comparison(ShownGrowing):
    """Two programs side by side. Shows itself in a notebook, with what differs marked::

    jv.compare(jv.explore(unrolled, x), jv.explore(looped, x))
    jv.compare(jv.explore(step, x), jv.explore(step, x, target="cuda:h100"))
    """

    def __init__(self, a: Comparable, b: Comparable) -> None:
        self._sides = (_opened(a), _opened(b))
        self._files = [_file_of(side) for side in (a, b)]
        # The jaxprs are the same in all that is shown while the compiler works.
        self._matched_jaxprs: Links | None = None
        # Height of the cell output in px; None lets the picture decide.
        self.height: int | None = None
        # A comparison is not on the list of the kernel.
        self.listed = ""
        # The stage that is shown first; None for the first that differs.
        self.stage: str | None = None

    @cached_property
    def _joined(self) -> Document:
        return self._matched([_whole(side) for side in self._sides])

    def _matched(self, documents: Sequence[Document]) -> Document:
        """Two documents as one, each stage that both have matched with its like."""
        from jaxviz.join import joined
        from jaxviz.link.matching import match

        whole = joined([document.of_program(0) for document in documents])
        whole = replace(whole, programs=_told_apart(whole.programs, self._files))
        links: dict[str, LinksEntry] = {}
        for stage in _stages_of_both(whole):
            start, end = (_graph_number(whole, program, stage) for program in (0, 1))
            if stage == "jaxpr" and self._matched_jaxprs is not None:
                found = self._matched_jaxprs
            else:
                jaxprs = links.get("jaxpr")
                found = match(_seen(whole, start), _seen(whole, end), jaxprs.links if jaxprs else None)
            if stage == "jaxpr":
                self._matched_jaxprs = found
            links[stage] = LinksEntry(start, end, found, link_shares(whole.graphs[end], found))
        return replace(whole, links=(*whole.links, *links.values()))

    @cached_property
    def stages(self) -> tuple[str, ...]:
        """The stages that both programs have."""
        return _stages_of_both(self._joined)

    @cached_property
    def differences(self) -> Mapping[str, Differences]:
        """What differs, by stage."""
        return _all_differences(self._joined)

    def document(self) -> Document:
        """Both programs as data, their stages linked with each other."""
        return self._joined

    @property
    def first_stage(self) -> str:
        """The stage that is shown first."""
        return self._first_stage(self._joined, self.differences)

    def _first_stage(self, whole: Document, differences: Mapping[str, Differences]) -> str:
        stages = _stages_of_both(whole)
        differing = (stage for stage in stages if differences[stage])
        return self.stage or next(differing, stages[0] if stages else "jaxpr")

    @property
    def complete(self) -> bool:
        """Whether all that `document` needs of the compiler is there."""
        return all(not isinstance(side, Exploration) or side.complete for side in self._sides)

    def made_until_stopped(self) -> Step | None:
        """Nothing: a comparison makes nothing that could be stopped before it is shown."""
        return None

    def growing_steps(self) -> Iterator[Step]:
        """What is shown one after the other while JAX and the compiler work: the jaxprs side by side come first."""
        from jaxviz.notebook.growing import Step

        unfinished = () if self.complete else (((), STAGE_KINDS[1:]), (STAGE_KINDS, ("fates",)))
        for stages, coming in unfinished:
            parts = [side.part(stages=stages) if isinstance(side, Exploration) else side for side in self._sides]
            whole = self._matched(parts)
            differences = _all_differences(whole)
            yield Step(whole, _in_words(whole, differences), self._first_stage(whole, differences), coming)
        yield Step(self.document(), repr(self), self.first_stage)

    def to_svg(
        self,
        path: str | Path | None = None,
        *,
        stage: str | None = None,
        width: int = 760,
        height: int = 560,
        theme: Theme = "light",
        open: Opened = "first",
    ) -> str:
        """The first view of the first program as SVG; written to `path` where one is given."""
        whole = self._joined
        number = _graph_number(whole, 0, stage or self.first_stage)
        return written_text(path, to_svg(whole.of_stage(number), width=width, height=height, theme=theme, open=open))

    def to_html(self, path: str | Path | None = None, *, stage: str | None = None) -> str:
        """Both programs as one page that opens from a disk; written to `path` where one is given."""
        from jaxviz.export.html import to_html

        title = " ↔ ".join(program.call for program in self._joined.programs)
        return written_text(path, to_html(self.document(), title=title, stage=stage or self.first_stage))

    def __repr__(self) -> str:
        return _in_words(self._joined, self.differences)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        from jaxviz.notebook.display import mime_bundle

        return mime_bundle(self._joined, repr(self), height=self.height, stage=self.first_stage)


def compare(a: Comparable, b: Comparable) -> Comparison:
    """Puts two programs side by side, matched operation by operation: what was added, removed and changed.

    Each may be an exploration, what was opened, a document or the path of a saved one. The same function for two
    targets is compared like any two programs.

    Example::

        found = jv.compare(jv.explore(before, x), jv.explore(after, x))
        found.differences["jaxpr"].only_b
    """
    return Comparison(a, b)


def _opened(program: Comparable) -> Exploration | Document:
    if isinstance(program, (Document, Exploration)):
        return program
    if isinstance(program, (str, Path)):
        from jaxviz.opening import open as open_path

        return open_path(program).document()
    raise TypeError(
        f"expected two explorations, documents or paths to compare, but got {type(program).__name__}: "
        "write jv.compare(jv.explore(f, x), jv.explore(g, x))"
    )


def _file_of(program: Comparable) -> Path | None:
    """The file or folder that a program is from; None for one that was explored."""
    return Path(program) if isinstance(program, (str, Path)) else getattr(program, "path", None)


def _told_apart(programs: tuple[ProgramEntry, ...], files: Sequence[Path | None]) -> tuple[ProgramEntry, ...]:
    """Programs that are called the same, each with what the path of its file has other than that of the other."""
    if len({(program.call, program.target) for program in programs}) > 1 or None in files:
        return programs
    parts = zip(*(reversed(Path(file).absolute().parts) for file in files if file), strict=False)
    others = next((pair for pair in parts if len(set(pair)) > 1), None)
    if others is None:
        return programs
    return tuple(
        replace(program, call=f"{program.call or program.name}, {part}")
        for program, part in zip(programs, others, strict=True)
    )


def _whole(side: Exploration | Document) -> Document:
    return side if isinstance(side, Document) else side.document(passes=False)


def _stages_of_both(whole: Document) -> tuple[str, ...]:
    one, other = ({stage.kind for stage in program.stages} for program in whole.programs)
    return tuple(kind for kind in STAGE_KINDS if kind in one & other)


def _graph_number(document: Document, program: int, stage: str) -> int:
    return next(entry.graph for entry in document.programs[program].stages if entry.kind == stage)


def _seen(document: Document, graph: int) -> Seen:
    from jaxviz.link.side import Seen

    outline = next((entry.outline for entry in document.outlines if entry.graph == graph), None)
    origins = next((entry.links for entry in document.links if entry.end == graph), None)
    return Seen(document.graphs[graph], outline, origins)


def _in_words(whole: Document, differences: Mapping[str, Differences]) -> str:
    a, b = (program.call or program.name for program in whole.programs)
    return "\n".join([f"<jaxviz {a} beside {b}>", *(str(each) for each in differences.values())])


def _all_differences(whole: Document) -> dict[str, Differences]:
    """What differs between the two programs of a document, by stage."""
    found = {}
    for stage in _stages_of_both(whole):
        start, end = (_graph_number(whole, program, stage) for program in (0, 1))
        links = next(entry.links for entry in whole.links if (entry.start, entry.end) == (start, end))
        found[stage] = differences(stage, _seen(whole, start), _seen(whole, end), links)
    return found
