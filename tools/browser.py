"""Finds a Chromium for the browser tests, and gets one where there is none. Prints its path.

In this order: the one that CHROMIUM names, one on the machine, Debian's package (as root), Playwright's download.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
APPLICATIONS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)


def find() -> str | None:
    """The Chromium that is there, or None."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named
    for path in candidates():
        if path and Path(path).exists() and starts(path):
            return path
    return None


def candidates() -> Iterator[str | None]:
    """Where one may be, the likeliest first. To ask Playwright takes a second, so it is asked last."""
    yield from map(shutil.which, NAMES)
    yield from APPLICATIONS
    yield downloaded()


def starts(path: str) -> bool:
    """Whether this is a browser: a distribution may have a stub by its name that only tells how to get one."""
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return said.returncode == 0 and "chrom" in said.stdout.lower()


def downloaded() -> str | None:
    """Where Playwright keeps, or would keep, its own Chromium."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def install() -> None:
    """Gets a Chromium in the way that suits the machine."""
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        # Another install may hold the lock for a while, such as a machine's own updates.
        wait = ("-o", "DPkg::Lock::Timeout=300")
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", *wait, "update", "-qq"], env=quiet, stdout=sys.stderr)
        command = ["apt-get", *wait, "install", "-y", "-qq", "--no-install-recommends", "chromium", "fonts-dejavu-core"]
        if subprocess.run(command, env=quiet, stdout=sys.stderr).returncode == 0:
            return
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True, stdout=sys.stderr)


def main() -> None:
    if find() is None:
        print("jaxviz: installing a Chromium for the browser tests", file=sys.stderr, flush=True)
        install()
    path = find()
    if path is None:
        sys.exit("No Chromium was found or could be installed: set CHROMIUM to the path of one.")
    print(path)


if __name__ == "__main__":
    main()
