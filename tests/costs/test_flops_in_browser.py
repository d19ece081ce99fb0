"""The explorer counts floating-point operations by the rule by which Python does."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import jaxviz as jv
from jaxviz.costs.cost import flops_of

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "tests" / "data" / "hlo").iterdir())


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """By the name of a file, what the explorer says that its program computes, and what Python says."""
    folder = tmp_path_factory.mktemp("documents")
    counted, paths = {}, []
    for path in FILES:
        opened = jv.open(path)
        paths.append(folder / f"{path.name}.json")
        paths[-1].write_text(json.dumps(opened.document().to_json(packed=False)))
        counted[path.name] = flops_of(opened.hlo)
    script = folder / "flops.cjs"
    bundle = ["--bundle", "--platform=node", "--log-level=warning", f"--outfile={script}"]
    subprocess.run([ROOT / "node_modules/.bin/esbuild", "tests/costs/flops.ts", *bundle], cwd=ROOT, check=True)
    told = subprocess.run(["node", script, *paths], check=True, capture_output=True, text=True).stdout.split()
    return {name: (float(one), counted[name]) for name, one in zip(counted, told, strict=True)}


@pytest.mark.parametrize("name", [path.name for path in FILES])
def test_the_explorer_and_python_count_the_same(shown, name):
    in_browser, in_python = shown[name]
    assert in_browser == pytest.approx(in_python, rel=1e-12)


def test_there_is_something_to_count(shown):
    assert sum(in_python > 0 for _, in_python in shown.values()) > len(FILES) / 2
