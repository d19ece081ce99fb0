"""Whole numbers that a Python number makes floats are told where they are taken as whole, and nowhere else."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from find.found import found, line_numbers, the

IDS = jnp.asarray([7, 1, 4, 2], jnp.int32)
MASK = IDS > 3
X = jnp.ones(4)
STATE = {"weights": X, "count": jnp.asarray(0, jnp.int32)}


def hidden(mask, ids):
    return jnp.where(mask, ids, -1.0)


def hidden_rows(mask, ids):
    kept = jnp.where(mask, ids, 0.0)
    return kept.reshape(2, 2).T, ids.sum()


def compared(mask, ids, labels):
    guess = jnp.where(mask, ids, -1.0)
    return (guess == labels).mean()


def shifted(ids, table):
    place = ids - 1.0
    return table[place.astype(int)]


def kept_within(ids, table):
    place = jnp.clip(ids, 0.0, 3.0)
    return table[place.astype("int32")]


def stepped(state, x):
    weights = state["weights"] - x
    return {"weights": weights, "count": state["count"] + 0.5}


def stepped_with_more(state, x):
    count = state["count"] + 1.0
    return {"weights": state["weights"] - x, "count": count}, (x**2).sum()


def in_turns(rows, table):
    def turn(total, row):
        place = row + 1.0
        return total + table[place.astype("int32")], None

    return jax.lax.scan(turn, 0.0, rows)[0]


TOLD = [
    (hidden, (MASK, IDS), 1, "whole numbers are given back as floats because of -1.0"),
    (hidden_rows, (MASK, IDS), 1, "whole numbers are given back as floats because of 0.0"),
    (compared, (MASK, IDS, IDS), 1, "whole numbers are taken through floats because of -1.0"),
    (shifted, (IDS, X), 1, "whole numbers are taken through floats because of 1.0"),
    (kept_within, (IDS, X), 1, "whole numbers are taken through floats because of 0.0"),
    (stepped, (STATE, X), 2, "whole numbers of a state come back as floats because of 0.5"),
    (stepped_with_more, (STATE, X), 1, "whole numbers of a state come back as floats because of 1.0"),
    (in_turns, (IDS, X), 2, "whole numbers are taken through floats because of 1.0"),
]


@pytest.mark.parametrize(("fn", "args", "line", "title"), TOLD)
def test_whole_numbers_that_are_floats_because_of_a_python_number(fn, args, line, title):
    finding = the("precision", fn, *args)
    assert finding.title.startswith(title)
    assert line_numbers(finding, fn) == [line]


def test_it_says_what_is_lost_and_what_to_write():
    finding = the("precision", compared, MASK, IDS, IDS)
    assert "beyond 16,777,216 are rounded" in finding.text
    assert finding.remedy == "Write -1 in place of -1.0; or, where floats are meant, x.astype('float32')."
    assert finding.severity == "advice"


def mean_of(mask, counts):
    kept = jnp.where(mask, counts, 0.0)
    return kept.sum() / mask.sum()


def at_a_rate(step):
    return jnp.minimum(step, 1000.0) * 1e-3


def warmed_up(step):
    return jnp.where(step < 10, step / 10.0, 1.0)


def batch_of(batch):
    return {"image": batch["image"] / 255.0, "label": batch["label"]}


def scaled_state(state):
    return {"weights": state["weights"], "count": state["count"] * 0.5}


def bins(x, ids):
    return (x * 4.0).astype("int32") + ids


def endless(mask, ids):
    return jnp.where(mask, ids, -jnp.inf)


def counted(state):
    return {"weights": state["weights"] * 0.9, "count": state["count"] + 1}


def corrected(state, gradient):
    count = state["count"] + 1
    weights = state["weights"] - gradient / (1 - 0.9**count)
    return {"weights": weights, "count": count}


def totalled(x):
    return jax.lax.fori_loop(0, 4, lambda i, total: total + x[i], 0)


INNOCENT = [
    (lambda x: x / 2, (IDS,)),
    (lambda x: x * 0.5, (IDS,)),
    (lambda x: x + 0.5, (IDS,)),
    (lambda x: x - 1.0, (IDS,)),
    (lambda image: image / 255.0, (jnp.zeros((4, 4), jnp.uint8),)),
    (lambda image: (image - 127.0) / 128.0, (jnp.zeros((4, 4), jnp.int32),)),
    (lambda mask, ids: jnp.where(mask, ids.astype("float32"), -1.0), (MASK, IDS)),
    (lambda mask, ids: jnp.where(mask, ids, -1), (MASK, IDS)),
    (lambda mask, ids: jnp.where(mask, ids, 0.0) * 2.5, (MASK, IDS)),
    (lambda counts: X / jnp.maximum(counts, 1.0), (IDS,)),
    (lambda counts: jnp.maximum(counts, 1.0), (IDS,)),
    (lambda ids: (ids * 0.5).astype("int32"), (IDS,)),
    (lambda ids: jnp.floor(ids / 2.0).astype("int32"), (IDS,)),
    (lambda ids: ids > 2.0, (IDS,)),
    (lambda n: jnp.arange(4) * 2.0 + n, (IDS,)),
    (lambda x: (jnp.arange(4) * 2.0).astype("int32") + x, (IDS,)),
    (lambda x: jnp.mean(x) + jnp.std(x), (IDS,)),
    (lambda image, mask: jnp.where(mask, image, 0.0), (jnp.zeros(4, jnp.uint8), MASK)),
    (lambda count, x: (count + 0.5, x * 2), (IDS, X)),
    (lambda key, x: x + jax.random.randint(key, (4,), 0, 3), (jax.random.key(0), X)),
    (lambda ids: jax.nn.one_hot(ids, 8), (IDS,)),
    (lambda mask, x: jnp.where(mask, x, np.float32(-1)), (MASK, IDS)),
    (mean_of, (MASK, IDS)),
    (at_a_rate, (3,)),
    (at_a_rate, (jnp.int32(3),)),
    (warmed_up, (jnp.int32(3),)),
    (batch_of, ({"image": jnp.zeros((2, 2), jnp.uint8), "label": IDS},)),
    (batch_of, ({"image": jnp.zeros((2, 2), jnp.int32), "label": IDS},)),
    (scaled_state, (STATE,)),
    (bins, (X, IDS)),
    (endless, (MASK, IDS)),
    (counted, (STATE,)),
    (corrected, (STATE, X)),
    (totalled, (X,)),
]


@pytest.mark.parametrize(("fn", "args"), INNOCENT)
def test_whole_numbers_that_are_meant_to_be_floats(fn, args):
    assert found("precision", fn, *args) == []
