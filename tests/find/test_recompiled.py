"""Why a function was compiled again: each reason alone, the right argument, and no reason where there is none."""

from __future__ import annotations

import functools
from collections import namedtuple
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from find.compiled_again import FIRST, ONES, jitted, reasons_of, scaled

import jaxviz as jv
from jaxviz.find.recompiled import joined
from jaxviz.find.static_fields import changed_field


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
    assert reason.text == "`x['state'][0].step`, a static field, was 1, before 0"


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


def test_where_an_argument_lies_is_told_in_words():
    step = jitted()
    with jv.recording() as found:
        step(ONES)
        step(jax.device_put(ONES, jax.devices()[0]))
    ((reason,),) = found.reasons[1:]
    assert reason.text == f"`x` lay on {jax.default_backend()}:0, before wherever JAX puts it"


def test_several_reasons_are_told_together_and_where_the_function_is():
    step = jax.jit(scaled, static_argnames="k")
    with jv.recording() as found:
        for number in range(1, 5):
            step(jnp.ones(number), k=number)
    (finding,) = found.findings
    assert finding.title == f"scaled was compiled 4 times (line {scaled.__code__.co_firstlineno})"
    assert "the shape of `x` was [4], before [3]; 3 times, the last time because the static argument" in finding.text
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
    assert [reason.text for reason in rec.reasons[1]] == ["the static argument `y` was 4.0, before 1.0"]


@pytest.mark.parametrize("options", [{"static_argnames": "mode"}, {"static_argnums": 1}])
def test_a_static_argument_is_given_once_and_once_left_to_the_same_default(options):
    def trained(x, mode="train"):
        return x + 1

    step = jax.jit(trained, **options)
    with jv.recording() as found:
        for arguments in (("train",), (), ("train",)):
            step(ONES, *arguments)
    (_, (left,)) = found.reasons
    assert (left.kind, left.path) == ("passing", "mode")
    assert left.text == "the static argument `mode` was left to its default, 'train' too, before it was given"
    assert left.remedy == "Pass `mode` the same way in every call."
    with jv.recording() as found:
        step(jnp.ones(7))
        step(jnp.ones(7), "train")
    ((given,), *_) = found.reasons[1:]
    assert given.text == "the static argument `mode` was given, before it was left to its default, 'train' too"


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
    assert "because the static argument `n` was 3" in finding.text
    assert compiled_for([1, 2, 3, 4])[0].severity == "advice"
    assert compiled_for([False, True, False, True]) == ()


def test_the_reason_is_what_differs_from_the_call_that_is_most_alike():
    @jax.jit
    def scaled(x, n):
        return x * n

    with jv.recording() as rec:
        scaled(jnp.ones(3), 2)
        scaled(jnp.ones(3), 2.0)
        # Both arguments differ from the call before, in the same way.
        scaled(jnp.ones(3, jnp.int32), 2)
    assert [reason.text for reason in rec.reasons[2]] == ["`x` was i32, before f32"]


def test_an_object_with_other_values_is_not_told_to_be_made_equal():
    class Model:
        def __init__(self, rate):
            self.rate = rate

        @functools.partial(jax.jit, static_argnums=0)
        def step(self, x):
            return x * self.rate

    with jv.recording() as rec:
        for rate in (1, 2):
            Model(rate).step(ONES)
        Model(2).step(ONES)
    other, same = rec.reasons[1][0], rec.reasons[2][0]
    assert other.text == "the static argument `self` was another Model: `self.rate` was 2, before 1"
    assert "`self.rate` as an argument" in other.remedy
    assert "__eq__" not in other.remedy
    assert "give Model an `__eq__`" in same.remedy


def test_of_two_earlier_calls_the_one_that_differs_by_a_mistake_is_compared_with():
    step = jitted()
    found = reasons_of(lambda: (step(ONES, y=2.0), step(ONES, None), step(ONES, 2.0)))
    assert found[2] == [("passing", "y")]


def test_an_array_where_there_was_none_is_said_so():
    step = jitted()
    with jv.recording() as found:
        step(ONES, None)
        step(ONES, ONES)
    (reason,) = found.reasons[1]
    assert reason.text == "`y` was an array, before None"
    assert reason.remedy == "Give `y` in every call, or None in every call."


def test_keys_that_are_made_in_two_ways_are_one_reason():
    @jax.jit
    def drawn(key):
        return jax.random.normal(key)

    with jv.recording() as found:
        drawn(jax.random.key(0))
        drawn(jax.random.PRNGKey(0))
    (reason,) = next(why for one, why in zip(found.compilations, found.reasons, strict=True) if why[0].kind != "first")
    assert reason.text == "`key` was u32[2], before key<fry>[]"
    assert reason.remedy.startswith("Make keys in one way")
