"""Unrolled loops are rebuilt as loops of JAX that give the same results; where that cannot be, it says why."""

from __future__ import annotations

import functools
import re
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from loops.unrolled import LOOPS, X, settle

import jaxviz as jv
from jaxviz.loops.cost import Cost
from jaxviz.measure import progress


@pytest.mark.parametrize("name", LOOPS)
def test_the_rebuilt_loop_gives_what_the_unrolled_one_gives(name):
    fn, arguments = LOOPS[name]
    rebuilt = jv.rebuild(fn, *arguments)
    assert rebuilt.why == ""
    assert rebuilt.left == ()
    assert rebuilt.equal
    assert rebuilt.rebuilt.equations < rebuilt.unrolled.equations
    given = jax.tree.map(_numbers, fn(*arguments))
    jax.tree.map(
        lambda one, other: np.testing.assert_allclose(one, _numbers(other), rtol=2e-3, atol=1e-4),
        given,
        rebuilt.function(*arguments),
    )


def _numbers(value):
    return np.asarray(value, np.float64)


@pytest.mark.smoke
def test_a_carry_alone_is_a_fori_loop_of_one_copy():
    rebuilt = jv.rebuild(settle, X)
    assert rebuilt.loop == "fori_loop"
    assert rebuilt.unrolled.equations == 400
    # The loop, its two equations, and what makes the type of the carry strong.
    assert rebuilt.rebuilt.equations <= 5
    assert rebuilt.better == "loop"
    ops = [node.op for node in rebuilt.exploration.jaxpr]
    assert (ops.count("scan"), ops.count("mul"), ops.count("add")) == (1, 1, 1)


def test_what_each_turn_is_given_makes_it_a_scan():
    fn, arguments = LOOPS["layers"]
    rebuilt = jv.rebuild(fn, *arguments)
    assert rebuilt.loop == "scan"
    assert rebuilt.exploration.jaxpr.find("dot_general")[0].line
    assert len(rebuilt.exploration.jaxpr.find("dot_general")) == 1


def test_both_loops_of_a_loop_in_a_loop_are_rebuilt():
    fn, arguments = LOOPS["nested"]
    assert len(jv.rebuild(fn, *arguments).exploration.jaxpr.find("sin")) == 1


def test_forward_and_backward_parts_are_two_loops():
    fn, arguments = LOOPS["layers, backward"]
    assert len(jv.rebuild(fn, *arguments).exploration.jaxpr.find("scan")) == 2


def test_what_the_turns_read_is_measured_in_one_array_as_a_loop_has_it():
    fn, arguments = LOOPS["layers and their weights, backward"]
    rebuilt = jv.rebuild(fn, *arguments)
    assert rebuilt.equal
    assert rebuilt.together == 24
    # The program that was measured stacks nothing, and takes nothing apart.
    assert len(rebuilt.exploration.jaxpr.find("slice")) >= 40
    assert rebuilt.rebuilt.equations < 100
    assert "24 arguments that the turns read were measured stacked" in repr(rebuilt)


def test_rows_of_numbers_are_written_in_a_table():
    rebuilt = jv.rebuild(settle, X)
    text = repr(rebuilt)
    assert re.search(r"^ +unrolled +fori_loop$", text, re.M)
    assert re.search(r"^equations +400 +\d$", text, re.M)
    assert "The results are equal" in text
    assert "<td>400</td>" in rebuilt._repr_html_()


def test_in_a_notebook_the_table_and_both_programs_are_shown(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda value, raw=False: shown.append(value))
    rebuilt = jv.rebuild(settle, X)
    rebuilt._ipython_display_()
    table, picture = shown
    assert "<td>400</td>" in table["text/html"]
    assert picture is rebuilt.comparison
    assert "398 folded into a loop" in repr(rebuilt.comparison.differences["jaxpr"])


def test_arguments_keep_their_names():
    fn, arguments = LOOPS["layers"]
    names = [node.name for node in jv.rebuild(fn, *arguments).exploration.jaxpr if node.kind == "argument"]
    assert names[:3] == ["x", "weights[0]", "weights[1]"]


def reading_far_back(x):
    made = [x]
    for i in range(40):
        made.append(jnp.sin(made[i // 2]) * 2 + made[-1])
    return made[-1]


def test_a_loop_that_cannot_be_one_says_why():
    rebuilt = jv.rebuild(reading_far_back, 1.0)
    assert rebuilt.function is None
    assert "a turn reads" in rebuilt.why
    assert rebuilt.why in repr(rebuilt)
    with pytest.raises(ValueError, match="was not rebuilt"):
        rebuilt.exploration  # noqa: B018


def growing(x):
    for _ in range(40):
        x = jnp.concatenate([x, jnp.sin(x[-1:]) * 2])
    return x


def changing(x):
    for i in range(40):
        x = jnp.sin(x) * jnp.arange(i + 1.0).sum()
    return x


@pytest.mark.parametrize(
    ("fn", "argument", "said"),
    [
        (growing, jnp.ones(3), r"turn 1 and turn 2 differ: `slice` is of f32\[3\] in one and of f32\[4\]"),
        (changing, 1.0, r"turn \d+ and turn \d+ differ: `iota` is of f32\[\d+\] in one"),
    ],
)
def test_turns_that_are_not_alike_are_told_by_what_differs(fn, argument, said):
    assert re.search(said, jv.rebuild(fn, argument).verdict)


def test_the_remedy_of_turns_that_are_not_alike_goes_by_where_they_differ():
    grown, changed = (
        next(one for one in jv.explore(fn, argument).found_in_jaxpr if one.kind == "unrolled")
        for fn, argument in ((growing, jnp.ones(3)), (changing, 1.0))
    )
    assert "x.at[i].set(...)" in grown.remedy
    assert "jnp.where" in changed.remedy


def test_loops_of_the_way_back_are_rebuilt_with_the_loop_around_them():
    fn, arguments = LOOPS["nested, backward"]
    exploration = jv.explore(fn, *arguments)
    (finding,) = [one for one in exploration.found_in_jaxpr if one.kind == "unrolled"]
    assert "again in the backward pass" in finding.text
    graph = exploration.rebuild(finding).exploration.jaxpr
    # One of the forward pass, one of what it needs for the way back.
    assert len(graph.find("sin")) + len(graph.find("cos")) <= 4


def test_a_program_without_an_unrolled_loop_says_so():
    with pytest.raises(ValueError, match="no unrolled loop"):
        jv.rebuild(jnp.sin, 1.0)


def test_shapes_alone_are_enough():
    assert jv.rebuild(settle, jax.ShapeDtypeStruct((4,), jnp.float32)).equal


def printing(x):
    for _ in range(40):
        jax.debug.print("{}", x)
        x = jnp.sin(x) * 2
    return x


@pytest.mark.skipif(
    jax.__version_info__ < (0, 7), reason="on JAX 0.6 each print is another callback, not to be compared"
)
def test_a_program_that_acts_on_the_world_is_not_run(capfd):
    rebuilt = jv.rebuild(printing, 1.0)
    jax.effects_barrier()
    assert capfd.readouterr().out == ""
    assert rebuilt.unrolled.compile is not None
    assert rebuilt.unrolled.run is None
    assert "Neither was run" in repr(rebuilt)


def test_arguments_and_results_keep_their_structure():
    fn, arguments = LOOPS["a recurrent network, backward"]
    value, gradients = jv.rebuild(fn, *arguments).function(*arguments)
    assert value.shape == ()
    assert gradients.keys() == arguments[0].keys()


def power(x, n):
    for _ in range(n):
        x = jnp.sin(x) + x
    return x


def test_static_arguments_are_kept():
    rebuilt = jv.rebuild(power, 0.1, 60, static_argnums=1)
    assert rebuilt.function(0.1, 60) == pytest.approx(float(power(0.1, 60)), rel=1e-4)


class Settling:
    @functools.partial(jax.jit, static_argnums=(0, 2), donate_argnums=1)
    def step(self, x, n):
        for _ in range(n):
            x = jnp.sin(x) + x
        return x


def test_the_options_of_the_persons_jit_are_kept():
    explored = jv.rebuild(Settling().step, X, 60).exploration
    assert explored.call == f"step_rebuilt(f32[{len(X)}], 60)"
    assert (explored.program.argument_names, explored.program.donated) == (("x",), (True,))


@pytest.fixture(scope="module")
def measured():
    return jv.rebuild(settle, X)


@pytest.mark.parametrize(
    ("unrolled", "rebuilt", "better", "said"),
    [
        (Cost(400, 1.0, 2.0, 1e-3), Cost(4, 0.1, 0.1, 1e-3), "loop", "2.8 s sooner and runs as fast"),
        (Cost(400, 0.1, 0.3, 1e-3), Cost(4, 0.1, 0.1, 2e-3), "unrolled", "won back after 200 runs"),
        (Cost(400, 0.1, 0.1, 1e-3), Cost(4, 0.1, 0.2, 2e-3), "unrolled", "costs no more"),
        (Cost(400, 5.0, 95.1, 1e-3), Cost(4, 0.1, 0.0, 1.2e-3), "loop", "pays after 500,000 runs"),
        (Cost(400, 0.1, 0.10, 1e-3), Cost(4, 0.1, 0.1, 1e-3), "either", "about the same"),
        (Cost(190, 0.1, 0.2, 1e-3), Cost(66, 0.1, 1.2, 1e-3), "unrolled", "it is ready 1 s sooner and runs as fast"),
        (Cost(190, 0.1, 0.9, 1e-3), Cost(66, 0.1, 1.0, 5e-4), "loop", "more, won back after 200 runs"),
        (Cost(190, 0.1, 1.9, 1e-3), Cost(66, 0.1, 1.0, 5e-4), "loop", "1 ms unrolled; it is ready 900 ms sooner."),
        (Cost(40_000, 1.0, None, None), Cost(4, 0.1, 0.1, None), "loop", "too many to be compiled"),
    ],
)
def test_the_verdict_follows_the_measurements(measured, unrolled, rebuilt, better, said):
    judged = replace(measured, unrolled=unrolled, rebuilt=rebuilt)
    assert judged.better == better
    assert said in judged.verdict


def test_what_stays_unrolled_says_nothing_of_the_loop(measured):
    slower = {"unrolled": Cost(400, 0.1, 0.1, 1e-3), "rebuilt": Cost(390, 0.1, 0.2, 2e-3)}
    judged = replace(measured, **slower, left=("turn 1 and turn 2 differ",))
    assert judged.better == ""
    assert "no better" in judged.verdict


def test_results_that_differ_are_no_success(measured):
    judged = replace(measured, equal=False, difference=0.5)
    assert judged.better == ""
    assert "differ" in judged.verdict


def _carry(fn, *arguments):
    graph = jv.rebuild(fn, *arguments).exploration.jaxpr
    (scan,) = graph.find("scan")
    region = graph.owned_regions[scan.index][0]
    names = [node.name for node in graph if node.kind == "argument" and graph.nodes.region[node.index] == region]
    return sorted(name for name in names if name.startswith("carry"))


def summed(x):
    total = 0.0
    for _ in range(30):
        x = _bent(x)
        total += x.sum()
    return x, total


def _bent(x):
    y = jnp.tanh(x) * 2
    return y + jnp.sin(x)


def trained(params, x):
    @jax.jit
    def step(params, x):
        w, b = params
        error = jnp.tanh(x @ w + b).sum()
        return (w - 0.1 * error * w, b - 0.1 * error), error

    for _ in range(20):
        params, error = step(params, x)
    return params, error


def swapped(x):
    older = x
    for _ in range(40):
        x, older = jnp.sin(x) + older, x
    return x


def test_the_carry_of_a_rebuilt_loop_is_named_as_the_person_does():
    assert _carry(summed, X) == ["carry['total']", "carry['x']"]
    params = jnp.ones((4, 4)), jnp.ones(4)
    named = ["carry['error']", "carry['params[0]']", "carry['params[1]']"]
    assert _carry(trained, params, jnp.ones((8, 4))) == named
    # What two turns read is there with what the turn before made.
    assert _carry(swapped, X) == ["carry['x']", "carry['x_2'][0]", "carry['x_2'][1]"]


def test_a_person_who_waits_for_a_rebuilt_loop_is_told_its_steps_and_can_stop_at_one(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_SILENCE", 0.0)
    monkeypatch.setattr(progress, "_LONGER", 1.0)
    exploration = jv.explore(settle, X)
    exploration.rebuild()
    said = "".join(capsys.readouterr())
    assert re.search(r"settle\(.*\): compiling it unrolled, \d+ equations, after \d+ s; interrupt to stop", said)

    def stop(step):
        if step.startswith("running it as"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        exploration.rebuild(progress=stop)
    assert exploration.rebuild().equal
