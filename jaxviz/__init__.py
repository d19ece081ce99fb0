"""See what JAX makes of your function, as one picture that can be explored.

In a notebook::

    %load_ext jaxviz
    %jaxviz step(params, x)

In Python::

    import jaxviz as jv

    ex = jv.explore(step, params, x)
    ex.jaxpr
    ex.document().save("step.jaxviz")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from jaxviz._version import __version__

if TYPE_CHECKING:
    from jaxviz import testing
    from jaxviz.comparison import Comparison, compare
    from jaxviz.document import Document, DocumentError, load
    from jaxviz.exploration import Exploration, explore, rebuild
    from jaxviz.graph import Graph
    from jaxviz.listening.recorder import recording
    from jaxviz.listening.watching import watch
    from jaxviz.measure.errors import RunError
    from jaxviz.notebook.session import session
    from jaxviz.opening import open
    from jaxviz.opening.contents import OpenError

__all__ = [
    "Comparison",
    "Document",
    "DocumentError",
    "Exploration",
    "Graph",
    "OpenError",
    "RunError",
    "__version__",
    "compare",
    "explore",
    "load",
    "open",
    "rebuild",
    "recording",
    "session",
    "testing",
    "watch",
]

# Where the public names come from. They are imported when they are first asked for, so that a script that imports
# jaxviz for one of them, or a notebook that only loads the extension, does not wait for the rest.
_HOMES = {
    "Comparison": "comparison",
    "Document": "document",
    "DocumentError": "document",
    "Exploration": "exploration",
    "Graph": "graph",
    "OpenError": "opening.contents",
    "RunError": "measure.errors",
    "compare": "comparison",
    "explore": "exploration",
    "load": "document",
    "open": "opening",
    "rebuild": "exploration",
    "recording": "listening.recorder",
    "session": "notebook.session",
    "watch": "listening.watching",
}


def __getattr__(name: str) -> Any:
    if name == "testing":
        return import_module("jaxviz.testing")
    if name not in _HOMES:
        raise AttributeError(f"module 'jaxviz' has no attribute {name!r}")
    value = getattr(import_module(f"jaxviz.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: Any) -> None:
    """Registers the magics: `%load_ext jaxviz`."""
    from jaxviz.notebook.magic import JaxvizMagics
    from jaxviz.notebook.session import announce

    shell.register_magics(JaxvizMagics)
    announce()


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "jupyterlab-jaxviz"}]
