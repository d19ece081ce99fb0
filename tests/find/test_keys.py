"""Keys that are used twice are found, however they got there; keys that are split, folded or in branches are not."""

from __future__ import annotations

import sysconfig

import jax
import jax.numpy as jnp
import pytest
from find.found import found, line_numbers, the
from jax import lax, random
from programs import CORPUS

KEYS = {"typed": random.key(0), "raw": random.PRNGKey(0)}


def same(key):
    a = random.normal(key, (3,))
    b = random.uniform(key, (3,))
    return a + b


def same_entry(key):
    keys = random.split(key, 4)
    return random.normal(keys[1]) + random.normal(keys[1])


def after_split(key):
    sub = random.split(key)[0]
    return random.normal(key) + random.normal(sub)


def in_turns(key):
    x = 0.0
    for _ in range(3):
        x = x + random.normal(key)
    return x


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    ("fn", "uses", "lines"),
    [(same, 2, [1, 2]), (same_entry, 2, [2]), (after_split, 2, [1, 2]), (in_turns, 3, [3])],
)
def test_a_key_that_is_used_again_is_told_with_all_its_uses(fn, uses, lines, key):
    finding = the("key", fn, KEYS[key])
    assert finding.severity == "warning"
    assert finding.figures == {"uses": uses}
    assert line_numbers(finding, fn) == lines
    assert f"used {uses} times" in finding.title


def in_a_loop(key, x):
    return lax.fori_loop(0, 5, lambda _, c: c + random.normal(key), x)


def test_a_key_from_outside_of_a_loop_is_the_same_in_each_turn():
    finding = the("key", in_a_loop, KEYS["typed"], 0.0)
    assert "each turn of a loop" in finding.title
    assert line_numbers(finding, in_a_loop) == [1]


def test_through_a_jitted_function():
    draw = jax.jit(lambda key: random.normal(key))
    assert the("key", lambda key: draw(key) + draw(key), KEYS["typed"]).figures == {"uses": 2}


def test_a_split_of_which_nothing_is_used_is_a_note():
    def unused(key):
        random.split(key)
        return random.normal(random.fold_in(key, 1))

    assert the("key", unused, KEYS["typed"]).severity == "note"


def _carried(key, x):
    def body(carry, _):
        key, x = carry
        key, sub = random.split(key)
        return (key, x + random.normal(sub)), None

    return lax.scan(body, (key, x), None, length=5)[0]


def _dropout(key, x):
    @jax.checkpoint
    def drop(x):
        return jnp.sin(x) * random.bernoulli(key, 0.5, x.shape)

    return jax.grad(lambda x: drop(x).sum())(x)


_split = jax.jit(random.split)


def _split_by_another(key, x):
    def body(carry, _):
        key, x = carry
        key, sub = _split(key)
        return (key, x + random.normal(sub)), None

    return lax.scan(body, (key, x), None, length=5)[0]


INNOCENT = {
    "split": lambda key: sum(random.normal(sub) for sub in random.split(key, 4)),
    "folded": lambda key: random.normal(random.fold_in(key, 1)) + random.normal(random.fold_in(key, 2)),
    "one of two branches": lambda key: lax.cond(True, random.normal, random.uniform, key),
    "carried round a loop": lambda key: _carried(key, 0.0),
    "split by a jitted function in a loop": lambda key: _split_by_another(key, 0.0),
    "computed again for a gradient": lambda key: _dropout(key, jnp.ones(3)),
    "folded in a loop": lambda key: lax.fori_loop(0, 5, lambda i, c: c + random.normal(random.fold_in(key, i)), 0.0),
    "one for each example": lambda key: jax.vmap(random.normal)(random.split(key, 4)),
    "shuffled": lambda key: random.permutation(key, 10),
}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("name", INNOCENT)
def test_keys_that_are_used_once_are_left_alone(name, key):
    assert found("key", INNOCENT[name], KEYS[key]) == []


def test_what_a_library_does_by_itself_is_left_alone():
    source = "def twice(key):\n    return random.normal(key) + random.uniform(key)\n"
    library = {"random": random}
    exec(compile(source, f"{sysconfig.get_path('purelib')}/somewhere/brownian.py", "exec"), library)
    assert found("key", library["twice"], jax.random.key(0)) == []


def test_in_the_corpus_a_key_is_used_twice_where_it_is():
    told = {name for name, make in CORPUS.items() if found("key", *_flat(make()))}
    assert told == {"random_numbers"}


def _flat(case):
    fn, arguments = case
    return (fn, *arguments)


def of_one_seed(x):
    a = random.normal(random.key(0), x.shape)
    b = random.uniform(random.key(0), x.shape)
    return a + b


def of_one_raw_seed(x):
    for _ in range(3):
        x = x + random.normal(random.PRNGKey(42), x.shape)
    return x


def folded_alike(key):
    a = random.normal(random.fold_in(key, 1))
    b = random.normal(random.fold_in(key, 1))
    return a + b


@pytest.mark.parametrize(
    ("fn", "argument", "uses", "lines"),
    [
        (of_one_seed, jnp.ones(3), 2, [1, 2]),
        (of_one_raw_seed, jnp.ones(3), 3, [2]),
        (folded_alike, KEYS["typed"], 2, [1, 2]),
        (folded_alike, KEYS["raw"], 2, [1, 2]),
    ],
)
def test_keys_of_one_seed_or_of_one_number_are_the_same_key(fn, argument, uses, lines):
    finding = the("key", fn, argument)
    assert finding.figures == {"uses": uses}
    assert line_numbers(finding, fn) == lines


def seeded_in_a_loop(x):
    return lax.scan(lambda c, t: (c + random.normal(random.key(1)) * t, None), 0.0, x)


def test_a_key_that_each_turn_makes_of_one_seed_is_the_same_in_each():
    assert "each turn of a loop" in the("key", seeded_in_a_loop, jnp.ones(3)).title


def unpacked_and_left(key, x):
    _one, _other = random.split(key)
    return x


@pytest.mark.parametrize("key", KEYS)
def test_keys_that_are_taken_out_of_a_split_and_left_are_unused(key):
    finding = the("key", unpacked_and_left, KEYS[key], 1.0)
    assert (finding.severity, finding.title.partition(" (")[0]) == ("note", "a random key is split and not used")


def test_a_key_that_nothing_draws_with_is_told():
    finding = the("key", lambda key, x: x * 2, KEYS["typed"], 1.0)
    assert finding.title.startswith("the random key `key` is not used")


@pytest.mark.parametrize(
    "fn",
    [
        lambda key: random.normal(random.fold_in(key, 1)) + random.normal(random.fold_in(key, 2)),
        lambda key: random.normal(random.key(0)) + random.normal(random.key(1)) + random.normal(key),
        lambda key: lax.fori_loop(0, 3, lambda i, c: c + random.normal(random.fold_in(key, i)), 0.0),
        lambda key: lax.fori_loop(0, 3, lambda i, c: c + random.normal(random.key(i)), 0.0) + random.normal(key),
    ],
)
def test_keys_of_other_numbers_are_other_keys(fn):
    assert found("key", fn, KEYS["typed"]) == []


def test_what_a_library_splits_in_store_is_its_own_matter():
    nn = pytest.importorskip("flax.linen")
    network = nn.RNN(nn.LSTMCell(4))
    x = jnp.ones((2, 5, 3))
    params = network.init(random.key(0), x)
    assert not found("key", lambda params, x: network.apply(params, x), params, x)


def two_of_three(key):
    k_noise, k_mask, k_drop = random.split(key, 3)  # noqa: RUF059
    return random.normal(k_noise) + random.bernoulli(k_drop)


def handed_on(key):
    key, sub = random.split(key)
    return random.normal(sub)


def made_new(key):
    new_key, sub = random.split(key)  # noqa: RUF059
    return random.normal(sub)


def left_out(key):
    _, sub, __ = random.split(key, 3)
    return random.normal(sub)


def given_back(key):
    first, second = random.split(key)
    return random.normal(first), second


def in_store(key):
    keys = random.split(key, 8)
    return random.normal(keys[0]) + random.normal(keys[3])


@pytest.mark.parametrize("key", KEYS)
def test_of_several_keys_the_one_that_nobody_reads_is_told_by_its_name(key):
    finding = the("key", two_of_three, KEYS[key])
    assert finding.severity == "note"
    assert finding.title.startswith("the random key `k_mask` is made and not used")
    assert line_numbers(finding, two_of_three) == [1]
    for fn in (handed_on, made_new, left_out, given_back, in_store):
        assert found("key", fn, KEYS[key]) == [], fn


def by_place(key):
    keys = random.split(key, 3)
    return random.normal(keys[0]) + random.normal(keys[-1])


def all_but_the_first(key):
    keys = random.split(key, 3)
    return random.normal(keys[1]) + random.normal(keys[2])


def a_slice_of_them(key):
    keys = random.split(key, 3)
    return random.normal(keys[0]), keys[1:]


def one_by_one(key):
    keys = random.split(key, 3)
    return sum(random.normal(keys[i]) for i in range(3))


def mapped_over(key):
    keys = random.split(key, 3)
    return random.normal(keys[0]) + jax.vmap(random.normal)(keys).sum()


@pytest.mark.parametrize("key", KEYS)
def test_the_one_key_that_is_never_taken_out_is_told_by_its_place(key):
    finding = the("key", by_place, KEYS[key])
    assert finding.title.startswith("the random key `keys[1]` is made and not used")
    assert line_numbers(finding, by_place) == [1]
    for fn in (all_but_the_first, a_slice_of_them, one_by_one, mapped_over):
        assert found("key", fn, KEYS[key]) == [], fn


def drawing_with_the_wrong_one(key):
    drawn = []
    for _ in range(5):
        key, sub = jax.random.split(key)  # noqa: RUF059
        drawn.append(jax.random.normal(key, (2,)))
    return jnp.stack(drawn)


def test_what_is_told_alike_of_the_keys_of_all_turns_is_told_once():
    reused, left = found("key", drawing_with_the_wrong_one, jax.random.key(0))
    assert reused.title.startswith("the same random key is used 2 times (lines ")
    assert reused.title.endswith("): 4 such keys")
    assert line_numbers(reused, drawing_with_the_wrong_one) == [3, 4]
    assert reused.figures == {"uses": 2, "keys": 4}
    assert len(reused.nodes) == 8
    assert left.figures["keys"] == 5
