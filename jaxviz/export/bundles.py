"""The bundles of the browser side that go with the package: scripts and styles, as text."""

from __future__ import annotations

from functools import cache
from importlib import resources


class BundleError(RuntimeError):
    """A bundle is not there."""


@cache
def bundle(name: str) -> str:
    """The text of `static/NAME`."""
    try:
        return resources.files("jaxviz").joinpath("static", name).read_text("utf-8")
    except FileNotFoundError:
        raise BundleError(
            f"jaxviz/static/{name} is missing: this copy of jaxviz was never built; run pip install . there"
        ) from None
