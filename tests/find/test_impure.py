"""What a function does only while it is traced is found, with its name and line."""

from __future__ import annotations

import datetime
import functools
import math
import os
import random
import time
from collections import deque
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from find.found import found, line_numbers, the
from numpy.random import default_rng

rate = 0.125
size = 7
calls = 0
RATE = 0.125


def of_the_module(x):
    y = jnp.sin(x)
    return y * rate


def called(x):
    return of_the_module(x) + 1


def printing(x):
    y = x * 2
    print("y is", y)
    return y


def rolling(x):
    return x + np.random.normal(size=x.shape)


def dicing(x):
    y = x * 2
    return y + random.random()


def without_a_seed(x):
    generator = np.random.default_rng()
    return x + generator.normal()


def without_a_seed_by_name(x):
    return x + default_rng().normal()


def in_an_environment(x):
    scale = float(os.environ.get("SCALE", "2"))
    return x * scale


def in_its_entry(x):
    return x + len(os.environ["PATH"])


def in_a_variable(x):
    return x * float(os.getenv("SCALE", "2"))


def timing(x):
    start = time.time()
    return x + start


def counting(x):
    global calls
    calls += 1
    return x * 2


@pytest.mark.parametrize(
    ("fn", "of", "line", "severity", "said"),
    [
        (of_the_module, of_the_module, 2, "note", "`rate` = 0.125 is baked in"),
        (called, of_the_module, 2, "note", "`rate` = 0.125 is baked in"),
        (jax.grad(of_the_module), of_the_module, 2, "note", "`rate` = 0.125 is baked in"),
        (jax.jit(of_the_module), of_the_module, 2, "note", "`rate` = 0.125 is baked in"),
        (printing, printing, 2, "note", "`print` prints only while JAX traces"),
        (rolling, rolling, 1, "warning", "`np.random.normal` gives the same numbers"),
        (dicing, dicing, 2, "warning", "`random.random` gives the same numbers"),
        (without_a_seed, without_a_seed, 1, "warning", "`np.random.default_rng` gives the same numbers"),
        (without_a_seed_by_name, without_a_seed_by_name, 1, "warning", "`default_rng` gives the same numbers"),
        (in_an_environment, in_an_environment, 1, "note", "`os.environ.get` is read once, while JAX traces"),
        (in_its_entry, in_its_entry, 1, "note", "`os.environ['PATH']` is read once"),
        (in_a_variable, in_a_variable, 1, "note", "`os.getenv` is read once"),
        (timing, timing, 1, "warning", "`time.time` is read once"),
        (counting, counting, 2, "warning", "`calls` is assigned only while"),
    ],
)
@pytest.mark.usefixtures("capsys")
def test_what_happens_only_while_tracing(fn, of, line, severity, said):
    finding = the("impure", fn, 1.0 if fn is not rolling else jnp.ones(3))
    assert finding.title.startswith(said)
    assert finding.severity == severity
    assert line_numbers(finding, of) == [line]


def with_capitals(x):
    return x * RATE


def with_a_size(x):
    return x[:size].sum() + jnp.zeros(size).sum()


def with_keys(x, key):
    return x + jax.random.normal(key, x.shape)


def with_a_debug_print(x):
    jax.debug.print("{}", x)
    return x * 2


def not_called(x):
    return printing


def refers_but_does_not_call(x):
    callback = not_called
    return x * 2 if callback is not None else x


def local(x):
    rate = 0.125
    return x * rate


STEP = 0.125


def set_step(value):
    global STEP
    STEP = value


def with_capitals_that_change(x):
    return x * STEP


def test_a_number_in_capitals_that_a_function_assigns_is_told():
    finding = the("impure", with_capitals_that_change, 1.0)
    assert finding.title.startswith("`STEP` = 0.125 is baked in")
    assert line_numbers(finding, with_capitals_that_change) == [1]


def printing_in_each_run(x):
    jax.debug.callback(print, x)
    jax.debug.callback(lambda value: print("x is", value), x)

    def report(value):
        print("x is", value)

    jax.debug.callback(report, x.sum())
    return x + 1


def with_a_seed(x):
    table = np.random.default_rng(3).normal(size=4) + random.Random(3).random() + default_rng(seed=1).normal()
    return x + table.sum()


def of_the_system(x):
    return x + len(os.path.join("a", "b")) + os.sep.count("/")


INNOCENT = {
    "numbers of a seed": (with_a_seed, (1.0,)),
    "names of files": (of_the_system, (1.0,)),
    "prints in each run": (printing_in_each_run, (jnp.ones(3),)),
    "in capitals": (with_capitals, (1.0,)),
    "a size": (with_a_size, (jnp.ones(9),)),
    "keys": (with_keys, (jnp.ones(3), jax.random.key(0))),
    "a print of each run": (with_a_debug_print, (1.0,)),
    "not called": (refers_but_does_not_call, (1.0,)),
    "a variable of its own": (local, (1.0,)),
    "of NumPy": (lambda x: x * np.float32(2), (1.0,)),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_what_is_pure_is_left_alone(name):
    fn, arguments = INNOCENT[name]
    assert found("impure", fn, *arguments) == []


config = {"slope": 0.375, "DEPTH": 3}
generator = np.random.default_rng(0)
history = []


class Settings:
    slope = 0.625


settings = Settings()


def of_a_dictionary(x):
    y = jnp.sin(x)
    return y * config["slope"]


def of_an_object(x):
    return x * settings.slope


def drawn_from_a_generator(x):
    return x + generator.normal(size=3)


def at_this_hour(x):
    return x * datetime.datetime.now().hour


def remembering(x):
    y = x * 2
    history.append(y)
    return y


def printing_alone(x):
    print("x is", x)
    return x


@pytest.mark.parametrize(
    ("fn", "title", "line"),
    [
        (of_a_dictionary, "`config['slope']` = 0.375 is baked in", 2),
        (of_an_object, "`settings.slope` = 0.625 is baked in", 1),
        (drawn_from_a_generator, "`generator.normal` gives the same numbers in each run", 1),
        (at_this_hour, "`datetime.datetime.now` is read once, while JAX traces", 1),
        (remembering, "`history.append` happens only while JAX traces", 2),
    ],
)
def test_what_the_module_holds_is_found_too(fn, title, line):
    finding = the("impure", fn, jnp.ones(3))
    assert finding.title.startswith(title)
    assert line_numbers(finding, fn) == [line]


def test_a_function_of_which_nothing_is_computed_prints_all_the_same():
    assert the("impure", printing_alone, jnp.ones(3)).title.startswith("`print` prints only while JAX traces (line ")


@dataclass(frozen=True)
class Frozen:
    slope: float = 0.5


frozen = Frozen()


@pytest.mark.parametrize("fn", [lambda x: x * frozen.slope, lambda x: x * math.pi, lambda x: x * config["DEPTH"]])
def test_what_does_not_change_is_left_alone(fn):
    assert found("impure", fn, jnp.ones(3)) == []


class Counter:
    def __init__(self):
        self.calls, self.slope, self.seen, self.known = 0, 0.5, [], {}

    def __call__(self, x):
        self.calls += 1
        return x * self.slope

    def remembering(self, x):
        y = x * self.slope
        self.seen.append(y)
        return y

    def looked_up(self, x):
        if x.shape not in self.known:
            self.known[x.shape] = np.ones(x.shape)
        return x * self.known[x.shape]

    def pure(self, x):
        return x * self.slope


counter = Counter()


def keep():
    kept, turns, last, table = {1: 0, "k": 0}, 0, deque(), np.zeros(3)

    def of_a_dictionary(x):
        y = x * 2
        kept["k"] = y
        return y

    def of_a_number(x):
        nonlocal turns
        turns += 1
        return x * 2

    def of_a_queue(x):
        y = x * 2
        last.appendleft(y)
        return y

    def of_an_array(x):
        table[0] = 3.0
        return x * 2

    def in_a_loop(x):
        def body(carry, _):
            last.append(carry)
            return carry * 2, None

        return jax.lax.scan(body, x, None, length=3)[0]

    return {fn.__name__: fn for fn in (of_a_dictionary, of_a_number, of_a_queue, of_an_array, in_a_loop)}


KEEPING = keep()


def of_an_attribute(x):
    return counter(x) + 1


@pytest.mark.parametrize(
    ("fn", "of", "title", "line"),
    [
        (KEEPING["of_a_dictionary"], None, "`kept[...]` is assigned only while JAX traces", 2),
        (KEEPING["of_a_number"], None, "`turns` is assigned only while JAX traces", 2),
        (KEEPING["of_a_queue"], None, "`last.appendleft` happens only while JAX traces", 2),
        (KEEPING["of_an_array"], None, "`table[...]` is assigned only while JAX traces", 1),
        (KEEPING["in_a_loop"], None, "`last.append` happens only while JAX traces", 2),
        (counter, Counter.__call__, "`self.calls` is assigned only while JAX traces", 1),
        (counter.remembering, Counter.remembering, "`self.seen.append` happens only while JAX traces", 2),
        (of_an_attribute, Counter.__call__, "`self.calls` is assigned only while JAX traces", 1),
    ],
)
def test_what_is_written_around_the_function_is_found(fn, of, title, line):
    finding = the("impure", fn, jnp.ones(3))
    assert finding.severity == "warning"
    assert finding.title.startswith(title)
    assert line_numbers(finding, of or fn) == [line]


def counted(fn):
    counts = {"calls": 0}

    @functools.wraps(fn)
    def counting(*arguments):
        counts["calls"] += 1
        return fn(*arguments)

    return counting


@counted
def decorated(x):
    return x * 2


def test_what_a_decorator_writes_is_found():
    assert the("impure", decorated, jnp.ones(3)).title.startswith("`counts[...]` is assigned only while JAX traces")


def scheduled():
    slope = 0.5

    def step(x):
        y = x + 1
        return y * slope

    first = found("impure", step, jnp.ones(3))
    slope = 0.25
    return first, step


def test_a_number_of_a_function_around_that_is_assigned_again_is_told():
    (finding,), step = scheduled()
    assert finding.severity == "note"
    assert finding.title.startswith("`slope` = 0.5 is baked in")
    assert line_numbers(finding, step) == [2]


def made_with(slope):
    def step(x):
        return x * slope

    return step


def made_in_turn():
    steps = []
    for slope in (0.5, 0.25):

        def step(x, slope=slope):
            return x * slope

        steps.append(step)
    return steps


def of_its_own(x):
    kept, seen = {}, []
    kept["y"] = x * 2

    def inner(y):
        seen.append(y * 2)
        return y

    own = Counter()
    return inner(kept["y"]) + own(x) + seen[0]


def updated(state, x):
    state["w"] = state["w"] * x
    return state


@pytest.mark.parametrize(
    ("fn", "arguments"),
    [
        (made_with(0.5), ()),
        (made_in_turn()[1], ()),
        (of_its_own, ()),
        (counter.pure, ()),
        (counter.looked_up, ()),
        (lambda x, state: updated(state, x), ({"w": jnp.ones(3)},)),
    ],
)
def test_what_is_its_own_or_stays_as_it_is_is_left_alone(fn, arguments):
    assert found("impure", fn, jnp.ones(3), *arguments) == []


def timed_here(x):
    import time

    return x * time.time()


def timed_by_a_name(x):
    from time import perf_counter as now

    return x * now()


def drawn_here(x):
    import random as dice

    return x * dice.random()


def drawn_by_jax(x):
    import math

    from jax import random

    return x * random.normal(random.key(0)) * math.pi


@pytest.mark.parametrize(
    ("fn", "name"), [(timed_here, "time.time"), (timed_by_a_name, "now"), (drawn_here, "dice.random")]
)
def test_clocks_and_dice_that_a_function_imports_itself_are_told(fn, name):
    finding = the("impure", fn, jnp.ones(3))
    assert f"`{name}`" in finding.title
    assert line_numbers(finding, fn) == [3]


def test_what_a_function_imports_and_is_the_same_in_each_run_is_left_alone():
    assert found("impure", drawn_by_jax, jnp.ones(3)) == []
