"""What `import jaxviz` costs over `import jax`: medians over fresh processes.

python bench/importing.py [repeat]
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median

_PROGRAM = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def seconds(modules: str, repeat: int) -> float:
    """Median seconds of an import in a fresh interpreter."""
    command = [sys.executable, "-c", _PROGRAM.format(modules)]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(repeat)]
    return median(float(run.stdout) for run in runs)


def main() -> None:
    repeat = 3 if "--quick" in sys.argv else 7
    seconds("jax, jaxviz", 1)
    alone, both = seconds("jax", repeat), seconds("jax, jaxviz", repeat)
    print(f"{'import':12} {'ms':>8}")
    print(f"{'jax':12} {alone * 1e3:>8.0f}")
    print(f"{'jax, jaxviz':12} {both * 1e3:>8.0f}")
    print(f"added: {(both - alone) * 1e3:.0f} ms, {both / alone:.2f} times jax alone")


if __name__ == "__main__":
    main()
