"""Runs the browser tests marked `oldest_lab` on the oldest JupyterLab and Notebook that jaxviz supports.

The server has an environment of its own, with the extension as it was built; its kernel is that of `.venv`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from environments import ROOT, make_environment

PACKAGES = ("jupyterlab==4.2.*", "notebook==7.2.*", "ipykernel")
VENV = ROOT / ".venv-oldest-lab"


def main() -> None:
    make_environment(VENV, sys.executable, PACKAGES, "the oldest JupyterLab")
    share = VENV / "share" / "jupyter"
    extension = share / "labextensions" / "jupyterlab-jaxviz"
    extension.parent.mkdir(parents=True, exist_ok=True)
    extension.unlink(missing_ok=True)
    extension.symlink_to(ROOT / "jaxviz" / "labextension")
    kernel = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3",
        "language": "python",
    }
    (share / "kernels" / "python3" / "kernel.json").write_text(json.dumps(kernel))
    environment = {**os.environ, "JAXVIZ_LAB_PYTHON": str(VENV / "bin" / "python")}
    command = [sys.executable, "-m", "pytest", "-m", "oldest_lab", "tests/browser", *sys.argv[1:]]
    sys.exit(subprocess.run(command, cwd=ROOT, env=environment).returncode)


if __name__ == "__main__":
    main()
