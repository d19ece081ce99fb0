"""Runs the tests marked `smoke` on the oldest and the newest JAX that jaxviz supports, each in its own environment.

JAX 0.6 has no wheels for Python 3.14, the newest JAX none for 3.11: where no Python fits, that is said and left out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from environments import PACKAGES, ROOT, make_environment

# Name of the environment, JAX, and the Pythons that fit, best first.
ENVIRONMENTS = (
    ("oldest", "jax==0.6.*", ("3.11", "3.12", "3.13")),
    ("newest", "jax", ("3.13", "3.12", "3.14")),
)


def main() -> None:
    # Beside each other: each is one process for the most part.
    with ThreadPoolExecutor(len(ENVIRONMENTS)) as pool:
        passed = list(pool.map(lambda one: smoke(*one), ENVIRONMENTS))
    sys.exit(0 if all(passed) else 1)


def smoke(name: str, jax: str, versions: tuple[str, ...]) -> bool:
    """Makes the environment if need be, runs the tests in it, and prints what they said."""
    python = find_python(versions)
    if python is None:
        print(f"jaxviz: no Python {' or '.join(versions)} was found: {name} JAX is not tested", flush=True)
        return True
    venv = ROOT / f".venv-{name}"
    make_environment(venv, python, (jax, *PACKAGES), f"{name} JAX")
    executable = venv / "bin" / "python"
    said = subprocess.run(
        [executable, "-c", "import jax, sys; print(jax.__version__, 'on Python', sys.version.split()[0])"],
        capture_output=True,
        text=True,
    )
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
        "--ignore=tests/test_readme.py",
    ]
    ran = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    print(f"jaxviz: smoke tests on JAX {said.stdout.strip()}\n{ran.stdout}", flush=True)
    return ran.returncode == 0


def find_python(versions: tuple[str, ...]) -> str | None:
    """The first of these versions that is here: this Python, one of pyenv's, or one on the path."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in versions:
        if version == f"{sys.version_info.major}.{sys.version_info.minor}":
            return sys.executable
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
