"""Bytes of an SVG, and the time to make one, over the programs of the tests and training steps.

    python -m bench svg

Each program as it is seen at first, in light colours and in those that follow the reader, and with every region open,
which is its largest picture; of training steps also what XLA makes of them, as it is seen at first. A box comes with
its words and edges. A node is a box or a chip: arguments, constants and results are nodes of the program, whether they
stand in a box or beside one.
"""

from __future__ import annotations

import json
import time
from typing import Any

from bench.layout import programs
from jaxviz.document import Document
from jaxviz.export import engine
from jaxviz.export.svg import to_svg

FEW = 8  # boxes; in smaller pictures the colours and the title weigh more than what is drawn
SPACE = {"width": 760, "height": 560}
HLO = 2  # the stage
PICTURES: dict[str, dict[str, Any]] = {"first": {}, "auto": {"theme": "auto"}, "all": {"open": "all"}}


def main() -> None:
    print(f"{'program':20}{'picture':>8}{'boxes':>8}{'nodes':>8}{'kB':>8}{'a box':>8}{'a node':>8}{'ms':>8}")
    a_node: dict[str, list[float]] = {name: [] for name in PICTURES}
    for program, exploration in programs():
        document = exploration.document().of_stage(0)
        to_svg(document)
        pictures = [(name, document, options) for name, options in PICTURES.items()]
        if program.startswith("train"):
            exploration.hlo  # noqa: B018
            pictures.append(("hlo", exploration.document().of_stage(HLO), {}))
        for name, document, options in pictures:
            began = time.perf_counter()
            size = len(to_svg(document, **options).encode())
            milliseconds = 1000 * (time.perf_counter() - began)
            boxes, nodes = counted(document, options)
            if boxes >= FEW and name in a_node:
                a_node[name].append(size / nodes)
            each = f"{size / max(1, boxes):8.0f}{size / max(1, nodes):8.0f}"
            print(f"{program:20}{name:>8}{boxes:8}{nodes:8}{size / 1000:8.1f}{each}{milliseconds:8.0f}", flush=True)
    print(f"\nof {FEW} boxes or more, bytes a node")
    for name, sizes in a_node.items():
        print(f"{name:8} mean {sum(sizes) / len(sizes):.0f}, most {max(sizes):.0f}")


def counted(document: Document, options: dict[str, Any]) -> tuple[int, int]:
    """Boxes of a picture, and boxes with their chips."""
    seen = json.loads(engine.call("view", document.to_json(packed=False), {**SPACE, **options}))["boxes"]
    return len(seen), len(seen) + sum(box["chips"] for box in seen)
