"""The output of a cell that grows: the jaxpr is shown once it is traced, the other stages when the compiler is done.

The front end replaces what it shows by what comes next, and the picture stays as the person has it by then.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from jaxviz.document import STAGE_KINDS, Document
from jaxviz.notebook.display import mime_bundle

if TYPE_CHECKING:
    from jaxviz.exploration import Exploration

#: What is shown, and the stages that are still to come.
Step = tuple[Document, tuple[str, ...]]

_STOPPED = "stopped before JAX and the compiler were done: what was there until then is shown"


def show_growing(exploration: Exploration) -> bool:
    """Shows a program as the result of a cell, step by step; False where a front end cannot replace what it shows."""
    __tracebackhide__ = True
    publish = _publisher()
    if publish is None or exploration.complete:
        return False
    shown = {"display_id": f"jaxviz-{uuid4().hex}"}
    last: Document | None = None
    try:
        for document, coming in growing_steps(exploration):
            publish(*_bundle(exploration, document, coming), transient=shown, update=last is not None)
            last = document
    except BaseException as error:
        if last is not None:
            # What is there stays, and does not promise what will never come.
            publish(*_bundle(exploration, _ended(last, error)), transient=shown, update=True)
        if isinstance(error, KeyboardInterrupt) and last is not None:
            # Where jaxviz waited for the compiler says nothing to the person.
            raise KeyboardInterrupt(_STOPPED) from None
        raise
    return True


def _bundle(exploration: Exploration, document: Document, coming: Sequence[str] = ()) -> tuple[Any, Any]:
    height, stage, program = exploration.height, exploration.stage, exploration.listed
    return mime_bundle(document, repr(exploration), height=height, stage=stage, program=program, coming=coming)


def growing_steps(exploration: Exploration) -> Iterator[Step]:
    """What is shown of a program one after the other, each as soon as it is made."""
    passes = ("passes",) if exploration.with_passes else ()
    yield exploration.part(stages=()), (*STAGE_KINDS[1:], *passes)
    yield exploration.part(stages=STAGE_KINDS), ("fates", *passes)
    yield exploration.document(), ()


def _ended(document: Document, error: BaseException) -> Document:
    """A document of which nothing more comes."""
    reason = "interrupted" if isinstance(error, KeyboardInterrupt) else f"{type(error).__name__}: {error}"
    (program,) = document.programs
    there = {entry.kind for entry in program.stages}
    missing = {**{kind: reason for kind in STAGE_KINDS if kind not in there}, **program.missing}
    return replace(document, programs=(replace(program, missing=missing),))


def _publisher() -> Callable[..., None] | None:
    """What tells the front end what to show, where it can be told again: for the result of a cell in a kernel.

    What a person's own code displays may end up in a widget, which keeps the first that it is told.
    """
    kernels, ipython = sys.modules.get("ipykernel.zmqshell"), sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if kernels is None or shell is None:
        return None
    # Only while the result of a cell is shown, the hook has a message for it.
    if not isinstance(shell.display_pub, kernels.ZMQDisplayPublisher) or not getattr(shell.displayhook, "msg", None):
        return None
    publish: Callable[..., None] = shell.display_pub.publish
    return publish
