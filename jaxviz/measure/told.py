"""What a person is told beside the result: lines that stay, and one that passes."""

from __future__ import annotations

import sys
from typing import Any

#: Metadata of the output of a line that has passed, known to `labextension/src/lab/passed.ts`.
PASSED = {"jaxviz": "passed"}

# The cell in which a line has passed, and its output, until something takes its place.
_left: tuple[str, Any] = ("", None)


def print_line(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class PassingLine:
    """A line that is replaced by the next, and gone once nobody waits: nothing of it stays in a notebook or a terminal.

    A kernel can empty an output, and not take it back: what is shown next in the cell takes its place, and one that
    is left is marked, so that JupyterLab removes it. Where nothing can be taken back, as in a file, each is a line
    that stays.
    """

    def __init__(self) -> None:
        self._shown = False
        self._output: Any = None

    def show(self, text: str) -> None:
        self._shown = True
        self._output = self._output or place_left()
        if self._output is not None:
            self._output.update(_plain(text), raw=True)
        elif kernel_shell() is not None:
            from IPython.display import display

            self._output = display(_plain(text), raw=True, display_id=True)
        elif sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        else:
            print_line(text)

    def end(self) -> None:
        if not self._shown:
            return
        self._shown = False
        if self._output is not None:
            self._output.update({}, raw=True, metadata=PASSED)
            _leave_place(self._output)
            self._output = None
        elif sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def display_in_place(data: dict[str, str]) -> None:
    """Displays something in the place of a line that has passed, where there is one."""
    from IPython.display import display

    place = place_left()
    if place is None:
        display(data, raw=True)
    else:
        place.update(data, raw=True)


def place_left() -> Any:
    """The empty output of a line that has passed in the cell that runs, for what is shown next; given once."""
    global _left
    cell, output = _left
    if output is None or cell != _running_cell():
        return None
    _left = ("", None)
    return output


def _leave_place(output: Any) -> None:
    global _left
    _left = (_running_cell(), output)


def _running_cell() -> str:
    """What tells one execution of a cell from all others; empty outside of a kernel."""
    shell = kernel_shell()
    return str(shell.display_pub.parent_header.get("msg_id", "")) if shell is not None else ""


def _plain(text: str) -> dict[str, str]:
    return {"text/plain": text}


def kernel_shell() -> Any:
    """The shell of a kernel, where a front end shows what is displayed and can be told again; else None."""
    kernels, ipython = sys.modules.get("ipykernel.zmqshell"), sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if kernels is None or not isinstance(getattr(shell, "display_pub", None), kernels.ZMQDisplayPublisher):
        return None
    return shell
