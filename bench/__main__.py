"""Runs the benchmarks: `python -m bench [NAME ...] [OPTION ...]`, all of them without a name."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def main(names: list[str]) -> None:
    here = Path(__file__).parent
    found = [*here.glob("*.py"), *(path.parent for path in here.glob("*/__init__.py"))]
    known = sorted(path.stem for path in found if not path.stem.startswith("_"))
    # What follows a name and begins with a dash is for that benchmark, which reads it itself.
    options = next((i for i, name in enumerate(names) if name.startswith("-")), len(names))
    for name in names[:options] or known:
        if name not in known:
            sys.exit(f"there is no benchmark {name!r}; there are: {', '.join(known)}")
        module = importlib.import_module(f"bench.{name}")
        print(f"\n{name}: {(module.__doc__ or '').splitlines()[0]}\n", flush=True)
        module.main()


if __name__ == "__main__":
    main(sys.argv[1:])
