"""The drawing code of the browser, run inside Python.

Layout and SVG are written once, in TypeScript. `static/headless.js` is that code as one script; an embedded JavaScript
engine runs it, without a browser or Node. An engine belongs to the thread that made it, so each thread has its own.
"""

from __future__ import annotations

import json
import threading
from importlib import resources
from typing import Any

import quickjs

_BUNDLE = "headless.js"
# Bytes. The default of 256 kB is too little for programs that nest hundreds of regions deep.
_STACK = 4 * 1024 * 1024

_threads = threading.local()


class DrawingError(RuntimeError):
    """The drawing code could not be run, or refused the document."""


def call(function: str, document: dict[str, Any], options: dict[str, Any]) -> str:
    """Calls a function of the bundle with a plain document and options, and gives its text back."""
    context = _context()
    context.set("documentText", json.dumps(document, separators=(",", ":")))
    context.set("optionsText", json.dumps(options))
    try:
        result = context.eval(f"jaxviz.{function}(documentText, optionsText)")
    except quickjs.JSException as error:
        raise DrawingError(str(error).splitlines()[0]) from None
    finally:
        context.set("documentText", "")
    if not isinstance(result, str):
        raise DrawingError(f"{function} gave {type(result).__name__}, expected text")
    return result


def _context() -> quickjs.Context:
    context: quickjs.Context | None = getattr(_threads, "context", None)
    if context is None:
        source = resources.files("jaxviz").joinpath("static", _BUNDLE)
        try:
            text = source.read_text("utf-8")
        except FileNotFoundError:
            raise DrawingError(
                f"jaxviz/static/{_BUNDLE} is missing: this copy of jaxviz was never built; run pip install . there"
            ) from None
        context = quickjs.Context()
        context.set_max_stack_size(_STACK)
        context.eval(text)
        _threads.context = context
    return context
