"""Large arrays that are baked in are found, by the name that the person gave them."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from find import settings
from find.found import found, line_numbers, the

WEIGHTS = jnp.ones((300, 300))
TABLES = {"sin": [np.ones((200, 200))]}


class Model:
    def __init__(self):
        self.weights = jnp.ones((200, 200))

    def __call__(self, x):
        return x @ self.weights

    def step(self, x):
        return self(x) + 1


def of_the_module(x):
    y = x * 2
    return y @ WEIGHTS


def enclosing():
    table = jnp.ones((200, 200))
    return lambda x: table @ x


def test_an_array_of_another_module_has_the_name_that_is_written():
    finding = the("captured", lambda x: x @ settings.WEIGHTS, jnp.ones(300))
    assert finding.title.startswith("`settings.WEIGHTS` (f32[300,300], ")
    assert "`settings.WEIGHTS` (a variable of the module `settings`)" in finding.text
    assert finding.remedy.startswith("Pass it as an argument")


def test_an_array_of_the_module():
    finding = the("captured", of_the_module, jnp.ones(300))
    assert finding.title.startswith("`WEIGHTS` (f32[300,300], 360 kB) is baked in as a constant (line ")
    assert f"`WEIGHTS` (a variable of the module `{of_the_module.__module__}`)" in finding.text
    made = "jnp.full((300, 300), 1.0, 'float32')"
    assert finding.remedy == (
        f"Pass `WEIGHTS` as an argument; or, as all of its entries are 1.0, make it inside of the function: {made}."
    )
    assert line_numbers(finding, of_the_module) == [2]
    assert finding.figures == {"bytes": 360_000, "arrays": 1}
    assert finding.severity == "advice"


def multiplied(table, x):
    return jnp.dot(table, x)


@pytest.mark.parametrize(
    ("fn", "size", "name"),
    [
        (enclosing(), 200, "table"),
        (lambda x: x @ TABLES["sin"][0], 200, "TABLES['sin'][0]"),
        (Model(), 200, "weights"),
        (Model().step, 200, "self.weights"),
        (jax.jit(Model().step), 200, "self.weights"),
        (functools.partial(multiplied, WEIGHTS), 300, "argument 0"),
        (jax.grad(lambda x: (WEIGHTS @ x).sum()), 300, "WEIGHTS"),
        (lambda x: jax.jit(lambda y: WEIGHTS @ y)(x), 300, "WEIGHTS"),
    ],
)
def test_it_has_the_name_of_the_variable_or_attribute(fn, size, name):
    assert the("captured", fn, jnp.ones(size)).title.startswith(f"`{name}` ")


def with_a_default(x, table=WEIGHTS):
    return x @ table


@pytest.mark.parametrize(
    ("fn", "size", "scope"),
    [
        (enclosing(), 200, "a variable of `enclosing`"),
        (Model().step, 200, "held by an object of `Model`"),
        (functools.partial(multiplied, WEIGHTS), 300, "an argument of a partial"),
        (with_a_default, 300, "the default of a parameter of `with_a_default`"),
    ],
)
def test_it_says_where_the_variable_lives(fn, size, scope):
    assert scope in the("captured", fn, jnp.ones(size)).text


def test_the_arrays_of_one_model_are_one_finding():
    layers = [{"w": jnp.ones((200, 200)), "b": jnp.ones(200)} for _ in range(3)]

    def model(x):
        for layer in layers:
            x = x @ layer["w"] + layer["b"]
        return x

    finding = the("captured", model, jnp.ones(200))
    assert finding.title.startswith("`layers` (6 arrays, 482 kB) are baked in as constants")
    assert finding.figures == {"bytes": 3 * (160_000 + 800), "arrays": 6}
    assert finding.remedy == "Pass `layers` as an argument."


def test_what_numpy_makes_while_jax_traces_is_told_as_that():
    finding = the("captured", lambda x: x + np.arange(200_000, dtype=np.float32), jnp.ones(200_000))
    assert "made while JAX traced" in finding.text
    assert "jax.numpy" in finding.remedy


def test_one_array_that_two_bodies_read_is_one_finding():
    finding = the("captured", lambda x: WEIGHTS @ x + jax.jit(lambda y: WEIGHTS @ y)(x), jnp.ones(300))
    assert len(finding.nodes) == 2


def test_very_large_arrays_are_a_warning():
    huge = np.ones((2000, 2000), np.float32)
    assert the("captured", lambda x: x @ huge, jnp.ones(2000)).severity == "warning"


INNOCENT = {
    "an argument": (lambda x, w: x @ w, (jnp.ones(300), WEIGHTS)),
    "a small table": (lambda x: x + jnp.arange(4.0), (jnp.ones(4),)),
    "a number": (lambda x: x * 2.5, (1.0,)),
    "a partial of a number": (functools.partial(jnp.add, 1.0), (1.0,)),
    "an array that is made inside": (lambda x: x @ jnp.ones((300, 300)), (jnp.ones(300),)),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_what_is_given_or_small_is_left_alone(name):
    fn, arguments = INNOCENT[name]
    assert found("captured", fn, *arguments) == []


def test_a_dictionary_that_is_no_tree_to_jax_is_looked_into_all_the_same():
    tables = {1: jnp.ones((256, 256)), "two": 2}
    assert the("captured", lambda x: x @ tables[1], jnp.ones((256, 256))).title.startswith("`tables[1]` (")


MASK, STEPS = jnp.full((400, 400), -jnp.inf), jnp.arange(160_000.0).reshape(400, 400)


def test_what_holds_one_number_everywhere_can_be_made_inside():
    made = the("captured", lambda x: x + MASK, jnp.ones(400)).remedy
    assert "make it inside of the function: jnp.full((400, 400), -jnp.inf, 'float32')" in made
    assert the("captured", lambda x: x + STEPS, jnp.ones(400)).remedy == "Pass `STEPS` as an argument."
