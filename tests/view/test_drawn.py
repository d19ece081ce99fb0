"""What is drawn as what: boxes, edges, cables and chips of programs, and the words on them."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import Mesh, PartitionSpec
from programs import CORPUS, mlp_train
from styles import STYLES

import jaxviz as jv
from jaxviz.export.svg import to_svg

try:
    from jax import shard_map
except ImportError:
    from jax.experimental.shard_map import shard_map


def test_what_stays_the_same_in_all_turns_does_not_count_as_going_round():
    def settled(x, w):
        return lax.fori_loop(0, 9, lambda _, x: jnp.tanh(x @ jnp.sort(w @ w.T, 0) + jnp.cumsum(w, 0)), x)

    explored = jv.explore(settled, jnp.ones((8, 8)), jnp.ones((8, 8)))
    for stage in ("stablehlo", "hlo"):
        # What XLA makes once for all turns is handed from each to the next.
        view = explored.view(stage=stage)
        assert len([box for box in view.boxes if box.name.startswith("carry")]) == 1


@pytest.mark.parametrize(("stage", "told"), [("jaxpr", "scan x50"), ("stablehlo", "while x50"), ("hlo", "while x50")])
def test_how_often_a_loop_turns_is_told_also_where_its_start_is_made_with_it(stage, told):
    def f(a, b):
        def body(_, state):
            return jnp.sin(state[1]), jnp.cos(state[0])

        return lax.fori_loop(0, 50, body, (jnp.zeros_like(a), jnp.zeros_like(b)))

    assert f">{told}<" in jv.explore(f, jnp.ones((3, 4)), jnp.ones((3, 4))).to_svg(stage=stage)


def test_what_is_put_on_no_other_device_is_not_drawn_and_what_is_put_on_one_is():
    def f(x, y):
        a, b = jax.device_put((x, y))
        return jnp.sin(a), jax.device_put(b, jax.devices()[0])

    view = jv.explore(f, jnp.ones(4), jnp.ones(4)).view()
    assert [box.name for box in view.boxes] == ["x", "y", "sin", "device_put", "result[0]", "result[1]"]


def _loop(count):
    def f(*start):
        return lax.while_loop(
            lambda state: state[0].sum() < 9.0, lambda state: tuple(x * (n + 2.0) for n, x in enumerate(state)), start
        )

    return jv.explore(f, *[jnp.ones(4)] * count)


def test_what_only_counts_the_turns_of_a_loop_is_not_shown_unless_all_is():
    def smoothed(x):
        return lax.fori_loop(0, 50, lambda _, x: (jnp.roll(x, 1) + jnp.roll(x, -1)) / 2 - jnp.sin(x), x)

    explored = jv.explore(smoothed, jnp.ones(4))
    assert [box.name for box in explored.view().boxes if box.name.startswith("carry")] == ["carry x"]
    counted = jv.explore(lambda x: lax.fori_loop(0, 50, lambda i, x: jnp.roll(x, 1) * i, x), jnp.ones(4))
    assert [box.name for box in counted.view().boxes if box.name.startswith("carry")] == ["carry i", "carry x"]


def test_few_values_that_go_round_a_loop_are_boxes_and_many_are_chips():
    assert any(box.kind == "argument" and box.name.startswith("carry") for box in _loop(2).view().boxes)
    many = _loop(3)
    assert not any(box.name.startswith("carry") for box in many.view().boxes)
    # Where the loop starts is still drawn, and what is handed to the next turn.
    assert "→ carry" in many.to_svg()


def test_what_a_loop_keeps_for_its_way_back_is_told_with_all_its_turns_also_where_both_are_open():
    def layer(h, p):
        return h + jax.nn.gelu(h @ p["up"] + p["shift"]) @ p["down"]

    def loss(layers, x):
        turn = jax.checkpoint(lambda h, p: (layer(h, p), None))
        return jnp.mean(lax.scan(turn, x, layers)[0] ** 2)

    layers = {"up": jnp.ones((6, 8, 32)), "shift": jnp.ones((6, 32)), "down": jnp.ones((6, 32, 8))}
    explored = jv.explore(jax.value_and_grad(loss), layers, jnp.ones((4, 8)))
    assert sum(box.open and box.name.startswith("scan") for box in explored.view().boxes) == 2
    # Six times the four by eight numbers that each turn begins with.
    assert "1 residual 768 B" in explored.to_svg()


def _chosen(x, p):
    return jnp.sum(lax.cond(p, jnp.sin, lambda x: x * 3.0, x) ** 3)


def _solved(x):
    @jax.custom_vjp
    def root(x):
        return lax.while_loop(lambda y: jnp.max(y) > 1e-3, lambda y: jnp.tanh(y) * 0.5, x)

    def forward(x):
        y = root(x)
        return y, y

    root.defvjp(forward, lambda y, g: (g * y,))
    return jnp.sum(root(x * 2.0))


def _read_twice(x, w):
    _, states = lax.scan(lambda h, x: (jnp.tanh(h + x),) * 2, jnp.zeros(8), x)
    return jnp.mean((states @ w) ** 2)


@pytest.mark.parametrize(
    ("loss", "arguments"),
    [
        (_chosen, (jnp.ones(1000), True)),
        (_solved, (jnp.ones(50),)),
        (_read_twice, (jnp.ones((6, 8)), jnp.ones((8, 3)))),
    ],
)
def test_cables_tell_what_is_kept_of_what_a_condition_or_a_loop_gives(loss, arguments):
    explored = jv.explore(jax.grad(loss), *arguments)
    told = re.findall(r">(\d+) residuals? ([\d.]+) (k?)B<", explored.to_svg())
    assert sum(int(values) for values, _, _ in told) == len(explored.residuals.sizes)
    bytes_told = sum(float(number) * (1000 if kilo else 1) for _, number, kilo in told)
    assert bytes_told == pytest.approx(explored.residuals.bytes, rel=0.01)


def _recurrent(params, inputs):
    def cell(state, x):
        gate = jax.nn.sigmoid(params["gate"] @ x + state)
        return gate * state + (1 - gate) * jnp.tanh(params["new"] @ x), None

    return jnp.sum(lax.scan(cell, jnp.zeros(8), inputs)[0] ** 2)


def test_a_cable_into_an_open_loop_ends_at_what_reads_it_in_a_turn():
    params = {"gate": jnp.ones((8, 4)), "new": jnp.ones((8, 4))}
    picture = to_svg(jv.explore(jax.grad(_recurrent), params, jnp.ones((6, 4))).document().of_stage(0), open="all")
    frames = {float(left) for left in re.findall(r'<rect x="([-\d.]+)"[^>]* rx="8"/>', picture)}
    (cables,) = re.findall(r'<path [^>]*stroke-dasharray="2 2" d="([^"]*)"', picture)
    ends = []
    for path in cables.split("\n"):
        (left,) = re.findall(r"^M([-\d.]+)", path)
        steps = [float(step.split()[0]) for step in re.findall(r"h(\S+)$", path)]
        steps += [float(re.findall(r"-?[\d.]+", curve)[-2]) for curve in re.findall(r"c([^c]*)$", path)]
        ends.append(round(float(left) + sum(steps), 1))
    assert len(ends) > 4
    assert not frames & set(ends)


def test_what_mirrors_a_part_of_the_forward_pass_stands_at_its_height():
    fn, arguments = mlp_train()
    drawn = jv.explore(fn, *arguments).to_svg()
    for label in ("log_softmax", "multiply", "mean", "negative", "relu"):
        heights = re.findall(rf'y="(\d+)">{label}<', drawn)
        assert len(heights) == 2, label
        assert heights[0] == heights[1], label


def test_chips_of_the_same_text_are_counted():
    def predict(members, x):
        return x * jnp.stack([member["v"] for member in members])

    assert ">v x5<" in jv.explore(predict, [{"v": jnp.ones(8)}] * 5, jnp.ones((5, 8))).to_svg()


def test_conditions_and_loops_tell_what_they_are_about():
    def f(x, error):
        y = lax.cond(error < 0.5, jnp.sin, lambda x: x * 2.0, x)
        return lax.fori_loop(0, 3, lambda i, c: jnp.cos(c), y)

    names = [box.name for box in jv.explore(f, jnp.ones(4), jnp.float32(0)).view().boxes if box.open]
    assert "cond(error < 0.5)" in names
    assert "fori_loop(cos)" in names


def test_what_the_backward_phase_gives_to_the_update_is_one_line_with_its_number():
    def step(params, x):
        def loss(params):
            y = x
            for w, b in params:
                y = jnp.tanh(y @ w + b)
            return y.mean()

        return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params))

    params = [(jnp.ones((8, 8)), jnp.ones(8))] * 3
    picture = jv.explore(step, params, jnp.ones((4, 8))).to_svg()
    assert picture.count("6 gradients") == 1


def _height_of(drawn, title):
    return re.search(rf'y="(\d+)">{re.escape(title)}<', drawn).group(1)


@pytest.mark.parametrize("stage", ["jaxpr", "stablehlo", "hlo"])
def test_every_stage_shows_what_goes_in_and_what_comes_out_by_the_names_of_the_function(stage):
    fn, arguments = CORPUS["remat"]()
    explored = jv.explore(fn, *arguments)
    view = explored.view(stage=stage)
    results = [box.name for box in view.boxes if box.kind == "result"]
    assert results == ["result[0]", "result[1]", "result[2]"]
    drawn = explored.to_svg(stage=stage)
    assert _height_of(drawn, "forward") == _height_of(drawn, "backward")
    # Results stand below all boxes, not in the one that makes them.
    boxes = "|".join(re.escape(box.name) for box in view.boxes if box.kind not in ("result", "argument"))
    assert int(_height_of(drawn, "result[2]")) > max(map(int, re.findall(rf'y="(\d+)">(?:{boxes})<', drawn)))


def test_constants_of_compiled_stages_are_told_by_their_values():
    drawn = jv.explore(lambda x: jnp.clip(x, 0, 2), jnp.arange(5)).to_svg(stage="hlo")
    assert {">0<", ">2<"} <= set(re.findall(r">\d<", drawn))
    assert ">constant" not in drawn

    def summed(xs):
        return lax.scan(lambda total, x: (total + x, total), 7.0, xs)

    drawn = jv.explore(summed, jnp.ones(5)).to_svg(stage="stablehlo")
    assert ">7.0<" in drawn
    assert ">constant" not in drawn
    # What the results of all turns are collected in goes round too, but as no value of the program.
    assert drawn.count("carried into the next turn") == 1


@pytest.mark.parametrize("stage", ["stablehlo", "hlo"])
def test_what_counts_the_turns_of_a_loop_is_told_and_not_drawn(stage):
    fn, arguments = CORPUS["fori"]()
    explored = jv.explore(fn, *arguments)
    drawn = explored.to_svg(stage=stage)
    assert "x10<" in drawn
    assert "carried into the next turn" in drawn
    names = {box.name for box in explored.view(stage=stage).boxes}
    assert not names & {"while", "wrapped_compare", "compare", "wrapped_add"}


def test_what_the_compiler_only_lays_out_for_a_loop_is_nothing_that_it_begins_with():
    def pull(place):
        apart = place[None] - place[:, None]
        return (apart * ((apart**2).sum(-1) + 1e-3)[..., None] ** -1.5).sum(1)

    def leap(carry, _):
        place, speed = carry
        speed = speed + 0.005 * pull(place)
        place = place + 0.01 * speed
        speed = speed + 0.005 * pull(place)
        return (place, speed), 0.5 * (speed**2).sum()

    def orbits(place, speed):
        return lax.scan(leap, (place, speed), length=50)

    # The energies of all turns are put into zeros, which optimized HLO makes first: nothing that a turn begins with.
    explored = jv.explore(orbits, jnp.ones((6, 3)), jnp.ones((6, 3)))
    assert not [stage for stage in ("jaxpr", "hlo") if "→ first turn" in explored.to_svg(stage=stage)]
    # Nor is what optimized HLO spreads and copies before it.
    fn, arguments = STYLES["metropolis"]()
    explored = jv.explore(fn, *arguments)
    assert not [stage for stage in ("jaxpr", "hlo") if "→ first turn" in explored.to_svg(stage=stage)]


def test_what_keeps_the_number_of_a_branch_in_bounds_is_seen_in_no_stage():
    fn, arguments = CORPUS["switch"]()
    explored = jv.explore(fn, *arguments)
    for stage in ("jaxpr", "stablehlo"):
        view = explored.view(stage=stage)
        assert [box.name for box in view.closed] == ["add", "exp", "tanh", "multiply"]
        # The number goes straight to the condition.
        assert "switch(i)" in [box.name for box in view.boxes]
    assert "clamp" in {node.op for node in explored.hlo}
    assert "clamp" not in [box.name for box in explored.view(stage="hlo").closed]


def test_a_number_that_the_person_keeps_in_bounds_is_a_box():
    def chosen(i, x):
        i = lax.clamp(0, i, 5)
        return lax.switch(i, [jnp.sin, jnp.cos], x) * i

    assert "clamp" in [box.name for box in jv.explore(chosen, 1, jnp.ones(3)).view().closed]


def test_what_is_one_region_says_of_which_operation():
    mesh = Mesh(np.array(jax.devices()[:1]), ("data",))

    def spread(x):
        y = jnp.tanh(x) + 1
        return lax.psum((y * y).sum(), "data")

    spread = shard_map(spread, mesh=mesh, in_specs=PartitionSpec("data"), out_specs=PartitionSpec())
    drawn = jv.explore(lambda x: spread(x) * 2, jnp.ones(4)).to_svg(stage="jaxpr")
    texts = re.findall(r">([^<>]+)</", drawn)
    assert (texts.count("spread"), texts.count("shard_map")) == (1, 1)
