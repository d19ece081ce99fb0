"""A program for eight devices, explored and opened: shardings, collectives, and the lines that caused them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import jax
import pytest

import jaxviz as jv

JOINED = pytest.mark.skipif(
    jax.__version_info__ < (0, 7), reason="XLA of JAX 0.6 leaves the exchange of a loss and those of gradients apart"
)

PROGRAM = """
import json, sys
import jax, jax.numpy as jnp, numpy as np
import jaxviz as jv
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
try:
    from jax import shard_map
except ImportError:
    from jax.experimental.shard_map import shard_map

if hasattr(jax.config, "jax_use_shardy_partitioner"):
    jax.config.update("jax_use_shardy_partitioner", True)  # the default from 0.7 on
mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))

def placed(shape, *spec):
    return jax.device_put(jnp.ones(shape), NamedSharding(mesh, P(*spec)))

def step(w, x):
    h = jax.lax.with_sharding_constraint(jnp.tanh(x @ w), NamedSharding(mesh, P("x", "y")))
    return (h * h).mean()

def exchange(b):
    moved = jax.lax.ppermute(b, "x", [(i, (i + 1) % 4) for i in range(4)])
    total = jax.lax.psum(b, "y")
    gathered = jax.lax.all_gather(b, "x")
    return moved + total + gathered.sum(0)

def losses(v, w, x):
    def loss(v, w):
        hidden = jnp.tanh(x @ v)
        out = hidden @ w
        return (out * out).mean()

    return jax.value_and_grad(loss, (0, 1))(v, w)

def turned(a):
    crossed = jax.lax.with_sharding_constraint(a * 2, NamedSharding(mesh, P("y", "x")))
    return jax.lax.with_sharding_constraint(jnp.sin(crossed), NamedSharding(mesh, P()))

mapped = shard_map(exchange, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))
w, x, a = placed((16, 32), None, "y"), placed((64, 16), "x", None), jnp.ones((64, 8))
calls = {
    "step": (jax.grad(step), (w, x)),
    "mapped": (mapped, (a,)),
    "losses": (losses, (placed((16, 32)), placed((32, 4)), x)),
    "turned": (turned, (placed((16, 32), "x", "y"),)),
}

def said(graph):
    keys = ("sharding", "in_shardings", "devices", "sends")
    found = []
    for node in graph:
        words = {key: node.attributes[key] for key in keys if key in node.attributes}
        lines = [frame.line for frame in node.frames if not frame.library]
        if words:
            found.append([node.op, node.name, words, lines[-1] if lines else 0])
    return found

def parts(explored):
    # What the outline of optimized HLO begins with: what it is called, and what it holds.
    outline = next(one.outline for one in explored.document(passes=False).outlines if one.graph == 2)
    graph, children = outline.graph, [outline.row(row) for row in outline.children[0]]
    ops = [graph.tables.strings[op] for op in graph.nodes.op.tolist()]
    return [[row.name, ops[row.first : row.end], row.twin >= 0] for row in children]

answer = {}
for name, (fn, args) in calls.items():
    explored = jv.explore(fn, *args)
    lowered = jax.jit(fn).lower(*args)
    with open(f"{sys.argv[1]}/{name}.hlo", "w") as file:
        file.write(lowered.compile().as_text())
    with open(f"{sys.argv[1]}/{name}.mlir", "w") as file:
        file.write(lowered.as_text(debug_info=True))
    answer[name] = {
        "explored hlo": said(explored.hlo),
        "explored stablehlo": said(explored.stablehlo),
        "hlo": said(jv.open(f"{sys.argv[1]}/{name}.hlo").hlo),
        "stablehlo": said(jv.open(f"{sys.argv[1]}/{name}.mlir").stablehlo),
        "parts": parts(explored),
        "sources": [
            sorted({explored.jaxpr.node(int(source)).op for source in explored.links("hlo").sources(node.index)})
            for node in explored.hlo if "sends" in node.attributes
        ],
    }
print(json.dumps(answer))
"""


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("devices")
    (folder / "program.py").write_text(textwrap.dedent(PROGRAM))
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    command = [sys.executable, str(folder / "program.py"), str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def words_of(rows, op, name=""):
    return [words for node, title, words, _ in rows if node == op and (not name or title == name)]


def line_of(text):
    return next(number for number, line in enumerate(textwrap.dedent(PROGRAM).splitlines(), 1) if text in line)


@pytest.mark.parametrize("way", ["explored ", ""])
def test_arguments_say_how_they_are_spread(answer, way):
    rows = answer["step"][way + "stablehlo"]
    (w,), (x,) = words_of(rows, "argument", "w"), words_of(rows, "argument", "x")
    assert w["sharding"] == "dimension 1 in 2 parts along y, each on 4 devices"
    assert x["sharding"] == "dimension 0 in 4 parts along x, each on 2 devices"


@pytest.mark.parametrize("way", ["explored ", ""])
def test_arguments_of_optimized_hlo_say_it_where_the_compiler_keeps_it(answer, way):
    rows = answer["step"][way + "hlo"]
    if not words_of(rows, "argument"):
        pytest.skip("from JAX 0.11 on the compiler drops the shardings of what it has cut into parts")
    (w,), (x,) = words_of(rows, "argument", "w"), words_of(rows, "argument", "x")
    assert w["sharding"] == "dimension 1 in 2 parts, each on 4 devices"
    assert x["sharding"] == "dimension 0 in 4 parts, each on 2 devices"


@pytest.mark.parametrize("way", ["explored ", ""])
def test_a_constraint_says_what_it_asks_for(answer, way):
    rows = answer["step"][way + "stablehlo"]
    constraint = words_of(rows, "sdy.sharding_constraint")[0]
    assert constraint["sharding"] == "dimension 0 in 4 parts along x, dimension 1 in 2 parts along y"


@pytest.mark.parametrize("way", ["explored ", ""])
def test_collectives_say_who_takes_part_and_what_is_sent(answer, way):
    rows = answer["mapped"][way + "hlo"]
    (reduced,) = words_of(rows, "all-reduce")
    (gathered,) = words_of(rows, "all-gather")
    (moved,) = words_of(rows, "collective-permute")
    assert reduced["sends"] == "256 B from each device"
    # The axis is told where the compiler keeps it.
    assert reduced["devices"].replace(" along y", "") == "4 groups of 2: 0 1, 2 3, 4 5, 6 7"
    assert gathered["devices"].replace(" along x", "") == "2 groups of 4: 0 2 4 6, 1 3 5 7"
    assert moved["devices"].startswith("0 to 2, 2 to 4, 4 to 6, 6 to 0")
    assert moved["sends"] == "256 B from each of 8 devices"


@pytest.mark.parametrize("stage", ["explored hlo", "explored stablehlo", "hlo", "stablehlo"])
def test_a_collective_has_the_line_that_caused_it(answer, stage):
    lines = {op.replace("_", "-"): line for op, _, words, line in answer["mapped"][stage] if "sends" in words}
    assert lines["all-reduce"] == line_of('psum(b, "y")')
    assert lines["all-gather"] == line_of('all_gather(b, "x")')
    assert lines["collective-permute"] == line_of('ppermute(b, "x"')


@JOINED
def test_collectives_that_the_compiler_made_one_are_linked_to_each(answer):
    assert any({"dot_general", "reduce_sum"} <= set(sources) for sources in answer["losses"]["sources"])


def test_devices_in_another_order_are_told_alike_in_text(answer):
    told = [
        [words["devices"] for _, _, words, _ in answer["turned"][way + "hlo"] if "devices" in words]
        for way in ("explored ", "")
    ]
    assert told[0] == told[1]
    # All parts are brought together from where they lie: along x, then along y.
    # From 0.12 on the axis is in the HLO.
    groups = {re.sub(" along .:", ":", one) for one in told[0]}
    assert {"2 groups of 4: 0 2 4 6, 1 3 5 7", "4 groups of 2: 0 1, 2 3, 4 5, 6 7"} <= groups


def test_a_collective_that_the_compiler_put_in_is_linked_to_what_needs_it(answer):
    assert answer["step"]["sources"]
    assert all(sources for sources in answer["step"]["sources"])
    assert any("dot_general" in sources for sources in answer["step"]["sources"])


@JOINED
def test_a_loss_that_is_exchanged_with_the_gradients_waits_for_backward_and_backward_stays_itself(answer):
    (forward, ops, has_twin), (backward, later, _), (rest, last, _) = answer["losses"]["parts"]
    assert (forward, has_twin, backward) == ("forward", True, "backward")
    assert "all-reduce" in later
    assert "all-reduce" not in ops
    # What is left of forward is called by what it is.
    assert rest == "mean"
    assert "all-reduce" not in last


@pytest.mark.parametrize(
    ("pairs", "senders"),
    [("{0,1},{2,3}", "each of 2 devices"), ("{0,0},{1,2}", "device 1"), ("{0,0}", "no device"), ("", "each device")],
)
def test_of_a_permutation_those_that_send_are_counted(tmp_path, pairs, senders):
    path = tmp_path / "permuted.hlo.txt"
    path.write_text(
        "HloModule m, num_partitions=4\n\nENTRY main {\n  p = f32[8]{0} parameter(0)\n"
        f"  ROOT r = f32[8]{{0}} collective-permute(p), channel_id=1, source_target_pairs={{{pairs}}}\n}}\n"
    )
    (permuted,) = [node for node in jv.open(path).hlo if node.op == "collective-permute"]
    assert permuted.attributes["sends"] == f"32 B from {senders}"
