"""Why a function was compiled again: each reason alone, the right argument, and no reason where there is none."""

from __future__ import annotations

import functools
from collections import namedtuple
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxviz as jv
from jaxviz.find.recompiled import joined
from jaxviz.find.static_fields import changed_field


def reasons_of(run):
    with jv.recording() as found:
        run()
    return [[(reason.kind, reason.path) for reason in why] for why in found.reasons]


def jitted(**options):
    """A new function for each test: nothing is compiled before."""

    @functools.partial(jax.jit, **options)
    def step(x, y=1.0):
        return jax.tree_util.tree_map(lambda leaf: leaf * 2, x), y

    return step


ONES = jnp.ones(3)
FIRST = [("first", "")]


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("options", "first", "second", "expected"),
    [
        ({}, lambda f: f(jnp.ones(3)), lambda f: f(jnp.ones(4)), [("shape", "x")]),
        ({}, lambda f: f(jnp.ones(3)), lambda f: f(jnp.ones((3, 1))), [("shape", "x")]),
        ({}, lambda f: f(jnp.ones(3)), lambda f: f(jnp.ones(3, jnp.int32)), [("dtype", "x")]),
        ({}, lambda f: f(1.0), lambda f: f(jnp.float32(1)), [("weak", "x")]),
        ({}, lambda f: f(jnp.float32(1)), lambda f: f(1.0), [("weak", "x")]),
        ({}, lambda f: f({"a": ONES}), lambda f: f({"a": ONES, "b": ONES}), [("tree", "x")]),
        ({}, lambda f: f((ONES, ONES)), lambda f: f([ONES, ONES]), [("tree", "x")]),
        ({}, lambda f: f({"a": ONES}), lambda f: f({"a": jnp.ones(4)}), [("shape", "x['a']")]),
        ({}, lambda f: f(ONES), lambda f: f(ONES, 2.0), [("tree", "y")]),
        ({}, lambda f: f(ONES, 2.0), lambda f: f(ONES, y=2.0), [("passing", "y")]),
        ({"static_argnames": "y"}, lambda f: f(ONES, y=1), lambda f: f(ONES, y=2), [("static", "y")]),
        ({"static_argnums": 1}, lambda f: f(ONES, 1), lambda f: f(ONES, 2), [("static", "y")]),
    ],
)
def test_what_differs_is_the_reason(options, first, second, expected):
    step = jitted(**options)
    found = reasons_of(lambda: (first(step), second(step)))
    assert found == [FIRST, expected]


@jax.tree_util.register_dataclass
@dataclass
class State:
    w: jax.Array
    step: int = field(metadata={"static": True}, default=0)


def test_a_static_field_that_changes_is_named():
    step = jitted()
    with jv.recording() as found:
        for number in range(2):
            step({"state": (State(ONES, number),)})
    (reason,) = found.reasons[1]
    assert (reason.kind, reason.path) == ("static", "x['state'][0].step")
    assert reason.text == "`x['state'][0].step`, a static field, is 1, before 0"


def test_static_fields_of_libraries_are_named():
    equinox, nnx = pytest.importorskip("equinox"), pytest.importorskip("flax.nnx")

    class Layer(equinox.Module):
        w: jax.Array
        size: int = equinox.field(static=True)

    class Network(nnx.Module):
        def __init__(self, size):
            self.w = nnx.Param(ONES)
            self.size = size

    for make in (lambda size: Layer(ONES, size), Network):
        structures = (jax.tree_util.tree_structure(make(size)) for size in (3, 4))
        assert changed_field("model", *structures) == ("model.size", 3, 4)


def test_two_things_that_differ_are_two_reasons():
    step = jitted()
    found = reasons_of(lambda: (step(ONES, 1.0), step(jnp.ones(4), jnp.float32(1.0))))
    assert found[1] == [("shape", "x"), ("weak", "y")]


def test_the_closest_earlier_specialization_is_compared():
    step = jitted()
    many = [jnp.ones((3, 3)), jnp.ones(3), jnp.ones((4, 4), jnp.int32)]
    found = reasons_of(lambda: ([step(x, y) for x in many for y in (1.0,)], step(jnp.ones((3, 3)), jnp.float32(2))))
    assert found[3] == [("weak", "y")]


def test_a_lambda_made_at_each_call_is_a_new_function_object():
    def outer(x):
        return jax.jit(lambda y: y * 3)(x)

    found = reasons_of(lambda: [outer(ONES) for _ in range(3)])
    assert [why[0][0] for why in found] == ["first", "function", "function"]


def test_what_a_new_function_object_captured_is_named():
    def make(rate):
        def update(x):
            return x * rate

        return jax.jit(update)

    with jv.recording() as found:
        for rate in (0.1, 0.2):
            make(rate)(ONES)
    assert "rate = 0.2, before with 0.1" in found.reasons[1][0].text
    assert found.reasons[1][0].remedy.startswith("Pass `rate` as an argument")


def test_a_wrapper_of_a_library_is_not_said_to_come_from_one_line():
    def step(x):
        return x * 2

    found = reasons_of(lambda: [jax.jit(functools.partial(step))(ONES) for _ in range(2)])
    assert [why[0][0] for why in found] == ["first", "wrapper"]
    # The function alone after a wrapper of it is another function.
    found = reasons_of(lambda: (jax.jit(jax.vmap(step))(ONES), jax.jit(step)(ONES)))
    assert found == [FIRST, FIRST]


def test_two_functions_of_one_decorator_are_two_functions():
    def decorate(function):
        def wrapper(x):
            return function(x)

        return jax.jit(wrapper)

    def one(x):
        return x + 1

    def other(x):
        return x + 2

    assert reasons_of(lambda: (decorate(one)(ONES), decorate(other)(ONES))) == [FIRST, FIRST]


def test_an_object_without_equality_is_told_from_a_value():
    class Plain:
        pass

    @dataclass(frozen=True)
    class Frozen:
        size: int = 2

    def run(make):
        step = jitted(static_argnums=1)
        # The result holds the static value, which is no array.
        size = jax.jit(lambda x, y: x * 2, static_argnums=1)
        assert step is not None
        return reasons_of(lambda: [size(ONES, make()) for _ in range(2)])

    assert run(Plain) == [FIRST, [("value", "y")]]
    assert run(Frozen) == [FIRST]


def test_options_of_jit_are_a_reason():
    def step(x):
        return x * 2

    found = reasons_of(lambda: (jax.jit(step)(jnp.ones(3)), jax.jit(step, donate_argnums=0)(jnp.ones(3))))
    assert found == [FIRST, [("setting", "donate_argnums")]]


def test_what_is_not_known_is_said():
    step = jitted()

    def run():
        step(ONES)
        step.clear_cache()
        jax.clear_caches()
        step(ONES)

    assert reasons_of(run) == [FIRST, [("unknown", "")]]


INNOCENT = {
    "the same call again": lambda f: [f(ONES) for _ in range(5)],
    "other values": lambda f: [f(jnp.full(3, value)) for value in range(5)],
    "NumPy for JAX": lambda f: [f(np.ones(3, np.float32)), f(jnp.ones(3))],
    "types that JAX narrows": lambda f: [f(np.ones(3)), f(np.ones(3, np.float32))],
    "other numbers": lambda f: [f(ONES, value) for value in (1.0, 2.0, 3.0)],
    "two sizes": lambda f: [f(jnp.ones(size)) for size in (3, 4, 3, 4)],
    "two types": lambda f: [f(jnp.ones(3, dtype)) for dtype in (jnp.float32, jnp.int32)],
    "a named tuple": lambda f: [f(Pair(ONES, 1)), f(Pair(ONES, 2))],
}
Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize("name", INNOCENT)
def test_innocent_programs_have_no_finding(name):
    step = jitted()
    with jv.recording() as found:
        INNOCENT[name](step)
    assert found.findings == ()


def test_a_leak_is_found_with_its_count_and_remedy():
    def outer(x):
        return jax.jit(lambda y: y * 5)(x)

    with jv.recording() as found:
        for _ in range(4):
            outer(ONES)
    (finding,) = found.findings
    assert finding.severity == "warning"
    assert {**finding.figures, "seconds": 0} == {"compilations": 4, "function": 3, "seconds": 0}
    assert finding.figures["seconds"] == pytest.approx(sum(sum(one.seconds.values()) for one in found.compilations[1:]))
    assert "Compiling it again took" in finding.text
    assert "once, outside of the loop or function" in finding.remedy


def test_many_sizes_are_advice_then_a_warning():
    step = jitted()
    with jv.recording() as found:
        for size in range(1, 5):
            step(jnp.ones(size))
    assert [finding.severity for finding in found.findings] == ["advice"]
    with jv.recording() as found:
        for size in range(5, 20):
            step(jnp.ones(size))
    assert [finding.severity for finding in found.findings] == ["warning"]
    assert "axis 0 of `x`" in found.findings[0].remedy


@pytest.mark.smoke
def test_functions_that_are_gone_when_it_is_told_are_known_by_what_they_were():
    """What a training loop defines for itself no longer lives when somebody asks why it was compiled again."""

    def train():
        step = jax.jit(lambda state, batch: state * 0.9 + batch.mean())
        state = 0.0
        for size in (4, 4, 3):
            state = step(state, jnp.ones(size))

    with jv.recording() as found:
        train()
    assert [[reason.kind for reason in why] for why in found.reasons] == [["first"], ["weak"], ["shape"]]


def test_a_lambda_under_a_gradient_that_is_made_anew_is_told_as_one():
    def train():
        for _ in range(3):
            jax.jit(jax.grad(lambda x: (x**2).sum()))(ONES)

    with jv.recording() as found:
        train()
    assert [why[0].kind for why in found.reasons] == ["first", "function", "function"]
    (finding,) = found.findings
    assert finding.severity == "warning"
    assert "this lambda is a new function object" in finding.text


def test_one_function_that_is_wrapped_anew_is_told_by_its_wrapper():
    def loss(x):
        return (x**2).sum()

    def train():
        for _ in range(3):
            jax.jit(jax.grad(loss))(ONES)

    assert [why[0][0] for why in reasons_of(train)] == ["first", "wrapper", "wrapper"]


def test_a_loop_outside_of_jit_is_told_by_the_function_that_it_is_given():
    def train():
        for _ in range(3):
            jax.lax.scan(lambda c, x: (c + x, c), 0.0, ONES)

    with jv.recording() as found:
        train()
    (finding,) = found.findings
    assert "the function that `scan` was given is a new object" in finding.text
    assert "jit `scan`" not in finding.remedy
    line = train.__code__.co_firstlineno + 2
    assert finding.title == f"scan was compiled 3 times (line {line})"


def test_loops_outside_of_jit_that_are_given_other_functions_are_not_compiled_again():
    with jv.recording() as found:
        jax.lax.scan(lambda c, x: (c + x, c), 0.0, ONES)
        jax.lax.scan(lambda c, x: (c * x, c), 0.0, ONES)
        jax.lax.fori_loop(0, 5, lambda i, c: jnp.sin(c), 1.0)
    assert [why[0].kind for why in found.reasons] == ["first"] * 3
    assert found.findings == ()


def mapped(x):
    return jnp.cos(x)


@pytest.mark.parametrize(
    "run",
    [
        lambda: jax.lax.map(lambda x: x * 2, ONES),
        lambda: jax.lax.map(mapped, ONES),
        lambda: jax.lax.map(jnp.sin, ONES),
        lambda: jax.lax.map(lambda x: x * 2, jnp.arange(7.0), batch_size=2),
    ],
)
def test_a_map_outside_of_jit_is_compiled_in_each_call(run):
    with jv.recording() as found:
        for _ in range(3):
            run()
    (finding,) = found.findings
    assert finding.title.startswith("map was compiled 3 times")
    assert "`map` puts a new function around the one that it is given in each call" in finding.text
    assert finding.remedy == "Call `map` inside of a function that is jitted once."


def test_a_reduction_with_a_new_function_is_told_by_that_function():
    def train():
        for _ in range(3):
            jax.lax.reduce(ONES, 0.0, lambda x, y: x + y, (0,))

    with jv.recording() as found:
        train()
    (finding,) = found.findings
    assert "the function that `reduce` was given is a new object" in finding.text
    assert [line.line for line in finding.lines] == [train.__code__.co_firstlineno + 2]


def test_loops_outside_of_jit_that_are_given_the_same_are_compiled_once():
    def double(i, x):
        return x * 2

    def total(c, x):
        return c + x, c

    with jv.recording() as found:
        for _ in range(3):
            jax.lax.fori_loop(0, 3, double, ONES)
            jax.lax.scan(total, 0.0, ONES)
    assert [one.definition.name for one in found.compilations] == ["fori_loop", "scan"]
    assert found.findings == ()


def test_the_number_of_turns_of_a_loop_outside_of_jit_is_a_reason():
    def double(i, x):
        return x * 2

    with jv.recording() as found:
        for turns in range(1, 5):
            jax.lax.fori_loop(0, turns, double, ONES)
    assert [(reason.kind, reason.text) for reason in found.reasons[-1]] == [
        ("static", "the number of turns is 4, before 3")
    ]
    (finding,) = found.findings
    assert "has its bounds as arguments" in finding.remedy


@pytest.mark.parametrize("transform", [jax.vmap, jax.grad, jax.jacfwd])
def test_a_function_that_is_jitted_anew_under_a_transformation_is_found(transform):
    def train():
        for _ in range(3):
            transform(jax.jit(lambda x: jnp.sin(x) * 2))(1.0 if transform is jax.grad else ONES)

    with jv.recording() as found:
        train()
    (finding,) = found.findings
    assert "this lambda is a new function object" in finding.text
    assert [line.line for line in finding.lines] == [train.__code__.co_firstlineno + 2]


@pytest.mark.parametrize(
    "transform", [jax.vmap, jax.grad, jax.hessian, lambda f: jax.grad(jax.checkpoint(f)), jax.jacrev]
)
def test_a_function_that_is_jitted_once_is_innocent_under_transformations(transform):
    inner = jax.jit(lambda x: jnp.sin(x) * 2)
    outer = jax.jit(lambda x: inner(inner(x)))
    with jv.recording() as found:
        for _ in range(3):
            transform(lambda x: outer(x))(ONES if transform is jax.vmap else 1.0)
    assert found.compilations
    assert found.findings == ()


def test_another_activation_is_told_by_its_name():
    @functools.partial(jax.jit, static_argnums=1)
    def layer(x, activation):
        return activation(x)

    with jv.recording() as found:
        layer(ONES, jax.nn.relu)
        layer(ONES, jnp.tanh)
    ((reason,),) = found.reasons[1:]
    assert reason.kind == "static"
    assert "tanh, before relu" in reason.text


def test_where_an_argument_lies_is_told_in_words():
    step = jitted()
    with jv.recording() as found:
        step(ONES)
        step(jax.device_put(ONES, jax.devices()[0]))
    ((reason,),) = found.reasons[1:]
    assert reason.text == f"`x` lies on {jax.default_backend()}:0, before wherever JAX puts it"


def applied(fn, x):
    return fn(x)


def scaled(x, k=1):
    return x * k


def of_new_lambdas():
    run = jax.jit(applied, static_argnums=0)
    for _ in range(3):
        run(lambda v: v * 2, ONES)


def of_new_partials():
    run = jax.jit(applied, static_argnums=0)
    for _ in range(3):
        run(functools.partial(scaled, k=2), ONES)


def of_partials_with_other_numbers():
    for k in range(4):
        jax.jit(functools.partial(scaled, k=k))(ONES)


def of_several_functions():
    run = jax.jit(applied, static_argnums=0)
    for fn in (jnp.sin, jnp.cos, jnp.tan, jnp.exp):
        run(fn, ONES)


@pytest.mark.parametrize(
    ("run", "said", "remedy"),
    [
        (of_new_lambdas, "`fn` is a new function object", "Make that function once"),
        (of_new_partials, "`fn` is a new partial object", "Make that partial once"),
        (of_partials_with_other_numbers, "this time with k = 3, before with 2", 'static_argnames="k"'),
        (of_several_functions, "`fn` is exp, before tan", "jax.lax.switch"),
    ],
)
def test_what_to_do_about_functions_that_are_arguments(run, said, remedy):
    with jv.recording() as found:
        run()
    (finding,) = found.findings
    assert said in finding.text
    assert remedy in finding.remedy
    assert "__eq__" not in finding.remedy


def test_several_reasons_are_told_together_and_where_the_function_is():
    step = jax.jit(scaled, static_argnames="k")
    with jv.recording() as found:
        for number in range(1, 5):
            step(jnp.ones(number), k=number)
    (finding,) = found.findings
    assert finding.title == f"scaled was compiled 4 times (line {scaled.__code__.co_firstlineno})"
    assert "the shape of `x` is [4], before [3]; 3 times, the last time because the static argument" in finding.text
    assert "axis 0 of `x`" in finding.remedy
    assert "Each value of `k`" in finding.remedy
    assert (finding.figures["shape"], finding.figures["static"]) == (3, 3)


def test_a_static_argument_that_was_left_to_its_default_before_is_named():
    step = jitted(static_argnames="y")
    assert reasons_of(lambda: (step(ONES), step(ONES, y=2.0))) == [FIRST, [("static", "y")]]
    step = jitted(static_argnums=1)
    with jv.recording() as rec:
        step(ONES)
        step(ONES, 4.0)
    assert [reason.text for reason in rec.reasons[1]] == ["the static argument `y` is 4.0, before 1.0"]


def test_remedies_that_differ_only_in_the_argument_are_one():
    assert joined(["Pad `x` or mask.", "Pad `y` or mask.", "", "Pad `z` or mask."]) == "Pad `x`, `y` and `z` or mask."
    assert joined(["Make `x` an array: `x` changes.", "Make `y` an array: `y` changes."]) == (
        "Make `x` an array: `x` changes. Make `y` an array: `y` changes."
    )
    assert joined(["Set it once.", "Pad `x`.", "Set it once."]) == "Set it once. Pad `x`."

    @jax.jit
    def scaled(x, y):
        return x * y

    with jv.recording() as rec:
        for number in (3, 4):
            scaled(jnp.ones(number), jnp.ones(number))
    assert joined(reason.remedy for reason in rec.reasons[1]).startswith(
        "Bring axis 0 of `x` and `y` to a few fixed sizes"
    )


def compiled_for(values):
    step = jax.jit(lambda x, n: x * n, static_argnums=1)
    with jv.recording() as found:
        for value in values:
            step(ONES, value)
    return found.findings


def test_three_values_of_a_static_argument_are_a_note():
    (finding,) = compiled_for([1, 2, 3])
    assert finding.severity == "note"
    assert "because the static argument `n` is 3" in finding.text
    assert compiled_for([1, 2, 3, 4])[0].severity == "advice"
    assert compiled_for([False, True, False, True]) == ()
