"""What people are told to do about an error of JAX: as code that runs, and only where it helps."""

from __future__ import annotations

import ast
import functools
import inspect
import statistics
import textwrap
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from errors.failing import X
from errors.failing.telling import all_words, cures_of, failed, failed_anew, mended

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


gradient_by_row = jax.vmap(jax.grad(lambda w, x: ((x @ w) ** 2).sum()))
jitted_by_row = jax.jit(jax.vmap(lambda w, x: x @ w))


@jax.vmap
def product_by_row(w, x):
    return x @ w


@jax.vmap
def told_by_row(w, x):
    TOLD.append(x.shape)
    return x @ w


TOLD: list[tuple[int, ...]] = []
WEIGHTS, ROWS = jnp.ones(3), jnp.ones((5, 3))


def test_a_mapped_function_of_which_only_the_value_is_had_gets_axes_that_were_tried():
    def called(w, x):
        return product_by_row(w, x)

    for explored, gives in ((gradient_by_row, 6 * ROWS), (product_by_row, 3 * jnp.ones(5)), (called, 3 * jnp.ones(5))):
        (cure,) = cures_of(explored, WEIGHTS, ROWS)
        mapped = mended(called, inspect.getsourcelines(called)[1] + 1, cure.code) if explored is called else None
        names = {"jax": jax, **globals()}
        if mapped is None:
            exec(cure.code, names)
            mapped = names[cure.code.split()[0]]
        assert jnp.array_equal(mapped(WEIGHTS, ROWS), gives)
    (cure,) = cures_of(product_by_row, jnp.ones((2, 3)), ROWS)
    assert "in_axes=(0, None)" in cure.code


def test_axes_of_a_mapped_function_are_not_guessed_where_they_cannot_be_tried():
    for explored in (jitted_by_row, told_by_row):
        assert not cures_of(explored, WEIGHTS, ROWS)
    assert not TOLD


def test_the_square_of_a_product_is_tried_before_a_cure_is_told():
    def each(w, x):
        return jax.vmap(jax.grad(lambda w, x: ((x @ w) ** 2).sum()))(w, x)

    (cure,) = cures_of(each, WEIGHTS, ROWS)
    assert "in_axes=(None, 0)" in cure.code


doubled_by_entry = jax.pmap(lambda one, by: one * by, in_axes=(0, None))


@jax.pmap
def halved_by_entry(one):
    return one / 2


@functools.partial(jax.pmap, axis_name="i")
def shared_by_entry(one):
    return one / jax.lax.psum(one, "i")


@pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="before JAX 0.10 the error comes when it runs")
def test_more_entries_than_devices_are_mapped_on_each_of_them():
    entries = jnp.ones(2 * jax.local_device_count())

    @functools.partial(jax.pmap, axis_name="i", donate_argnums=0)
    def donated(one):
        return one / 2

    def at_once(x):
        return jax.pmap(lambda one: one + 1)(x)

    def given_beside(x):
        return doubled_by_entry(x, 3)

    def decorated(x):
        return halved_by_entry(x)

    def summed_up(x):
        return shared_by_entry(x)

    def in_place(x):
        return donated(x)

    share = 0.5 / jax.local_device_count()
    for fn, gives in ((at_once, 2), (given_beside, 3), (decorated, 0.5), (summed_up, share)):
        (cure,) = cures_of(fn, entries)
        result = eval(cure.code.removeprefix("return "), {**globals(), "x": entries})
        assert jnp.allclose(result, gives)
    assert not cures_of(in_place, entries)


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


def with_a_list_of_sums(x):
    out = []

    def turn(i, total):
        out.append(total)
        return total + x[i]

    last = jax.lax.fori_loop(0, 3, turn, 0.0)
    return jnp.stack([*out, last])


def test_turns_that_store_what_is_used_later_are_made_by_python():
    with pytest.raises(jax.errors.UnexpectedTracerError) as caught:
        jv.explore(with_a_list_of_sums, X)
    (cure,) = caught.value.jaxviz.explanation.cures
    (line,) = [
        node.lineno
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(with_a_list_of_sums))))
        if isinstance(node, ast.Assign) and "fori_loop" in ast.unparse(node)
    ]
    fn = mended(with_a_list_of_sums, line + with_a_list_of_sums.__code__.co_firstlineno - 1, cure.code)
    np.testing.assert_allclose(jax.jit(fn)(X), [0, 1, 3, 6])


def test_what_checking_leaks_finds_is_told_with_the_line_that_stores():
    with jax.checking_leaks():
        (cure,) = cures_of(storing, X)
    names = {"jnp": jnp, "x": X}
    exec(cure.code, names)
    np.testing.assert_allclose(names["kept"], 2 * X)


def test_what_leaked_in_a_cell_is_told_by_its_line_alone():
    path = "/tmp/ipykernel_1/2.py"
    names = {"jnp": jnp, "jax": jax, "stored": []}
    exec(compile(textwrap.dedent(inspect.getsource(storing)), path, "exec"), names)
    with jax.checking_leaks(), pytest.raises(Exception, match="Leaked trace") as caught:
        jv.explore(names["storing"], X)
    told = caught.value.jaxviz.explanation
    assert "`storing` (line 1)" in told.reason


class Remembering:
    def __init__(self):
        self.cache = {}

    def remember(self, name, value):
        self.cache[name] = value

    def loss(self, x):
        h = jnp.tanh(x)
        self.remember("h", h)
        return h.sum()


remembering = Remembering()


def using_what_was_derived(x):
    slope = jax.grad(remembering.loss)(x)
    return slope + remembering.cache["h"]


def using_what_was_jitted(x):
    loss = jax.jit(remembering.loss)
    value = loss(x)
    return value + remembering.cache["h"]


@pytest.mark.parametrize("fn", [using_what_was_derived, using_what_was_jitted])
def test_what_a_method_stores_by_another_is_given_back_beside_the_result(fn):
    with pytest.raises(jax.errors.UnexpectedTracerError) as caught:
        jv.explore(fn, X)
    told = caught.value.jaxviz.explanation
    assert "stores it: `self.cache[name] = value`." in told.reason
    (cure,) = told.cures
    definition, _, call = cure.code.rpartition("\n\n")
    names = {"jax": jax, "jnp": jnp, "x": X}
    exec(definition, names)
    names["remembering"] = type("Mended", (), {"loss": names["loss"]})()
    names["loss"] = jax.jit(names["remembering"].loss)
    exec(call, names)
    np.testing.assert_allclose(names["kept"], jnp.tanh(X))


stored = []


def storing(x):
    stored.append(2 * x)
    return x + 1


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


def test_what_a_jitted_function_stores_is_given_back_beside_its_result():
    def of_a_dictionary(x):
        seen = {}

        @jax.jit
        def doubled(v):
            seen["last"] = v * 2
            return v, v + 1

        same, more = doubled(x)
        return seen["last"] + same + more

    class Model:
        last = None

    def of_an_object(x):
        model = Model()

        @jax.jit
        def step(v):
            y = jnp.sin(v)
            model.last = y + 1
            return y

        step(x)
        return model.last * 2

    for fn, kept in ((of_a_dictionary, X * 2), (of_an_object, jnp.sin(X) + 1)):
        cure, *_ = cures_of(fn, X)
        assert "go on with `kept`" in cure.text
        names = {"jax": jax, "jnp": jnp, "x": X}
        exec(cure.code, names)
        np.testing.assert_allclose(names["kept"], kept, rtol=1e-6)


noted: list[jax.Array] = []


@jax.jit
def noting(x):
    noted.append(x * 2)


def using_what_was_noted(x):
    noting(x)
    return x + noted[-1]


class Summed:
    def __init__(self):
        self.n = 0.0

    @functools.partial(jax.jit, static_argnums=0)
    def add(self, x):
        self.n += x


summed = Summed()


def using_a_sum(x):
    summed.add(x)
    return summed.n


@pytest.mark.parametrize(("fn", "gives"), [(using_what_was_noted, 2 * X), (using_a_sum, X)])
def test_what_only_stores_gives_that_as_its_result(fn, gives):
    (cure,) = cures_of(fn, X)
    definition, _, call = cure.code.rpartition("\n\n")
    names = {"jax": jax, "functools": functools, "x": X}
    exec(definition, names)
    names["summed"] = type("Mended", (), {"n": 0.0, "add": names.get("add")})()
    exec(call, names)
    np.testing.assert_allclose(names["kept"], gives)


def test_what_stores_more_than_one_value_is_not_written_anew():
    def fn(x):
        seen = {}

        @jax.jit
        def both(v):
            seen["sin"] = jnp.sin(v)
            seen["cos"] = jnp.cos(v)
            return v

        both(x)
        return seen["sin"] * seen["cos"]

    assert not any("kept" in cure.code for cure in cures_of(fn, X))


def _layer(weights, row):
    return row @ weights


def test_axes_are_told_where_the_mapped_function_was_made():
    def fn(weights, rows):
        batched = jax.jit(jax.vmap(_layer))
        return batched(weights, rows).sum()

    (cure,) = cures_of(fn, jnp.ones((3, 4)), jnp.ones((5, 3)))
    assert cure.code == "batched = jax.jit(jax.vmap(_layer, in_axes=(None, 0)))"


def test_axes_are_told_where_a_method_made_the_mapped_function():
    class Model:
        def __init__(self):
            self.batched = jax.vmap(_layer)

        def __call__(self, weights, rows):
            return self.batched(weights, rows)

    (cure,) = cures_of(Model(), jnp.ones((3, 4)), jnp.ones((5, 3)))
    assert cure.code == "self.batched = jax.vmap(_layer, in_axes=(None, 0))"


def test_axes_in_a_lambda_are_tried_whatever_stands_around_it():
    (cure,) = cures_of(lambda weights, rows: jax.vmap(_layer)(weights, rows), jnp.ones((3, 4)), jnp.ones((5, 3)))
    assert "jax.vmap(_layer, in_axes=(None, 0))(weights, rows)" in cure.code


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


class Averaged:
    def __init__(self):
        self.mean = jnp.zeros(())
        self.seen = jnp.zeros(())

    @partial(jax.jit, static_argnums=0)
    def add(self, x):
        self.seen += x
        return self.seen

    @functools.partial(jax.jit, static_argnums=0)
    def centred(self, x):
        """What is left of it."""
        self.mean = 0.9 * self.mean + 0.1 * x.mean()
        return x - self.mean

    @functools.partial(jax.jit, static_argnums=0)
    def twice(self, x):
        self.seen += x
        return self.sum() + x

    def sum(self):
        return self.seen + self.mean


def test_what_an_object_counts_goes_in_and_comes_out():
    def counted(x):
        y = averaged.add(x)
        return averaged.seen + y

    def moved(x):
        y = averaged.centred(x)
        return averaged.mean + y

    def of_a_method_that_reads(x):
        y = averaged.twice(x)
        return averaged.seen + y

    for fn, name, wanted, kept in ((counted, "add", X, X), (moved, "centred", X - X.mean() / 10, X.mean() / 10)):
        averaged = Averaged()
        cure = cures_of(fn, X)[0]
        definition, _, call = cure.code.rpartition("\n\n")
        names = {**globals(), "x": X, "averaged": Averaged()}
        exec(definition, names)
        with pytest.MonkeyPatch.context() as changed:
            changed.setattr(Averaged, name, names[name])
            exec(call, names)
        np.testing.assert_allclose(names["y"], wanted, rtol=1e-6)
        np.testing.assert_allclose(names["kept"], kept, rtol=1e-6)
    averaged = Averaged()
    assert "self.seen" not in "".join(cure.code for cure in cures_of(of_a_method_that_reads, X))


def test_a_method_that_reads_what_it_stored_is_given_it():
    averaged = Averaged()
    averaged.add(1.0)
    (cure, *_) = cures_of(averaged.add, X)
    assert cure.code.splitlines()[1:4] == ["def add(self, seen, x):", "    seen = seen + x", "    return seen, seen"]
    assert "result, kept = self.add(self.seen, x)" in cure.code


KEPT_BY_TURNS: dict[str, jax.Array] = {}


def kept_in_turns_of_scan(x):
    def body(c, row):
        KEPT_BY_TURNS["last"] = 2 * row
        return c, None

    jax.lax.scan(body, 0.0, x)
    return KEPT_BY_TURNS["last"]


def kept_in_turns_of_fori(x):
    def body(i, x):
        KEPT_BY_TURNS["last"] = 2 * x
        return x + 1

    y = jax.lax.fori_loop(0, 3, body, x)
    return y + KEPT_BY_TURNS["last"]


def test_turns_that_python_makes_hold_nothing_that_does_nothing():
    (of_scan,) = cures_of(kept_in_turns_of_scan, X)
    assert of_scan.code.splitlines()[-1] == "    results.append(result)"
    (of_fori,) = cures_of(kept_in_turns_of_fori, X)
    assert of_fori.code.splitlines()[0] == "for i in range(0, 3):"
