"""How much moves when one region of a real program opens or closes.

    python -m bench staying [--quick]

Every region of a picture in which everything is open is closed and opened again, with the layout that the explorer
uses. Told are the pairs of boxes outside it that keep their order from left to right, and how far boxes move beyond the
space that the region takes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jaxviz as jv

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "bench" / "staying"


def main() -> None:
    sys.path.insert(0, str(ROOT))
    from tests.programs import CORPUS

    BUILD.mkdir(parents=True, exist_ok=True)
    for old in BUILD.glob("*.json"):
        old.unlink()
    for name in ("mlp_train",) if "--quick" in sys.argv else ("mlp_train", "scan_rnn", "flax_block_train"):
        function, arguments = CORPUS[name]()
        document = jv.explore(function, *arguments).document()
        (BUILD / f"{name}.json").write_text(json.dumps(document.to_json(packed=False)))
    script = BUILD / "run.cjs"
    bundle = ["--bundle", "--platform=node", "--log-level=warning", f"--outfile={script}"]
    subprocess.run([ROOT / "node_modules/.bin/esbuild", "bench/staying/run.ts", *bundle], cwd=ROOT, check=True)
    subprocess.run(["node", script, BUILD], cwd=ROOT, check=True)
