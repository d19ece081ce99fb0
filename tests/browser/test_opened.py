"""Files that others made, opened in a notebook: the outline of their metadata, and what is said of devices."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

SAMPLES = Path(__file__).parents[1] / "data" / "hlo"

EXCHANGE = """
import pathlib
pathlib.Path("exchange.hlo").write_text('''HloModule exchange

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  p = f32[256] parameter(0), sharding={devices=[4,2]<=[8] last_tile_dim_replicate}, metadata={op_name="x"}
  n = f32[256] sine(p), metadata={op_name="jit(f)/sin" source_file="f.py" source_line=3}
  ROOT r = f32[256] all-reduce(n), replica_groups=[2,4]<=[8], to_apply=add, metadata={op_name="jit(f)/psum"}
}
''')
import jaxviz as jv
jv.open("exchange.hlo")
"""


def test_a_training_step_for_a_gpu_opens_with_its_phases_and_modules(notebook):
    graph = notebook(f"import jaxviz as jv\njv.open({str(SAMPLES / 'flax_block_train.h100.txt.gz')!r})").explore(0)
    assert {"forward", "backward", "update", "LM", "Block_0"} <= set(graph.labels)
    assert len(graph.labels) <= 60
    expect(graph.root.get_by_role("button", name="HLO")).to_be_visible()


def test_a_collective_says_who_takes_part(notebook):
    opened = notebook(EXCHANGE)
    graph = opened.explore(0)
    graph.click("r")
    expect(graph.pane).to_contain_text("2 groups of 4: 0 1 2 3, 4 5 6 7")
    expect(graph.pane).to_contain_text("1.02 kB from each device")
    opened.shot("collective", graph.root)
    graph.click("x")
    expect(graph.pane).to_contain_text("dimension 0 in 4 parts, each on 2 devices")
