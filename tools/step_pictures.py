"""Draws the pictures at the top of the README: the training step of `examples/transformer.ipynb`, light and dark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
WIDTH, HEIGHT = 860, 520


def main() -> None:
    cells = json.loads((ROOT / "examples" / "transformer.ipynb").read_text("utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    path = ROOT / "docs" / "step.py"
    # What was run is found again as a source only where it lies in a file.
    path.write_text("\n".join(sources[:2]).replace("%load_ext jaxviz", ""), "utf-8")
    try:
        exec(compile(path.read_text("utf-8"), str(path), "exec"), names)
        names["ex"].call = "step(params, state, tokens)"
        for theme in ("light", "dark"):
            picture = names["ex"].to_svg(width=WIDTH, height=HEIGHT, theme=theme)
            (ROOT / "docs" / f"step-{theme}.svg").write_text(picture, "utf-8")
    finally:
        path.unlink()


if __name__ == "__main__":
    main()
