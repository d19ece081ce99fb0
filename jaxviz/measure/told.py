"""What a person is told beside the result: lines that stay, and one that passes."""

from __future__ import annotations

import sys
from typing import Any


def print_line(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class PassingLine:
    """A line that is replaced by the next, and gone once nobody waits: nothing of it stays in a notebook or a terminal.

    Where nothing can be taken back, as in a file, each is a line that stays.
    """

    def __init__(self) -> None:
        self._shown = False
        self._output: Any = None

    def show(self, text: str) -> None:
        self._shown = True
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
            self._output.update({}, raw=True)
        elif sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _plain(text: str) -> dict[str, str]:
    return {"text/plain": text}


def kernel_shell() -> Any:
    """The shell of a kernel, where a front end shows what is displayed and can be told again; else None."""
    kernels, ipython = sys.modules.get("ipykernel.zmqshell"), sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if kernels is None or not isinstance(getattr(shell, "display_pub", None), kernels.ZMQDisplayPublisher):
        return None
    return shell
