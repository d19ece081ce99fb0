"""What people are told to do about values that a function stores outside of itself while it is traced."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from errors.failing import X
from errors.failing.telling import cures_of, mended

import jaxviz as jv


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


def _why_alive(ignored, x):
    """JAX's search for what holds a value, as it ends where a closure is held by nothing that Python can name."""
    return [][0]


@pytest.fixture(params=["followed", "not followed"])
def checking_leaks(request, monkeypatch):
    # JAX's own search finds its end or not by what else is in memory.
    search = _why_alive if request.param == "not followed" else lambda *_: ""
    monkeypatch.setattr("jax._src.core._why_alive", search)
    with jax.checking_leaks():
        yield


def test_what_checking_leaks_finds_is_told_with_the_line_that_stores(checking_leaks):
    (cure,) = cures_of(storing, X)
    names = {"jnp": jnp, "x": X}
    exec(cure.code, names)
    np.testing.assert_allclose(names["kept"], 2 * X)


def test_what_leaked_in_a_cell_is_told_by_its_line_alone(checking_leaks):
    path = "/tmp/ipykernel_1/2.py"
    names = {"jnp": jnp, "jax": jax, "stored": []}
    exec(compile(textwrap.dedent(inspect.getsource(storing)), path, "exec"), names)
    with pytest.raises(Exception, match=r"Leaked trace|list index") as caught:
        jv.explore(names["storing"], X)
    told = caught.value.jaxviz.explanation
    assert told.title == "a traced value is kept after its function has ended"
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
