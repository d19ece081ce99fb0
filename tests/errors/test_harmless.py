"""Cures are tried only where that changes nothing that is the person's, and ends."""

from __future__ import annotations

import collections
import functools
import itertools
import operator
import queue

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxviz.errors.failure import Failure
from jaxviz.errors.trial import cannot_work, given_by

CALLED: list[str] = []
COUNTS = np.zeros(3)
LIST = [3.0, 1.0]
WAITING: queue.Queue[float] = queue.Queue()
ONES = itertools.repeat(1.0)
W = jnp.ones((3, 2))


def note(text):
    CALLED.append(text)
    return 2.0


class Meter:
    size = property(lambda self: note("size"))
    __add__ = __radd__ = __getitem__ = __call__ = lambda self, _: note("operator")

    def __bool__(self):
        return bool(note("bool"))

    def __array__(self, dtype=None, copy=None):
        return np.array(note("array"))

    def get(self, x):
        return note("get") * x

    add = set = apply = get


METER = Meter()
NOTES = {
    "f": lambda x: note("f") * x,
    "g": [lambda x: note("g") * x],
    1: functools.partial(lambda a, x: note(a) * x, "h"),
}
DEFAULTS = collections.defaultdict(lambda: note("default"))


def logged(fn):
    @functools.wraps(fn)
    def wrapper(*args):
        note("wrapper")
        return fn(*args)

    return wrapper


@logged
def double(x):
    return x * 2


sine = functools.wraps(jnp.sin)(lambda x: note("sine") * x)


@functools.lru_cache
def numbers(count):
    return jnp.arange(count) * 1.0


@functools.partial(jax.custom_jvp)
def noted(x):
    note("noted")
    return x


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def add_in_place(a):
    a += 1
    return a


def adds(x):
    return add_in_place(COUNTS) + x


def extends(x):
    a = LIST
    a += [1.0]
    return x


def tallies(x):
    np.add.at(COUNTS, np.array([0]), 1.0)
    return x


def writes(x):
    np.add(COUNTS, 1.0, out=COUNTS)
    return x


def writes_third(x):
    np.add(COUNTS, 1.0, COUNTS)
    return x


def copies(x):
    np.copyto(COUNTS, 7.0)
    return x


def sets(x):
    operator.setitem(COUNTS, 0, 9.0)
    return x


def asks(x):
    return operator.methodcaller("get", x)(METER)


def sorts(x):
    COUNTS[::-1].sort()
    return x


def saves(x):
    np.savez_compressed("saved.npz", a=COUNTS)
    return x


def warns(x):
    np.seterr(all="raise")
    return x


def prints(x):
    np.set_printoptions(precision=2)
    return x


def profiles(x):
    jax.profiler.start_trace("profile")
    return x


def clears(x):
    jax.clear_caches()
    return x


def draws(x):
    return x * np.random.rand()


def waits(x):
    return x * WAITING.get()


def unpacks(x):
    first, *_ = ONES
    return x * first


def holds(x, into=[]):  # noqa: B006
    into += [1.0]
    return x


HARMFUL = [
    *(
        "double(x)",
        "sine(x)",
        "numbers(3)",
        "noted(x)",
        "jax.jit(double)(x)",
        "jax.vmap(double)(x)",
        "jax.grad(double)(x[0])",
    ),
    *("METER.get(x)", "METER.add(x)", "x * METER.size", "x + METER", "METER[0]", "jnp.asarray(METER)", "METER(x)"),
    *("x if METER else x", 'NOTES["f"](x)', 'NOTES["g"][0](x)', "NOTES[1](x)", 'x * DEFAULTS["a"]', "x * next(ONES)"),
    *("x * fib(40)", "jax.tree.map(NOTES['f'], x)", "functools.partial(double)(x)", "functools.reduce(double, [x])"),
    *(
        "adds(x)",
        "extends(x)",
        "tallies(x)",
        "writes(x)",
        "writes_third(x)",
        "copies(x)",
        "sets(x)",
        "asks(x)",
        "sorts(x)",
    ),
    *(
        "saves(x)",
        "warns(x)",
        "prints(x)",
        "profiles(x)",
        "clears(x)",
        "draws(x)",
        "waits(x)",
        "unpacks(x)",
        "holds(x)",
    ),
    *("print(x)", 'open("file", "w")', "x * sum(ONES)", "jnp.stack([*ONES])", "__import__('os').getcwd()"),
]


def failed():
    def fn(x):
        return x @ jnp.ones(4)

    try:
        jax.eval_shape(fn, jnp.ones(3))
    except TypeError as error:
        return Failure(error, fn, "fn", "fn(x)", (jnp.ones(3),), {})
    raise AssertionError


def state():
    shown = np.get_printoptions()["precision"], np.geterr(), np.random.get_state()[2]
    return (
        list(CALLED),
        COUNTS.tolist(),
        list(LIST),
        WAITING.qsize(),
        numbers.cache_info().currsize,
        dict(DEFAULTS),
        shown,
    )


@pytest.mark.parametrize("code", HARMFUL)
def test_code_with_an_effect_is_not_run(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    WAITING.put(1.0)
    before = state()
    assert given_by(failed(), code) is None
    assert not cannot_work(failed(), f"return {code}")
    assert not cannot_work(failed(), f"y = {code}\nreturn y @ jnp.ones(9)")
    assert state() == before
    assert not list(tmp_path.iterdir())


LARGE = np.ones((300, 300))
HUGE = 10**9


@pytest.mark.parametrize(
    "code",
    [
        "x * np.linalg.svd(LARGE)[1].max()",
        "x * LARGE.dot(LARGE).sum()",
        "x * np.ones(HUGE).sum()",
        "x * np.zeros(3_000_000_000)[0]",
        "x * np.arange(10**9)[0]",
        "x * len(str(7 ** 7 ** 9))",
        "x * np.linalg.svd(np.ones((3000, 3000)))[1].max()",
    ],
)
def test_what_would_take_long_at_once_is_not_computed(code):
    assert given_by(failed(), code) is None
    assert not cannot_work(failed(), f"return ({code}) @ jnp.ones(9)")


def test_a_name_that_code_assigns_is_looked_at_too():
    before = state()
    assert given_by(failed(), "double(x)") is None
    assert not cannot_work(failed(), "double = double(x)\nreturn double @ jnp.ones(9)")
    assert state() == before


def relu(x):
    return jnp.maximum(x, 0)


def layer(x, bias=0.5):
    y = x @ W
    y += bias
    return relu(y)


@jax.jit
def compiled(x):
    return layer(x).sum()


def step(total, x):
    return total + x, total


@pytest.mark.parametrize(
    ("code", "shape"),
    [
        ("layer(x)", (2,)),
        ("compiled(x)", ()),
        ("jax.grad(compiled)(x)", (3,)),
        ("jax.vmap(relu)(x)", (3,)),
        ("jax.checkpoint(layer)(x)", (2,)),
        ("functools.partial(layer, bias=2.0)(x)", (2,)),
        ("jax.lax.scan(step, 0.0, x)[1]", (3,)),
        ("x.at[0].add(1.0).reshape(3, 1)", (3, 1)),
        ("jnp.linalg.norm(x[:, None], axis=0)", (1,)),
        ("np.sqrt(2.0) * x * COUNTS", (3,)),
    ],
)
def test_code_of_jax_and_of_functions_made_of_it_is_tried(code, shape):
    assert given_by(failed(), code).shape == shape
    assert cannot_work(failed(), f"return ({code}) @ jnp.ones(9)")


def test_what_code_adds_to_is_a_copy():
    before = state()
    assert cannot_work(failed(), "COUNTS += 1\nreturn COUNTS @ jnp.ones(9)")
    assert cannot_work(failed(), "LIST += [1]\nreturn x @ jnp.ones(len(LIST))[1:, None].T")
    assert state() == before
