"""Runs in sequences, against sequences made of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxviz.outline.calls.modules import parse_scope
from jaxviz.outline.repeats import runs
from jaxviz.outline.repeats.runs import Run, find_runs

_ITEMS = st.lists(st.integers(0, 3), max_size=30)


@settings(max_examples=300)
@given(_ITEMS)
def test_runs_repeat_their_pattern_and_do_not_overlap(items):
    sequence = np.array(items, np.int64)
    end = 0
    for run in find_runs(sequence):
        assert run.start >= end
        end = run.end
        pattern = items[run.start : run.start + run.period]
        assert run.copies >= 2
        assert items[run.start : run.end - run.tail] == pattern * run.copies
        left = iter(pattern)
        assert all(item in left for item in items[run.end - run.tail : run.end])
    assert end <= len(items)


@settings(max_examples=200)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6, unique=True), st.integers(2, 40))
def test_a_pattern_that_fills_a_sequence_is_found_whole(pattern, copies):
    assert find_runs(np.array(pattern * copies)) == [Run(0, len(pattern), copies)]


@settings(max_examples=200)
@given(_ITEMS)
def test_short_and_long_sequences_have_the_same_runs(items):
    sequence = np.array(items, np.int64)
    short = find_runs(sequence)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "_SHORT", 0)
        assert find_runs(sequence) == short


def test_the_turns_of_a_long_pattern_are_found_beside_more_that_repeats_in_short():
    # Each turn has the same three items in an order of its own; around it, thousands repeat at many other distances.
    turn = np.random.default_rng(0).integers(0, 3, 90)
    noise = [item for period in range(5, 40) for item in [*range(100, 100 + period)] * 8]
    found = find_runs(np.concatenate([turn, turn, turn, turn, noise]))
    assert (0, 90, 4) in {(run.start, run.period, run.copies) for run in found}


def test_a_long_pattern_of_equations_alone_is_a_run_though_it_stands_there_twice():
    pattern = np.random.default_rng(0).permutation(24)
    (run,) = find_runs(np.tile(pattern, 2), np.ones(48, bool))
    assert (run.start, run.period, run.copies) == (0, 24, 2)
    assert find_runs(np.tile(pattern[:20], 2), np.ones(40, bool)) == []


def test_a_run_inside_a_copy_is_found_too():
    (run,) = find_runs(np.array([1, 2, 2, 2, 3] * 4))
    assert (run.start, run.period, run.copies) == (0, 5, 4)
    assert [(inner.start, inner.period, inner.copies) for inner in run.inner] == [(1, 1, 3)]


def test_few_equations_alone_are_no_run():
    bare = np.ones(4, bool)
    assert find_runs(np.array([1, 2, 1, 2]), bare) == []
    assert find_runs(np.array([1, 1, 1, 1]), bare) == [Run(0, 1, 4)]


def test_name_stacks_are_taken_apart():
    assert parse_scope("transpose(jvp(Model))/Block_0/attn")[:4] == (2, ("Model", "Block_0", "attn"), -1, 2)
    own = "transpose(jvp(VAE))/transpose(jvp(VAE.decode))/jvp(VAE.decode)/Dense_0"
    assert parse_scope(own).modules == ("VAE", "decode", "Dense_0")
    assert parse_scope("VAE/encoder.mean/Dense_0").modules == ("VAE", "encoder.mean", "Dense_0")
    assert parse_scope("vmap(jvp())/while/body")[:4] == (1, (), -1, 1)
    assert parse_scope("jvp(vmap(transpose(jvp())))")[:4] == (2, (), -1, 1)
    assert parse_scope("rematted_computation/Dense_0")[:4] == (0, ("Dense_0",), 0, 0)
    assert parse_scope("")[:4] == (0, (), -1, 0)
