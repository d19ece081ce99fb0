"""Environments of their own for tests: another JAX, another Python, the plugins of devices."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# What the tests outside the browser need, JAX apart.
PACKAGES = ("numpy", "ipython", "quickjs-ng", "pytest", "pytest-timeout", "hypothesis", "jsonschema", "optax", "flax")


def make_environment(venv: Path, python: str, packages: tuple[str, ...], what: str) -> None:
    """Makes an environment with these packages, unless it is there already."""
    stamp = venv / "packages.stamp"
    wanted = hashlib.sha256(f"{python}\0{packages}".encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"jaxviz: environment with {what}", flush=True)
    shutil.rmtree(venv, ignore_errors=True)
    subprocess.run([python, "-m", "venv", "--without-pip", venv], check=True)
    install(venv, packages)
    stamp.write_text(wanted)


def install(venv: Path, packages: tuple[str, ...]) -> None:
    """By the pip of this environment, which serves the others too: a Python may come without its own."""
    pip = [sys.executable, "-m", "pip", "--python", venv / "bin" / "python", "--disable-pip-version-check"]
    subprocess.run([*pip, "--quiet", "install", *packages], check=True)
