"""Runs the tests of targets where JAX has the plugins for devices that are not there, in an environment of its own.

The plugins are those that jaxviz names where one is missing, so what it tells people to install is what is tested.
`JAX` in the environment may name another JAX: `JAX='jax==0.9.*' make test-targets`.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv-targets"
PYTHON = VENV / "bin" / "python"
PACKAGES = ("numpy", "ipython", "quickjs-ng", "pytest", "pytest-timeout", "optax", "flax")
KINDS = ("cuda", "tpu")
NAME_PLUGINS = (
    f"from jaxviz.targets.plugins import requirements; print(*(' '.join(requirements(kind)) for kind in {KINDS}))"
)


def main(arguments: list[str]) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    jax = os.environ.get("JAX") or f"jax=={installed_jax()}"
    stamp = VENV / "targets.stamp"
    wanted = hashlib.sha256(f"{sys.version}\0{jax}\0{PACKAGES}".encode()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"jaxviz: environment with {jax} and its plugins", flush=True)
        make_environment(jax, environment)
        stamp.write_text(wanted)
    command = [PYTHON, "-m", "pytest", "tests/test_targets.py", "-rsP", *arguments]
    sys.exit(subprocess.run(command, cwd=ROOT, env=environment).returncode)


def make_environment(jax: str, environment: dict[str, str]) -> None:
    shutil.rmtree(VENV, ignore_errors=True)
    # This environment's pip serves the other one too: a Python from a distribution may come without its own.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", VENV], check=True)
    install(jax, *PACKAGES)
    named = subprocess.run(
        [PYTHON, "-c", NAME_PLUGINS], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    install(*shlex.split(named.stdout))


def install(*packages: str) -> None:
    pip = [sys.executable, "-m", "pip", "--python", PYTHON, "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "install", *packages], check=True)


def installed_jax() -> str:
    """The version in the environment of the other tests."""
    from importlib.metadata import version

    return version("jax")


if __name__ == "__main__":
    main(sys.argv[1:])
