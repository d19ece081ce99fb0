"""The line between a kernel and the side panel: a comm, which the kernel opens with `%load_ext jaxviz`.

A page that was loaded again finds the comm by its target and asks for the list. Messages may come in a thread of their
own, so nothing here relies on the main one.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jaxviz.notebook.asked import beside, rebuild, run

if TYPE_CHECKING:
    from jaxviz.notebook.session import Session

TARGET = "jaxviz"


def connect(session: Session) -> None:
    """Has a session tell the front ends of its changes, where there are any: in a kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if getattr(shell, "kernel", None) is not None:
        session.told = Channel(session).tell


class Channel:
    """Tells front ends of changes, and answers what they ask."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._comm: Any = None
        # One document at a time: JAX traces and compiles for it.
        self._making = threading.Lock()

    def tell(self, message: dict[str, Any]) -> None:
        """Sends to all front ends that are there. What cannot be sent is lost, and asked for later."""
        try:
            if self._comm is None:
                from comm import create_comm

                self._comm = create_comm(target_name=TARGET, data=self._list())
                self._comm.on_msg(self._hear)
                self._comm.on_close(self._closed)
            else:
                self._comm.send(message)
        except Exception as error:
            # The person's cell must not fail because nobody listens.
            print(f"jaxviz: the side panel cannot be told: {error}", file=sys.stderr)
            self._session.told = None

    def _closed(self, message: Any = None) -> None:
        """A front end without the extension closes what it does not know: it is opened again with the next program."""
        self._comm = None

    def _list(self) -> dict[str, Any]:
        session = self._session
        return {
            "type": "list",
            "session": session.key,
            "programs": session.summaries(),
            "dropped": session.dropped,
        }

    def _hear(self, message: Any) -> None:
        asked = message.get("content", {}).get("data", {})
        comm = self._comm
        if not isinstance(asked, dict) or comm is None:
            return
        request = asked.get("request", "")
        answer: dict[str, Any] = {}
        try:
            answer = self._answer(
                asked, lambda words: comm.send({"type": "progress", "words": words, "request": request})
            )
        except KeyboardInterrupt:
            # The person has stopped what was asked for; what the kernel has stays as it was.
            answer = {"type": "error", "error": "stopped", "stopped": True}
        except KeyError:
            answer = {"type": "error", "error": "This program is no longer on the list of the kernel."}
        except Exception as error:
            answer = {"type": "error", "error": _words(error)}
        if answer:
            comm.send({**answer, "request": request})

    def _answer(self, asked: dict[str, Any], told: Callable[[str], None]) -> dict[str, Any]:
        kind, session = asked.get("type"), self._session
        if kind == "list":
            return self._list()
        if kind == "open":
            with self._making:
                document = session.document(asked["id"]).to_json()
                return {"type": "document", "id": asked["id"], "document": document}
        if kind in ("run", "rebuild", "beside"):
            # Heard as soon as no cell keeps the kernel busy: from then on an interrupt stops this and nothing else.
            told("starting")
            with self._making:
                if kind == "run":
                    return run(session, asked["id"], told)
                return (rebuild if kind == "rebuild" else beside)(session, asked["id"], int(asked["loop"]), told)
        if kind == "compare":
            with self._making:
                return {"type": "document", "id": "", "document": session.compared(*asked["ids"]).to_json()}
        if kind == "rename":
            session.rename(asked["id"], asked["label"])
        elif kind == "pin":
            session.pin(asked["id"], bool(asked["pinned"]))
        elif kind == "delete":
            session.delete(asked["id"])
        elif kind == "clear":
            session.clear()
        elif kind == "listen":
            session.listen(bool(asked["on"]))
            if not asked["on"] and self._comm is not None:
                # Another page may go on looking: then it asks for it again.
                self._comm.send({"type": "unlistened"})
        else:
            return {"type": "error", "error": f"unknown question {kind!r}"}
        return {"type": "done"}


def _words(error: Exception) -> str:
    """An error in one line; those that are made to be read say what they are themselves."""
    from jaxviz.measure.errors import RunError

    first = (str(error).strip().splitlines() or [""])[0]
    return first if isinstance(error, RunError) and first else f"{type(error).__name__}: {first}"
