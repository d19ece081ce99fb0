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

from typing import Any

from jaxviz._version import __version__
from jaxviz.compare import Comparison, compare
from jaxviz.document import Document, DocumentError
from jaxviz.explore import Exploration, explore, load, rebuild
from jaxviz.graph import Graph
from jaxviz.measure.errors import RunError
from jaxviz.notebook.session import session
from jaxviz.opening import open
from jaxviz.opening.contents import OpenError
from jaxviz.recorder import recording
from jaxviz.watching import watch

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
    "watch",
]


def __getattr__(name: str) -> Any:
    # Not everybody writes tests: this is imported when it is asked for.
    if name == "testing":
        import jaxviz.testing

        return jaxviz.testing
    raise AttributeError(f"module 'jaxviz' has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """Registers the magics: `%load_ext jaxviz`."""
    from jaxviz.notebook.magic import JaxvizMagics

    shell.register_magics(JaxvizMagics)


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "jupyterlab-jaxviz"}]
