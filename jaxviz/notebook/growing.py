"""The output of a cell that grows: the jaxpr is shown once it is traced, the other stages when the compiler is done.

What grows is an exploration or a comparison of two. The front end replaces what it shows by what comes next, and the
picture stays as the person has it by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol
from uuid import uuid4

from jaxviz.document import STAGE_KINDS, Document
from jaxviz.measure.told import kernel_shell, place_left
from jaxviz.notebook.display import mime_bundle


@dataclass(frozen=True)
class Step:
    """What is shown at one time, the same for terminals, the stage shown first, and those that are still to come."""

    document: Document
    text: str
    stage: str
    coming: tuple[str, ...] = ()


class Growing(Protocol):
    """What can be shown before all of it is made."""

    height: int | None
    listed: str

    @property
    def complete(self) -> bool:
        """Whether nothing is to come."""

    def made_until_stopped(self) -> Step | None:
        """After a person stopped what was asked for, and once: what is made. Else None."""

    def growing_steps(self) -> Iterator[Step]:
        """What is shown one after the other, each as soon as it is made; the last is the whole, which may be made."""


_STOPPED = "stopped before JAX and the compiler were done: what was there until then is shown"


def show_growing(growing: Growing) -> bool:
    """Shows something as the result of a cell, step by step; False where a front end cannot replace what it shows.

    It takes the place of a line that told how far a run is.
    """
    __tracebackhide__ = True
    publish = _publisher()
    place = None if publish is None else place_left()
    shown = {"display_id": f"jaxviz-{uuid4().hex}" if place is None else place.display_id}
    if publish is not None and (made := growing.made_until_stopped()) is not None:
        # Who has stopped a cell waits for neither the compiler nor a picture.
        ended = _ended(made, KeyboardInterrupt())
        publish(*_bundle(growing, ended, picture=False), transient=shown, update=place is not None)
        return True
    if publish is None or (growing.complete and place is None):
        return False
    last: Step | None = None
    try:
        for step in growing.growing_steps():
            publish(*_bundle(growing, step), transient=shown, update=place is not None or last is not None)
            last = step
    except BaseException as error:
        if last is not None:
            # What is there stays, and does not promise what will never come.
            publish(*_bundle(growing, _ended(last, error)), transient=shown, update=True)
        if isinstance(error, KeyboardInterrupt) and last is not None:
            # Where jaxviz waited for the compiler says nothing to the person.
            raise KeyboardInterrupt(_STOPPED) from None
        raise
    return True


def _bundle(growing: Growing, step: Step, *, picture: bool = True) -> tuple[Any, Any]:
    return mime_bundle(
        step.document,
        step.text,
        height=growing.height,
        stage=step.stage,
        program=growing.listed,
        coming=step.coming,
        picture=picture,
    )


def _ended(step: Step, error: BaseException) -> Step:
    """What was shown last, of which nothing more comes."""
    reason = "interrupted" if isinstance(error, KeyboardInterrupt) else f"{type(error).__name__}: {error}"
    programs = []
    for program in step.document.programs:
        there = {entry.kind for entry in program.stages}
        absent = {kind: reason for kind in STAGE_KINDS if kind not in there}
        programs.append(replace(program, missing={**absent, **program.missing}))
    return replace(step, document=replace(step.document, programs=tuple(programs)), coming=())


def _publisher() -> Callable[..., None] | None:
    """What tells the front end what to show, where it can be told again: for the result of a cell in a kernel.

    What a person's own code displays may end up in a widget, which keeps the first that it is told.
    """
    shell = kernel_shell()
    # Only while the result of a cell is shown, the hook has a message for it.
    if shell is None or not getattr(shell.displayhook, "msg", None):
        return None
    publish: Callable[..., None] = shell.display_pub.publish
    return publish
