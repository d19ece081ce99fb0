"""Runs the tests marked `smoke` on the oldest and the newest JAX that jaxviz supports, each in its own environment.

The oldest runs on this Python. The newest needs Python 3.12 or later: where none is found, that is said and left out.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("numpy", "ipython", "quickjs-ng", "pytest", "hypothesis", "jsonschema", "optax", "flax")
NEWER_PYTHONS = ("3.13", "3.12", "3.14")


def main() -> None:
    failed = not smoke("oldest", sys.executable, "jax==0.6.*")
    newer = newer_python()
    if newer is None:
        print("jaxviz: no Python 3.12 or newer was found, so the newest JAX is not tested", flush=True)
    else:
        failed |= not smoke("newest", newer, "jax")
    sys.exit(1 if failed else 0)


def smoke(name: str, python: str, jax: str) -> bool:
    """Makes the environment if need be and runs the tests in it."""
    venv = ROOT / f".venv-{name}"
    wanted = hashlib.sha256(f"{python}\0{jax}\0{PACKAGES}".encode()).hexdigest()
    stamp = venv / "smoke.stamp"
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"jaxviz: environment with {name} JAX", flush=True)
        shutil.rmtree(venv, ignore_errors=True)
        subprocess.run([python, "-m", "venv", venv], check=True)
        pip = [venv / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
        subprocess.run([*pip, jax, *PACKAGES], check=True)
        stamp.write_text(wanted)
    executable = venv / "bin" / "python"
    said = subprocess.run(
        [executable, "-c", "import jax, sys; print(jax.__version__, 'on Python', sys.version.split()[0])"],
        capture_output=True,
        text=True,
    )
    print(f"jaxviz: smoke tests on JAX {said.stdout.strip()}", flush=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    command = [
        executable,
        "-m",
        "pytest",
        "-m",
        "smoke",
        "tests",
        "--ignore=tests/browser",
        "--ignore=tests/test_examples.py",
    ]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode == 0


def newer_python() -> str | None:
    """A Python that the newest JAX runs on: this one, one on the path, or one of pyenv's."""
    if sys.version_info >= (3, 12):
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in NEWER_PYTHONS:
        candidates = sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)
        if found := shutil.which(f"python{version}"):
            candidates.append(Path(found))
        for candidate in candidates:
            # pyenv puts a stand-in on the path for versions that are not active; it runs nothing.
            if subprocess.run([candidate, "-c", "import venv"], capture_output=True).returncode == 0:
                return str(candidate)
    return None


if __name__ == "__main__":
    main()
