"""What people are told to do about an error of JAX: as code that runs, and only where it helps."""

from __future__ import annotations

import statistics

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from errors.failing import X
from errors.failing.telling import all_words, cures_of, failed, failed_anew

try:
    from jax import enable_x64
except ImportError:  # until 0.7
    from jax.experimental import enable_x64

import jaxviz as jv


def test_static_arguments_are_offered_only_where_they_can_be():
    told = failed("a_mask")[1].explanation
    assert not any("static" in cure.text for cure in told.cures)
    told = failed("a_length")[1].explanation
    assert "%jaxviz --static 0 a_length(5)" in told.cures[0].code


def test_static_arguments_are_not_offered_where_one_of_them_is_an_array():
    def fn(x, limit):
        return x if jnp.sum(x) > limit else -x

    with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
        jv.explore(fn, X, 2.0)
    assert "--static" not in all_words(caught.value.jaxviz.explanation)


def test_several_arguments_are_static_together():
    def fn(n, m):
        return jnp.zeros((n * m,))

    with pytest.raises(TypeError) as caught:
        jv.explore(fn, 2, 3)
    assert "%jaxviz --static 0,1 fn(2, 3)" in all_words(caught.value.jaxviz.explanation)


def test_a_call_that_nobody_typed_is_not_to_be_typed_again():
    def fn(x, n):
        return jnp.broadcast_to(x, (n, 3))

    with pytest.raises(TypeError) as caught:
        jv.explore(fn, X, 2)
    assert [cure.code for cure in caught.value.jaxviz.explanation.cures] == ['fast = jax.jit(fn, static_argnames="n")']


def test_a_derivative_that_is_called_with_an_integer_says_with_what_to_call_it():
    slope = jax.grad(lambda n: n**2)
    with pytest.raises(TypeError) as caught:
        jv.explore(slope, 3)
    assert caught.value.jaxviz.explanation.reason.endswith("Call it with 3.0, not with 3.")


def test_code_that_is_what_failed_is_no_cure():
    def fn(x):
        return statistics.median([x.sum(), x.max()])

    with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
        jv.explore(fn, X)
    told = caught.value.jaxviz.explanation
    assert not told.cures
    assert told.reason.endswith("call it outside of the traced function.")


def test_a_function_that_is_jitted_is_made_static_as_it_was_before():
    @jax.jit
    def chosen(x, mode):
        return jnp.sin(x) if mode == "sin" else jnp.cos(x)

    (cure,) = cures_of(chosen, X, "sin")
    names = {"jax": jax, "chosen": chosen}
    exec(cure.code, names)
    assert jnp.array_equal(names["fast"](X, "sin"), jnp.sin(X))


class Halved:
    @jax.jit
    def __call__(self, x):
        return x / 2

    @jax.jit
    def again(self, x):
        return self(x) / 2


def test_a_jitted_method_that_is_explored_is_given_with_its_object_static():
    for explored, name in ((Halved(), "__call__"), (Halved().again, "again")):
        (cure,) = cures_of(explored, X)
        assert cure.code.startswith(f"@functools.partial(jax.jit, static_argnums=0)\ndef {name}(self, x):")


def test_a_switch_of_python_that_is_turned_by_bits_is_not_made_static():
    told = failed("a_switch_that_is_turned")[1].explanation
    assert not any("static" in cure.text for cure in told.cures)


def test_a_function_that_calls_itself_is_not_called_on_both_ways():
    told = failed("a_sum_of_the_two_before")[1].explanation
    assert not any("jnp.where" in cure.code for cure in told.cures)


def test_a_number_that_is_a_size_is_not_kept_as_an_array():
    def sized(n):
        count = int(n)
        return jnp.zeros(count)

    def doubled(n):
        count = int(n)
        return jnp.zeros(3) + count

    assert [cure.text.split()[0] for cure in cures_of(sized, 3)] == ["Make"]
    assert [cure.text.split()[0] for cure in cures_of(doubled, 3)] == ["Keep", "Make"]


def as_many_as_the_largest(x, scale):
    y = jnp.sin(x)
    n = int(x.max() * scale)
    return jnp.zeros(n) + y.sum()


def as_many_as_one_more(x):
    x = x + 1
    n = int(x.max())
    return jnp.zeros(n)


def test_a_size_that_is_computed_of_arguments_is_computed_before():
    (cure,) = cures_of(as_many_as_the_largest, X, jnp.float32(2))
    names = {"jax": jax, "jnp": jnp, "x": X, "scale": 2.0}
    exec(cure.code, names)
    assert names["n"] == 6
    np.testing.assert_allclose(names["result"], np.full(6, jnp.sin(X).sum()), rtol=1e-6)
    assert not cures_of(as_many_as_one_more, X)


def drawn_twice(key):
    one = jax.random.normal(key)
    return one + jax.random.uniform(key)


def test_a_key_that_jax_sees_used_twice_is_split():
    jax.config.update("jax_debug_key_reuse", True)
    try:
        (cure,) = cures_of(drawn_twice, jax.random.key(0))
    finally:
        jax.config.update("jax_debug_key_reuse", False)
    assert cure.code == (
        "keys = jax.random.split(key, 2)\none = jax.random.normal(keys[0])\nreturn one + jax.random.uniform(keys[1])"
    )


def test_axes_that_are_not_to_be_added_unasked_are_added_in_the_code():
    jax.config.update("jax_numpy_rank_promotion", "raise")
    try:
        (cure,) = cures_of(stretched, jnp.ones((2, 3)), X)
    finally:
        jax.config.update("jax_numpy_rank_promotion", "allow")
    assert cure.code == "return rows * x[None]"


def stretched(rows, x):
    return rows * x


def test_what_cannot_be_known_has_no_code():
    assert not cures_of(lambda x: jax.lax.fori_loop(0, x, lambda count, i: count + i, 10), X)
    assert not cures_of(lambda x: jax.lax.top_k(x, x.argmax()), X)


# What is tried before it is told.


def test_what_reaches_out_of_itself_is_not_run_to_try_a_cure():
    seen = []

    def noted(x):
        seen.append(x.shape)
        return x

    def fn(x):
        if x.sum() > 0:
            return noted(x)
        return -x

    assert next(cure.code for cure in cures_of(fn, X)) == "return jnp.where(x.sum() > 0, noted(x), -x)"
    assert not seen


def test_a_function_without_an_end_is_not_run_to_try_a_cure():
    def endless(x):
        while True:
            x = x + 1
        return x

    assert cures_of(lambda x: endless(x) if x.sum() > 0 else -x, X)


def test_a_cure_that_fails_for_these_shapes_is_not_told():
    assert not cures_of(lambda x: jnp.ones(2) if x.sum() > 0 else x, X)
    assert cures_of(lambda x: jnp.ones(1) if x.sum() > 0 else x, X)


def test_a_half_that_bounds_a_loop_is_told_where_64_bits_are_enabled_too():
    with enable_x64(True):
        _, shown = failed_anew("half_as_many_turns")
    assert shown.explanation.case == "whole size"


def test_a_state_that_begins_with_another_size_begins_with_that_of_each_turn():
    def fn(weights, rows):
        def cell(state, row):
            state = jnp.tanh(row @ weights + state.sum())
            return state, state

        begin = jnp.zeros(4)
        return jax.lax.scan(cell, begin, rows)

    (cure,) = cures_of(fn, jnp.ones((3, 8)), jnp.ones((10, 3)))
    assert cure.code == "begin = jnp.zeros(8)"


def test_python_is_not_to_make_turns_of_which_the_second_would_fail():
    def fn(x):
        return jax.lax.fori_loop(0, 3, lambda _, x: x @ jnp.ones((3, 4)), x)

    with pytest.raises(TypeError) as caught:
        jv.explore(fn, jnp.ones((2, 3)))
    told = caught.value.jaxviz.explanation
    assert not told.cures
    assert "could not take that in the next turn" in told.reason


def test_a_layer_that_is_told_to_train_or_not_is_given_that_by_python_alone():
    nn = pytest.importorskip("flax.linen")  # Flax is not there with the oldest JAX.

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x, train):
            return nn.Dropout(0.5, deterministic=not train)(x)

    @jax.jit
    def apply(x, train, key):
        return Net().apply({}, x, train, rngs={"dropout": key})

    (cure,) = cures_of(apply, X, True, jax.random.key(0))
    names = {"jax": jax, "apply": apply}
    exec(cure.code, names)
    assert names["fast"](X, True, jax.random.key(0)).shape == X.shape


@pytest.mark.parametrize(("fn", "said"), [(np.sin, "sin"), (np.linalg.norm, "linalg.norm"), (np.sort, "sort")])
def test_a_function_of_numpy_that_is_explored_as_it_is_is_told_by_its_name(fn, said):
    with pytest.raises(Exception, match="traced array") as caught:
        jv.explore(fn, X)
    told = caught.value.jaxviz.explanation
    assert told.title == f"`{said}` is NumPy's, and needs the numbers that JAX traces without"
    assert "Use the function of jax.numpy" in told.reason
