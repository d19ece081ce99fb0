"""Runs the benchmarks: `python -m bench [NAME ...]`, all of them without a name."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def main(names: list[str]) -> None:
    known = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))
    for name in names or known:
        if name not in known:
            sys.exit(f"there is no benchmark {name!r}; there are: {', '.join(known)}")
        module = importlib.import_module(f"bench.{name}")
        print(f"\n{name}: {(module.__doc__ or '').splitlines()[0]}\n", flush=True)
        module.main()


if __name__ == "__main__":
    main(sys.argv[1:])
