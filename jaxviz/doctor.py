"""What is installed here, and what is in the way of jaxviz."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OLDEST_JAX, NEWEST_JAX = (0, 6), (0, 12)


@dataclass(frozen=True)
class Check:
    """One thing that was looked at; `needed` where jaxviz does not work without it."""

    ok: bool
    text: str
    needed: bool = True


def checks() -> list[Check]:
    """All of them, what matters most first."""
    return list(_checks())


def _checks() -> Iterator[Check]:
    from jaxviz._version import __version__

    yield Check(sys.version_info >= (3, 11), f"Python {sys.version.split()[0]} (3.11 or newer is needed)")
    yield Check(True, f"jaxviz {__version__} in {Path(__file__).parent}")
    yield _other_package()
    yield _jax()
    yield _bundles()
    yield from _front_end()
    for package, what in (
        ("anywidget", "ex.widget()"),
        ("resvg_py", "ex.to_png()"),
        ("networkx", "ex.to_networkx()"),
        ("jupyterlab", "the explorer in notebooks"),
    ):
        there = importlib.util.find_spec(package) is not None
        yield Check(there, f"{package.replace('_', '-')}, for {what}{'' if there else ': not installed'}", False)


def _other_package() -> Check:
    """An unrelated distribution has the name `jaxviz`."""
    try:
        other = importlib.metadata.distribution("jaxviz")
    except importlib.metadata.PackageNotFoundError:
        return Check(True, "no other package of this name is in the way")
    if other.metadata["Name"] and other.metadata["Name"].lower() == "jupyterlab-jaxviz":
        return Check(True, "no other package of this name is in the way")
    return Check(
        False,
        f"another package named jaxviz ({other.version}) is installed and hides this one: "
        "pip uninstall jaxviz, then pip install --force-reinstall jupyterlab-jaxviz",
    )


def _jax() -> Check:
    try:
        version = importlib.metadata.version("jax")
    except importlib.metadata.PackageNotFoundError:
        return Check(False, "JAX is not installed: pip install jax")
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
    fits = OLDEST_JAX <= numbers <= NEWEST_JAX
    return Check(fits, f"JAX {version} (tested with 0.6 to 0.12)", needed=numbers < OLDEST_JAX)


def _bundles() -> Check:
    folder = Path(__file__).parent / "static"
    missing = [name for name in ("headless.js", "page.js", "widget.js", "worker.js") if not (folder / name).exists()]
    if missing:
        return Check(
            False, f"static/{missing[0]} is missing: this copy was never built; run pip install . in its folder"
        )
    return Check(True, "pictures and pages can be drawn")


def _front_end() -> Iterator[Check]:
    """Whether a Jupyter of this environment has the extension, and has not disabled it."""
    name = "jupyterlab-jaxviz"
    places = [Path(sys.prefix) / "share" / "jupyter" / "labextensions" / name]
    try:
        from jupyter_core.paths import jupyter_path  # type: ignore[import-not-found, unused-ignore]

        places += [Path(place) / name for place in jupyter_path("labextensions")]
    except ImportError:
        yield Check(False, "no Jupyter here: where notebooks run elsewhere, install jupyterlab-jaxviz there too", False)
        return
    there = next((place for place in places if (place / "package.json").exists()), None)
    if there is None:
        yield Check(False, "the extension of JupyterLab is not installed: pip install jupyterlab-jaxviz")
        return
    version = json.loads((there / "package.json").read_text("utf-8")).get("version", "?")
    yield Check(True, f"the extension of JupyterLab, {version}, in {there}")
