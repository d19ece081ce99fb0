"""Runs the tests of targets where JAX has the plugins for devices that are not there, in an environment of its own.

The plugins are those that jaxviz names where one is missing, so what it tells people to install is what is tested.
`JAX` in the environment may name another JAX: `JAX='jax==0.9.*' make test-targets`.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

from environments import PACKAGES, ROOT, install, make_environment

VENV = ROOT / ".venv-targets"
PYTHON = VENV / "bin" / "python"
KINDS = ("cuda", "tpu")
NAME_PLUGINS = (
    f"from jaxviz.targets.plugins import requirements; print(*(' '.join(requirements(kind)) for kind in {KINDS}))"
)


def main(arguments: list[str]) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    jax = os.environ.get("JAX") or f"jax=={installed_jax()}"
    make_environment(VENV, sys.executable, (jax, *PACKAGES), f"{jax}, for its plugins")
    plugins = subprocess.check_output([PYTHON, "-c", NAME_PLUGINS], cwd=ROOT, env=environment, text=True)
    install(VENV, tuple(shlex.split(plugins)))
    command = [PYTHON, "-m", "pytest", "tests/test_targets.py", "-rsP", *arguments]
    sys.exit(subprocess.run(command, cwd=ROOT, env=environment).returncode)


def installed_jax() -> str:
    """The version in the environment of the other tests."""
    from importlib.metadata import version

    return version("jax")


if __name__ == "__main__":
    main(sys.argv[1:])
