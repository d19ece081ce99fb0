"""Python loops that JAX unrolled are found, with their line and what they hand on; other programs are left alone."""

from __future__ import annotations

import functools
import itertools

import jax
import jax.numpy as jnp
import pytest
from find.found import found, line_numbers, the
from jax import lax
from programs import CORPUS

from jaxviz.find import written_loops
from jaxviz.find.finding import NOTE


def settle(x):
    kept = jnp.sin(x)
    for _ in range(1000):
        x = x * 1.01 + 0.1
    return kept


def learn(params, x):
    @jax.jit
    def step(params, x):
        w, b = params
        error = jnp.tanh(x @ w + b).sum()
        return (w - 0.1 * error * w, b - 0.1 * error), error

    for _ in range(20):
        params, error = step(params, x)
    return params, error


def test_what_goes_from_turn_to_turn_through_a_call_is_carried():
    finding = the("unrolled", learn, (jnp.ones((4, 4)), jnp.ones(4)), jnp.ones((8, 4)))
    assert finding.figures == {"copies": 20, "equations": 200, "carried": 2, "given": 0}
    assert "fori_loop(0, 20" in finding.remedy


def test_a_loop_of_a_thousand_turns_is_told_with_its_line_and_its_remedy():
    finding = the("unrolled", settle, jnp.ones(4))
    assert finding.severity == "warning"
    assert finding.title == f"unrolled from line {finding.lines[0].line}: 1,000 copies"
    assert line_numbers(finding, settle) == [2]
    assert finding.figures == {"copies": 1000, "equations": 2000, "carried": 1, "given": 0}
    assert len(finding.nodes) == 2000
    assert "for _ in range(1000)" in finding.text
    assert "fori_loop(0, 1000" in finding.remedy


@pytest.mark.filterwarnings("error")
def test_numbers_without_an_end_are_listed():
    def capped(x):
        for cap in [*range(2, 20), jnp.inf, jnp.inf]:
            x = jnp.minimum(jnp.sin(x), float(cap))
        return x

    finding = the("unrolled", capped, jnp.ones(4))
    assert finding.figures["copies"] == 20
    assert "fori_loop(0, 20" not in finding.remedy


def layers(x, weights):
    for weight in weights:
        x = jnp.tanh(x @ weight) + x
    return x.sum()


def test_a_loop_over_parameters_is_told_once_for_forward_and_backward():
    weights = [jnp.ones((4, 4))] * 12
    finding = the("unrolled", jax.grad(layers), jnp.ones((4, 4)), weights)
    assert finding.figures["copies"] == 12
    assert finding.figures["given"] == 1
    assert "backward" in finding.text
    assert "jax.lax.scan" in finding.remedy


def nested(x):
    for i in range(6):
        for _ in range(20):
            x = jnp.sin(x) * i
        x = x / 2
    return x


def test_each_place_in_the_source_is_looked_at_for_loops_once(monkeypatch):
    asked, find = [], written_loops._find_loop
    monkeypatch.setattr(written_loops, "_find_loop", lambda *given: asked.append(given[1]) or find(*given))
    assert found("unrolled", learn, (jnp.ones((4, 4)), jnp.ones(4)), jnp.ones((8, 4)))
    assert asked
    assert len(asked) == len(set(asked))


def test_loops_in_loops_are_one_finding():
    finding = the("unrolled", nested, 1.0)
    assert line_numbers(finding, nested) == [1]
    assert "6 copies, each with 20 of the loop inside" in finding.title


def test_a_loop_that_runs_in_two_places_is_one_finding():
    finding = the("unrolled", lambda x: settle(x)[0] + settle(x * 2)[0], jnp.ones(4))
    assert "1,000 times, in 2 places: 4,000 equations" in finding.text


def test_a_loop_in_a_loop_is_told_with_it_on_the_way_back_too():
    finding = the("unrolled", jax.grad(nested), 1.0)
    assert line_numbers(finding, nested) == [1]
    assert "again in the backward pass" in finding.text
    assert (finding.nodes[1:] > finding.nodes[:-1]).all()


def slices(x):
    total = 0.0
    for i in range(16):
        total = total * 0.9 + jnp.tanh(x[i])
    return total


def independent(xs):
    return jnp.stack([jnp.tanh(x) * 2 + jnp.sin(x) * x for x in xs])


def counted(x):
    turn = 0
    while turn < 40:
        x = jnp.where(x > 0, x * 2, x - 1)
        turn += 1
    return x


def two_back(x):
    older = x
    for _ in range(40):
        x, older = jnp.sin(x) + older, x
    return x


@pytest.mark.parametrize(
    ("fn", "argument", "copies"), [(slices, jnp.ones(16), 16), (counted, 1.0, 40), (two_back, 1.0, 39)]
)
def test_other_ways_to_write_a_loop(fn, argument, copies):
    finding = the("unrolled", fn, argument)
    assert finding.figures["copies"] == pytest.approx(copies, abs=1)


def test_turns_that_do_not_depend_on_one_another_are_for_vmap():
    finding = the("unrolled", independent, [1.0] * 20)
    assert finding.figures["carried"] == 0
    assert "jax.vmap" in finding.remedy


def test_a_short_loop_that_only_counts_is_worth_a_note():
    def counted(x):
        for i in range(10):
            x = jnp.sin(x) * i
        return x

    finding = the("unrolled", counted, jnp.ones(4))
    assert finding.severity == NOTE
    assert finding.title.endswith("10 copies")


def few(x):
    for _ in range(3):
        x = jnp.sin(x)
    return x


def written_out(x):
    x = jnp.sin(x) * 2
    x = jnp.cos(x) * 3
    return jnp.tanh(x) * 4


def updates(params):
    return jax.tree.map(lambda p: p - 0.1 * jnp.tanh(p) * p, params)


def neighbours(cells):
    """Each turn moves the cells by pieces of other shapes, and hands on a sum that keeps its shape."""
    around = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1) if (row, column) != (0, 0)]
    return sum(jnp.roll(cells, shift, (0, 1)) for shift in around)


INNOCENT = {
    "ten layers": (lambda weights: layers(jnp.ones(4), weights), [jnp.ones((4, 4))] * 10),
    "fori_loop": (lambda x: lax.fori_loop(0, 1000, lambda _, c: c * 1.01 + 0.1, x), 1.0),
    "scan": (lambda x: lax.scan(lambda c, y: (c + y, c), 0.0, x), jnp.ones(1000)),
    "few turns": (few, 1.0),
    "written out": (written_out, 1.0),
    "neighbours of a cell": (neighbours, jnp.ones((16, 16))),
    "an update of each parameter": (updates, [jnp.ones(3)] * 30),
    "vmap": (jax.vmap(lambda x: jnp.sin(x) * 2), jnp.ones(100)),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_what_is_no_unrolled_loop_is_left_alone(name):
    fn, argument = INNOCENT[name]
    assert found("unrolled", fn, argument) == []


def test_in_the_corpus_only_the_useless_loop_is_one():
    told = {name for name, make in CORPUS.items() if found("unrolled", *_flat(make()))}
    assert told == {"useless_loop"}


def _flat(case):
    fn, arguments = case
    return (fn, *arguments)


def bent(x):
    return jnp.tanh(x) * 2 + jnp.sin(x)


def on_the_way_down(x, depth=20):
    return x if depth == 0 else on_the_way_down(bent(x), depth - 1)


def on_the_way_up(x, depth=20):
    if depth == 0:
        return x
    return bent(on_the_way_up(x, depth - 1))


def with_weights(x, weights):
    def run(number, x):
        if number == len(weights):
            return x
        return run(number + 1, jnp.tanh(x @ weights[number]) + x)

    return run(0, x)


@pytest.mark.parametrize(
    ("fn", "arguments", "line", "remedy"),
    [
        (on_the_way_down, (), 1, "fori_loop(0, 20"),
        (on_the_way_up, (), 3, "fori_loop(0, 20"),
        (with_weights, ([jnp.ones((4, 4))] * 24,), 4, "jax.lax.scan(body, carry, stacked)"),
    ],
)
def test_a_function_that_calls_itself_is_an_unrolled_loop(fn, arguments, line, remedy):
    finding = the("unrolled", fn, jnp.ones((4, 4)), *arguments)
    assert line_numbers(finding, fn) == [line]
    assert finding.figures["copies"] == (24 if arguments else 20)
    assert finding.figures["carried"] == 1
    assert "a function called itself while JAX traced" in finding.text
    assert remedy in finding.remedy


def even(x, depth=40):
    return x if depth == 0 else odd(jnp.sin(x) * 2 + x, depth - 1)


def odd(x, depth):
    return x if depth == 0 else even(jnp.cos(x) * 3 - x, depth - 1)


def test_functions_that_call_one_another_in_turns_are_one_loop():
    finding = the("unrolled", even, jnp.ones(4))
    assert finding.figures["copies"] == 20
    assert finding.figures["carried"] == 1


def test_what_a_function_that_calls_itself_makes_on_the_way_back_belongs_to_it():
    finding = the("unrolled", jax.grad(lambda x: on_the_way_down(x).sum()), jnp.ones(4))
    assert line_numbers(finding, on_the_way_down) == [1]
    assert "again in the backward pass" in finding.text
    assert finding.figures["copies"] == 20


def reduced(x, weights):
    return functools.reduce(lambda total, weight: bent(total) * weight, weights, x)


def mapped(x, weights):
    return jnp.stack(list(map(bent, weights)))


def spread(x, weights):
    return sum([*map(bent, weights)])


def accumulated(x, weights):
    *_, last = itertools.accumulate(range(20), lambda total, _: bent(total), initial=x)
    return last


def mapped_before(x, weights):
    outputs = map(bent, weights)
    doubled = x * 2
    return jnp.stack(list(outputs)) + doubled


def generated_before(x, weights):
    outputs = (bent(weight) for weight in weights)
    return sum(outputs)


def generated_there(x, weights):
    return sum(bent(weight * x) for weight in weights)


def test_a_generator_that_is_summed_where_it_stands_is_an_unrolled_loop():
    finding = the("unrolled", generated_there, jnp.ones(4), [jnp.ones(4)] * 20)
    assert line_numbers(finding, generated_there) == [1]
    assert finding.figures["copies"] == 20
    assert "bent(weight * x) for weight in weights" in finding.text


@pytest.mark.parametrize(
    ("fn", "head"), [(mapped_before, "map(bent, weights)"), (generated_before, "(bent(weight) for weight in weights)")]
)
def test_what_is_called_later_is_told_where_it_is_written(fn, head):
    finding = the("unrolled", fn, jnp.ones(4), [jnp.ones(4)] * 20)
    assert line_numbers(finding, fn) == [1]
    assert finding.figures["copies"] == 20
    assert head in finding.text


@pytest.mark.parametrize(
    ("fn", "head", "carried", "remedy"),
    [
        (reduced, "functools.reduce(lambda total", 1, "jax.lax.scan(body, carry, stacked)"),
        (mapped, "map(bent, weights)", 0, "jax.vmap"),
        (spread, "map(bent, weights)", 0, "jax.vmap"),
        (accumulated, "", 1, "fori_loop(0, 20"),
    ],
)
def test_what_calls_a_function_again_and_again_is_an_unrolled_loop(fn, head, carried, remedy):
    finding = the("unrolled", fn, jnp.ones(4), [jnp.ones(4)] * 20)
    assert line_numbers(finding, fn) == [1]
    assert (finding.figures["copies"], finding.figures["carried"]) == (20, carried)
    assert head in finding.text
    assert remedy in finding.remedy


def test_many_turns_of_one_or_two_equations_that_hand_something_on():
    def over_rows(xs):
        return functools.reduce(lambda a, b: jnp.maximum(a, b) * 0.9, [xs[i] for i in range(30)])

    finding = the("unrolled", over_rows, jnp.ones((30, 4)))
    assert finding.severity == "note"
    assert (finding.figures["copies"], finding.figures["equations"], finding.figures["carried"]) == (29, 58, 1)


def test_what_takes_an_array_apart_for_the_turns_of_another_loop_is_told_with_that():
    def in_one_line(xs):
        return functools.reduce(lambda a, b: jnp.tanh(a + b), [xs[i] for i in range(40)])

    def before(xs):
        rows, a = [xs[i] for i in range(40)], 0.0
        for row in rows:
            a = jnp.tanh(a + row) * 2
        return a

    def read_elsewhere(xs):
        rows, a = [xs[i] for i in range(40)], 0.0
        for row in rows:
            a = jnp.tanh(a + row) * 2
        return a, rows

    def computed(xs):
        rows, a = [jnp.sin(xs[i]) * 2 for i in range(40)], 0.0
        for row in rows:
            a = jnp.tanh(a + row) * 2
        return a

    for fn, carried in ((in_one_line, [1]), (before, [1]), (read_elsewhere, [0, 1]), (computed, [0, 1])):
        told = found("unrolled", fn, jnp.ones((40, 8)))
        assert [finding.figures["carried"] for finding in told] == carried, fn


def halved(x):
    """Each call calls itself twice, on halves: no two of one depth follow one another."""
    if len(x) == 1:
        return x[0] * 2
    middle = len(x) // 2
    return jnp.tanh(halved(x[:middle]) + jnp.sin(halved(x[middle:])) * 3)


def of_a_tree(tree):
    return (
        jax.tree.map(lambda x: x, {key: of_a_tree(one) for key, one in tree.items()})
        if isinstance(tree, dict)
        else tree * 2
    )


def few(x):
    return on_the_way_down(x, 3)


class Nest:
    """Calls of other objects of one class look like calls of itself; three of them are a model, not a loop."""

    def __init__(self, inner):
        self.inner = inner

    def __call__(self, x):
        return bent(self.inner(x)) if self.inner else bent(x)


@pytest.mark.parametrize(
    ("fn", "argument"),
    [
        (halved, jnp.ones(64)),
        (of_a_tree, {"a": {"b": {"c": {"d": {"e": jnp.ones(4)}}}}}),
        (few, jnp.ones(4)),
        (Nest(Nest(Nest(None))), jnp.ones(4)),
        (lambda x: functools.reduce(jnp.add, [x] * 5), jnp.ones(4)),
        (lambda x: list(map(jnp.sin, [x] * 20)), jnp.ones(4)),
    ],
)
def test_few_calls_and_calls_that_branch_are_left_alone(fn, argument):
    assert found("unrolled", fn, argument) == []


ONES = jnp.ones(4)
PIPED = """
def settled(x):
    for _ in range(40):
        x = jnp.sin(x)
        x = x * 2 + 1
    return x

def halved(h):
    return jnp.tanh(h) * 0.5 + jnp.cos(h)

def called(x):
    for _ in range(40):
        x = halved(x) + x
    return x.sum()

def written_out(x):
    x = halved(halved(halved(halved(halved(x)))))
    x = halved(halved(halved(halved(halved(x)))))
    x = halved(halved(halved(halved(halved(x)))))
    x = halved(halved(halved(halved(halved(x)))))
    return x

def over_leaves(weights):
    return jax.tree.map(lambda w: w - 0.1 * jnp.sin(w) * jnp.cos(w), weights)
"""


def test_loops_are_found_where_there_is_no_source():
    names = {"jax": jax, "jnp": jnp}
    exec(compile(PIPED, "<stdin>", "exec"), names)
    for name, line, equations in (("settled", 4, 120), ("called", 13, 200)):
        finding = the("unrolled", names[name], ONES)
        assert finding.figures["copies"] == 40
        assert finding.figures["equations"] == equations
        assert [one.line for one in finding.lines] == [line]
        assert "source is not at hand" in finding.text
    both_ways = the("unrolled", jax.grad(names["called"]), ONES)
    assert "again in the backward pass" in both_ways.text
    assert found("unrolled", names["written_out"], ONES) == []
    assert found("unrolled", names["over_leaves"], [ONES] * 40) == []


def norm(weights):
    total = jnp.sqrt(sum(jnp.sum(weight**2) for weight in weights))
    return [weight / total for weight in weights]


def heavy(weights, x):
    return sum(jnp.sum(jnp.tanh(x @ jax.nn.gelu(weight + 1.0) / jnp.linalg.norm(weight))) for weight in weights)


def test_a_number_of_each_array_that_is_added_up_is_no_loop_to_be_written_anew():
    # As for the norm of all gradients; where there is more to each, it is one.
    weights = [jnp.ones((8, 8))] * 30
    assert found("unrolled", norm, weights) == []
    assert the("unrolled", heavy, weights, jnp.ones((4, 8))).figures["copies"] == 30
