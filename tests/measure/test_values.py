"""The values of a run: their statistics are right, the first bad one is found, and memory is bounded."""

from __future__ import annotations

import copy
import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from programs import CORPUS

import jaxviz as jv
from jaxviz import RunError
from jaxviz.costs.kernels import kernel_count
from jaxviz.document import Document, DocumentError
from jaxviz.graph import OPERATION
from jaxviz.measure.values import _histogram, _Runner


def test_statistics_are_those_of_the_values():
    x = jnp.array([0.0, 1.0, 2.0, 5.0])
    values = {value.name: value for value in jv.explore(lambda x: jnp.cumsum(x) @ jnp.ones(4), x).values(every=True)}
    given = values["x"]
    assert (given.least, given.most, given.mean) == (0.0, 5.0, 2.0)
    assert given.deviation == pytest.approx(np.std([0, 1, 2, 5]))
    assert (given.zero, given.nan, given.infinite, given.denormal, given.count) == (1, 0, 0, 0, 4)
    assert sum(given.histogram) == 4
    assert given.type == "f32[4]"
    (product,) = [value for value in values.values() if value.name == "dot_general"]
    assert product.most == 12.0


def test_the_first_bad_operation_is_found_with_its_line():
    def loss(x):
        y = x - 1.0
        z = jnp.log(y)
        w = z * 0.5
        return (w @ w).sum()

    ex = jv.explore(loss, jnp.array([0.5, 2.0, 3.0]))
    values = ex.values()
    bad = values.first_bad
    assert bad is not None
    assert bad.name == "log"
    assert bad.nan == 1
    assert bad.line == ex.program.line + 2
    assert "the first that is bad: log" in repr(values)


@pytest.mark.smoke
def test_what_the_first_bad_operation_reads_is_looked_at_too():
    def distance(x):
        return jnp.sqrt(1.0 - x * x).sum()

    ex = jv.explore(distance, jnp.linspace(0.0, 1.5, 64))
    values = {ex.jaxpr.node(value.node).op: value for value in ex.values()}
    assert values["sqrt"].nan > 0
    assert values["sub"].least == pytest.approx(-1.25)
    # What is inside of the kernel besides, is not.
    assert "mul" not in values


def test_what_a_bad_operation_in_a_loop_reads_is_looked_at_too():
    def settle(x):
        return jax.lax.fori_loop(0, 4, lambda i, x: jnp.log(x - 1.0) + 2.0, x)

    ex = jv.explore(settle, jnp.full(8, 1.5))
    values = ex.values()
    assert ex.jaxpr.node(values.first_bad.node).op == "log"
    (read,) = [value for value in values if ex.jaxpr.node(value.node).op == "sub"]
    assert read.least < 0


def test_a_bad_backward_pass_is_found_where_the_forward_pass_is_good():
    def f(x):
        return jnp.where(x > 0, jnp.sqrt(x), 0.0).sum()

    assert jv.explore(f, jnp.array([0.0, 1.0])).values().first_bad is None
    bad = jv.explore(jax.grad(f), jnp.array([0.0, 1.0])).values().first_bad
    assert bad is not None
    assert bad.bad
    assert bad.line == f.__code__.co_firstlineno + 1


def test_checks_for_nans_do_not_end_the_search_for_the_first():
    ex = jv.explore(lambda x: jnp.log(x - 1.0) * 0.5, jnp.array([0.5, jnp.inf]))
    with jax.debug_nans(True), jax.debug_infs(True):
        values = ex.values()
    # `x` holds an infinity, which was there before.
    assert values.first_bad is not None
    assert (values.first_bad.name, values.first_bad.nan) == ("log", 1)


def test_a_bad_argument_is_the_first():
    bad = jv.explore(lambda x, y: (x + y).sum(), jnp.ones(3), jnp.array([1.0, jnp.nan, 0.0])).values().first_bad
    assert bad is not None
    assert bad.name == "y"


def test_infinities_count_where_nothing_is_nan():
    bad = jv.explore(lambda x: jnp.exp(x).sum(), jnp.array([1.0, 1000.0])).values().first_bad
    assert bad is not None
    assert (bad.name, bad.infinite, bad.nan) == ("exp", 1, 0)
    assert sum(bad.histogram) == 1


def test_good_programs_have_none():
    function, arguments = CORPUS["mlp_train"]()
    values = jv.explore(function, *arguments).values()
    assert values.first_bad is None
    assert "all of them finite" in repr(values)
    assert len(values) > 10


def test_at_the_borders_of_kernels_there_are_fewer_values_than_equations():
    def f(x):
        return jnp.sort(jnp.sin(x) * 2.0 + 1.0) @ x

    ex = jv.explore(f, jnp.arange(64.0))
    few, every = ex.values(), ex.values(every=True)
    assert len(few) < len(every)
    assert {value.node for value in few} <= {value.node for value in every}
    known = {value.node: value for value in every}
    assert all(value.mean == pytest.approx(known[value.node].mean, rel=1e-5) for value in few)


@pytest.mark.parametrize("name", ["mlp_grad", "flax_block_forward"])
def test_what_is_looked_at_first_is_no_more_than_what_kernels_write(name):
    function, arguments = CORPUS[name]()
    ex = jv.explore(function, *arguments)
    made = [value for value in ex.values() if ex.jaxpr.nodes.kind[value.node] == OPERATION]
    assert 0.3 * kernel_count(ex.hlo) < len(made) <= kernel_count(ex.hlo)


# Operations of HLO that run as a kernel, or in one.
_KERNEL = re.compile(r" (fusion|dot|reduce|custom-call|copy|call|convolution|transpose|sort|while|gather|scatter)\(")


def kernels_of(function, arguments):
    text = jax.jit(function).lower(*arguments).compile().as_text()
    return len(_KERNEL.findall(text[text.index("ENTRY") :]))


@pytest.mark.parametrize("name", ["mlp_train", "flax_block_forward"])
def test_to_look_at_what_kernels_write_takes_no_further_kernels(name, monkeypatch):
    compiled = []
    function_of = _Runner._function

    def seen(runner, chosen):
        compiled.append(kernels_of(function_of(runner, chosen), runner.inputs.leaves))
        return function_of(runner, chosen)

    monkeypatch.setattr(_Runner, "_function", seen)
    function, arguments = CORPUS[name]()
    ex = jv.explore(function, *arguments)
    values = ex.values()
    plain = kernels_of(function, arguments)
    # Another version of the compiler may be off by one or two.
    assert [count for count in compiled if count > 1.05 * plain] == []
    assert len(compiled) == 1
    every = {value.node for value in ex.values(every=True)}
    assert values.left_out == len(every - {value.node for value in values}) > 0
    assert f"; {values.left_out} operations inside of kernels were not looked at" in repr(values)


def test_values_that_are_asked_for_in_another_shape_are_shown_in_their_own():
    def f(x):
        y = x - x.mean(axis=-1, keepdims=True)
        mean, most = jax.jit(lambda y: (y.sum(), jnp.sort(y, axis=1)))(y)
        return (most * lax.rsqrt((y * y).sum(axis=-1, keepdims=True))).reshape(32, 8) @ jnp.ones((8, 8)) + mean

    x = jnp.arange(256.0).reshape(4, 8, 8)
    ex = jv.explore(f, x)
    few, every = ex.values(), {(value.node, value.type): value for value in ex.values(every=True)}
    assert len(few) > 4
    for value in few:
        known = every[value.node, value.type]
        assert value.count == known.count
        assert value.mean == pytest.approx(known.mean, rel=1e-4, abs=1e-4)


def test_how_a_sort_compares_is_no_step_of_what_it_writes():
    values = jv.explore(lambda x: jnp.sort(x) @ x, jnp.ones(100)).values()
    assert "sort" in [value.name for value in values]


def test_a_value_in_another_order_of_its_axes_is_not_written():
    # What is written is the product, not its transpose; what comes out of a loop is there in any case.
    def f(x):
        y = (x @ x.T).reshape(4, 8, 4, 8)
        z, _ = lax.scan(lambda c, _: (c * 2.0, None), jnp.sin(y), None, length=3)
        return jnp.transpose(jnp.sort(z) + 1.0, (2, 0, 3, 1))

    names = [value.name for value in jv.explore(f, jnp.ones((32, 16))).values()]
    assert "dot_general" in names
    assert {"sin", "<lambda>"} & set(names)
    assert not {"add"} & set(names)


def test_a_bad_value_is_listed_once():
    values = jv.explore(lambda x: jnp.log(x) * 2.0, jnp.array([-1.0, 2.0])).values()
    assert values.first_bad.name == "log"
    assert len({value.node for value in values}) == len(values)


def test_there_is_room_before_arguments_are_filled(monkeypatch):
    def fill(*arguments):
        raise AssertionError("filled")

    monkeypatch.setattr("jaxviz.measure.values.make_inputs", fill)
    ex = jv.explore(lambda x: jnp.sort(x @ x), jax.ShapeDtypeStruct((1000, 1000), jnp.float32))
    with pytest.raises(RunError, match="nothing was run"):
        ex.values(most_bytes=1_000_000)
    # Nor are arguments filled that have no room themselves.
    ex = jv.explore(lambda x: (x @ x).sum(), jax.ShapeDtypeStruct((10**7, 10**7), jnp.float32))
    with pytest.raises(RunError, match="needs 400 TB for what it makes"):
        ex.values()


@pytest.mark.parametrize("most_bytes", [0, -1, "1GB", None, True, float("nan")])
def test_a_wrong_number_of_bytes_is_refused(most_bytes):
    with pytest.raises(ValueError, match="most_bytes must be a number of bytes above 0"):
        jv.explore(jnp.sin, jnp.ones(3)).values(most_bytes=most_bytes)


def test_what_takes_too_much_is_not_run():
    ex = jv.explore(lambda x: jnp.sort(x) @ x, jnp.ones(10_000))
    with pytest.raises(RunError, match="needs 40 kB of memory, and only 1 kB may be used: nothing was run"):
        ex.values(most_bytes=1000)


def test_much_is_told_before(capsys):
    jv.explore(lambda x: jnp.sort(x, axis=0).sum(), jnp.ones((6000, 5000))).values()
    assert "To look at 2 values of <lambda>(f32[6000,5000]) needs 120 MB of memory" in capsys.readouterr().err


def test_keys_complex_and_whole_numbers_bodies_and_donated_arguments_have_values():
    @functools.partial(jax.jit, donate_argnums=0)
    def f(state, key, n):
        noise = jax.random.normal(key, state.shape) * 1j
        total = jax.lax.fori_loop(0, 3, lambda _, y: y * 2.0, state)
        return (total + noise).real, n + 1

    state = jnp.ones(8)
    values = jv.explore(f, state, jax.random.key(1), jnp.int32(3)).values(every=True)
    assert values.first_bad is None
    assert not state.is_deleted()
    assert any(value.name == "n" and value.most == 3 for value in values)
    assert any(value.most == 8.0 for value in values)


def test_an_error_while_it_runs_is_said_in_words():
    def f(x):
        return jax.pure_callback(lambda x: 1 / 0, x, x)

    with pytest.raises(RunError, match="division by zero"):
        jv.explore(f, jnp.ones(())).values()


def test_empty_and_all_bad_values_have_no_range():
    values = {value.name: value for value in jv.explore(lambda x: jnp.log(x), -jnp.ones(3)).values(every=True)}
    assert values["log"].histogram == ()
    assert values["log"].nan == 3
    assert jv.explore(lambda x: x * 2.0, jnp.ones((0, 4))).values(every=True).first_bad is None


def test_histograms_of_ranges_that_are_hard_to_part():
    """Numbers next to each other beside large ones, tiny ones, and those that no number says how far apart they are."""
    close = np.array([1.0, np.nextafter(1.0, 2)])
    whole = np.array([2.0**53, 2.0**53 + 2])
    tiny = np.array([0.0, 5e-324])
    wide = np.array([-1.7e308, 1.7e308])
    for numbers in (close, whole, tiny, wide, np.full(7, 3.0)):
        assert sum(_histogram(numbers)) == len(numbers)
        assert (_histogram(numbers)[0] == 1) == (numbers[0] != numbers[-1])
    spread = np.random.default_rng(0).normal(size=1000)
    assert _histogram(spread) == tuple(np.histogram(spread, 16)[0])
    near = jnp.full((4, 4), 1e30).at[0, 0].set(jnp.nextafter(jnp.float32(1e30), jnp.float32(0)))
    assert jv.explore(lambda x: x.sum(), near).values().first_bad is None


@pytest.mark.parametrize("fill", ["nothing", 3])
def test_what_shapes_cannot_be_filled_with_is_refused(fill):
    with pytest.raises(ValueError, match="normal, uniform, zeros, ones"):
        jv.explore(jnp.sin, jax.ShapeDtypeStruct((3,), jnp.float32)).values(fill=fill)


def test_values_of_what_is_not_there_any_more():
    x = jnp.ones(3)
    ex = jv.explore(lambda tree: tree["w"] * 2.0, {"w": x})
    x.delete()
    with pytest.raises(
        RunError, match=r"argument 1\['w'\] is not there any more: it was donated to a call, or deleted"
    ):
        ex.values()


def bad_logarithm():
    ex = jv.explore(lambda x: (jnp.log(x - 1.0) * 0.5).sum(), jnp.array([0.5, 2.0]))
    ex.values()
    return ex


def test_values_are_written_and_read(tmp_path):
    ex = bad_logarithm()
    document = ex.document()
    found = jv.load(document.save(tmp_path / "values.jaxviz"))
    assert found.to_json(packed=False) == document.to_json(packed=False)
    values = found.values[0].values
    assert values.first_bad is not None
    assert values.first_bad.name == "log"
    assert jv.explore(jnp.sin, 1.0).document().values == ()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda value: value.update(program=1), "$.values[0].program"),
        (lambda value: value.update(bad=10**6), "$.values[0].bad"),
        (lambda value: value["mean"].pop(), "$.values[0].mean"),
        (lambda value: value["nan"].__setitem__(0, -1), "$.values[0].nan[0]"),
        (lambda value: value["histogram"].__setitem__(0, 3), "$.values[0].histogram[0]"),
    ],
)
def test_wrong_values_are_refused_by_place(change, expected):
    value = copy.deepcopy(bad_logarithm().document().to_json(packed=False))
    change(value["values"][0])
    with pytest.raises(DocumentError) as raised:
        Document.from_json(value)
    assert f": {expected}: expected" in str(raised.value)


def test_the_results_of_one_operation_are_told_apart():
    def pairs(w, x, h, c):
        def cell(carry, u):
            h, c = carry
            h = jnp.tanh(w @ h + u)
            return (h, c + h.sum()), (h * 2.0, c)

        (h, c), (ys, cs) = jax.lax.scan(cell, (h, c), x)
        *_, last = jax.lax.scan(cell, (h, c), x)
        return h, ys, cs, c, last

    ex = jv.explore(pairs, jnp.ones((4, 4)), jnp.ones((7, 4)), jnp.ones(4), jnp.zeros(()))
    found = [value for value in ex.values(every=True) if value.name.startswith("cell")]
    told = [(value.name, value.type, value.result) for value in found]
    assert told[:4] == [
        ("cell: h", "f32[4]", 0),
        ("cell: c", "f32[]", 1),
        ("cell: ys", "f32[7,4]", 2),
        ("cell: cs", "f32[7]", 3),
    ]
    # What nobody gave a name has its number.
    assert {(name, kind) for name, kind, _ in told[4:]} <= {
        ("cell: 1 of 4", "f32[4]"),
        ("cell: 2 of 4", "f32[]"),
        ("cell: 3 of 4", "f32[7,4]"),
        ("cell: 4 of 4", "f32[7]"),
    }
    assert len(told) > 4
    document = ex.document()
    again = Document.from_json(document.to_json())
    assert [(value.name, value.type) for value in again.values[0].values] == [
        (value.name, value.type) for value in document.values[0].values
    ]
    plain = document.to_json(packed=False)
    plain["values"][0]["result"][-1] = 9
    with pytest.raises(DocumentError, match=r"result\[\d+\]: expected a number below 4"):
        Document.from_json(plain)
