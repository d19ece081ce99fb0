"""What `import jaxviz` costs over `import jax`, and what its first use imports: medians over fresh processes.

Seconds of the processor, each import timed in the process that has done the ones before it.
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median

_BAR = 0.1
_PROGRAM = """
import time
start = time.process_time()
import jax
jax_is_there = time.process_time()
import jaxviz
jaxviz_is_there = time.process_time()
jaxviz.explore
print(jax_is_there - start, jaxviz_is_there - jax_is_there, time.process_time() - jaxviz_is_there)
"""


def measure() -> tuple[float, ...]:
    """Seconds of each import in a fresh interpreter."""
    run = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True)
    return tuple(map(float, run.stdout.split()))


def main() -> None:
    measure()
    runs = [measure() for _ in range(3 if "--quick" in sys.argv else 7)]
    jax, added, first = (median(times) for times in zip(*runs, strict=True))
    print(f"{'import':24} {'ms':>6}")
    print(f"{'jax':24} {jax * 1e3:>6.0f}")
    print(f"{'jaxviz':24} {added * 1e3:>6.1f}   bar {_BAR * 1e3:.0f}{'   MISSED' if added > _BAR else ''}")
    print(f"{'first use, jaxviz.explore':24} {first * 1e3:>6.0f}")


if __name__ == "__main__":
    main()
