"""Bytes of an SVG for each box in it, and the time to make one, over the programs of the tests and training steps.

    python -m bench svg

Every region is open, which is the largest picture of a program. A box comes with its words, chips and edges.
"""

from __future__ import annotations

import json
import time

from bench.layout import programs
from jaxviz.export import engine
from jaxviz.export.svg import to_svg

FEW = 12  # boxes; in smaller pictures the colours and the title weigh more than what is drawn


def main() -> None:
    print(f"{'program':28}{'boxes':>8}{'kB':>8}{'bytes a box':>14}{'ms':>8}")
    each = []
    for name, exploration in programs():
        document = exploration.document()
        to_svg(document)
        began = time.perf_counter()
        svg = to_svg(document, open="all")
        milliseconds = 1000 * (time.perf_counter() - began)
        seen = json.loads(
            engine.call("view", document.to_json(packed=False), {"width": 760, "height": 560, "open": "all"})
        )
        boxes = len(seen["boxes"])
        size = len(svg.encode())
        if boxes >= FEW:
            each.append(size / boxes)
        print(f"{name:28}{boxes:8}{size / 1000:8.1f}{size / max(1, boxes):14.0f}{milliseconds:8.0f}", flush=True)
    print(f"\nof {FEW} boxes or more: mean {sum(each) / len(each):.0f} bytes a box, most {max(each):.0f}")
