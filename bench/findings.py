"""False alarms of findings on real models, and what finding costs at 100,000 equations.

    python -m bench findings [--quick]

Each model is written as its library's own documentation does, so there is little to mend in it. What is told and right
is in `TOLD`; anything else is a false alarm, and at most 2 % of the functions may have one. Findings are to take less
than 0.5 s at 100,000 equations. With `--quick`, nothing is compiled.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from time import thread_time
from typing import Any

import jax
import jax.numpy as jnp

from bench.models import MODELS
from bench.more_models import MORE_MODELS
from jaxviz.exploration import explore
from jaxviz.find import FINDERS, Subject
from jaxviz.outline import make_outline
from jaxviz.program.program import Program
from jaxviz.read.jaxpr import read_jaxpr
from jaxviz.tables import Tables

#: What is told of a model, was looked at, and is so.
TOLD: dict[str, tuple[str, ...]] = {
    # Programs that were written to have this.
    "corpus useless_loop": ("unrolled", "dead"),
    "corpus random_numbers": ("key",),
    "corpus redundant": ("dead", "twice"),
    # Its edges are arguments, which nothing keeps within bounds.
    "graph network": ("indexing",),
    # A time is computed that the field does not read.
    "style adaptive_ode": ("dead",),
}


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from programs import CORPUS
    from styles import STYLES

    quick = "--quick" in sys.argv
    cases = {**MODELS, **MORE_MODELS, **{f"corpus {name}": make for name, make in CORPUS.items()}}
    cases |= {f"style {name}": make for name, make in STYLES.items()}
    alarmed, missing, told = [], [], 0
    for name, make in cases.items():
        try:
            fn, arguments = make()
        except ImportError as error:
            missing.append(f"{name} ({error})")
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exploration = explore(fn, *arguments)
            findings = exploration.found_in_jaxpr if quick else exploration.findings
        wrong = [finding for finding in findings if finding.kind not in TOLD.get(name, ())]
        told += len(findings) - len(wrong)
        alarmed += [name] if wrong else []
        for finding in wrong:
            print(f"{name}: {finding.severity} {finding.kind}: {finding.title}")
    count = len(cases) - len(missing)
    print(f"\n{count} functions, {told} findings that are right, {len(alarmed)} functions with a false alarm:", end=" ")
    print(f"{len(alarmed) / max(count, 1):.1%} (bar 2 %)")
    if missing:
        print(f"not there: {', '.join(missing)}")
    _cost()


def _cost() -> None:
    """Seconds of a processor of each finder at 100,000 equations, a straight program and a gradient."""
    print(f"\n{'program':10} {'equations':>10} {'seconds':>8}  slowest")
    for name, (fn, arguments) in _large().items():
        program = Program(fn, arguments)
        graph = read_jaxpr(program.jaxpr, Tables())
        subject = Subject(graph, make_outline(graph))
        seconds = {}
        for finder in FINDERS:
            start = thread_time()
            list(import_module(f"jaxviz.find.{finder}").find(subject))
            seconds[finder] = thread_time() - start
        slowest = max(seconds, key=lambda finder: seconds[finder])
        total = sum(seconds.values())
        print(f"{name:10} {int((graph.nodes.kind == 0).sum()):10,} {total:8.3f}  {slowest} {seconds[slowest]:.3f}")


def _large() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    def straight(x):
        for _ in range(50_000):
            x = x * 1.01 + 0.1
        return x

    def recurrent(w, xs):
        h = jnp.zeros(8)
        for t in range(6_000):
            h = jnp.tanh(h @ w + xs[t])
        return h.sum()

    vector = jax.ShapeDtypeStruct((8,), jnp.float32)
    matrices = jax.ShapeDtypeStruct((8, 8), jnp.float32), jax.ShapeDtypeStruct((6_000, 8), jnp.float32)
    return {"straight": (straight, (vector,)), "gradient": (jax.grad(recurrent), matrices)}


if __name__ == "__main__":
    main()
