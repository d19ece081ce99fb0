"""An operation that goes on in other threads has the time until it is done, and not that of its event alone."""

from __future__ import annotations

import re

import numpy as np
import pytest

from jaxviz.measure.attribution import attribute
from jaxviz.measure.completion import followers_of, tails
from jaxviz.measure.naming import names_as_run
from jaxviz.measure.profile import Row, events_of
from jaxviz.read.hlo.graph import read_hlo
from jaxviz.read.hlo.text import parse_hlo_text

LOOP = """HloModule m, entry_computation_layout={(f32[8]{0}, s32[])->f32[8]{0}}

fused {
  q = f32[8]{0} parameter(0)
  ROOT inner = f32[8]{0} sine(q)
}

body {
  p = (f32[8]{0}, s32[]) parameter(0)
  v = f32[8]{0} get-tuple-element(p), index=0
  i = s32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  first = f32[8]{0} fusion(v), kind=kLoop, calls=fused
  same = f32[8]{0} bitcast(first)
  second = f32[8]{0} negate(same)
  next = s32[] add(i, one)
  ROOT t = (f32[8]{0}, s32[]) tuple(second, next)
}

condition {
  p2 = (f32[8]{0}, s32[]) parameter(0)
  i2 = s32[] get-tuple-element(p2), index=1
  most = s32[] constant(3)
  ROOT goes_on = pred[] compare(i2, most), direction=LT
}

ENTRY e {
  x = f32[8]{0} parameter(0)
  n = s32[] parameter(1)
  before = f32[8]{0} exponential(x)
  packed = (f32[8]{0}, s32[]) tuple(before, n)
  loop = (f32[8]{0}, s32[]) while(packed), condition=condition, body=body
  made = f32[8]{0} get-tuple-element(loop), index=0
  ROOT last = f32[8]{0} cosine(made)
}
"""


def test_what_waits_for_an_operation_is_what_reads_it_by_any_name():
    followers = followers_of(parse_hlo_text(LOOP))
    assert followers["before"] == ("loop",)
    assert followers["first"] == ("second",)
    assert followers["last"] == ()
    # In the next turn, in its condition, and after the loop.
    assert followers["second"] == ("first", "goes_on", "last", "next")
    # Those that hold others have no time of their own, and what is inside of a kernel has no event.
    assert not {"loop", "inner", "x", "packed"} & set(followers)


def columns(*rows):
    """Rows of name, start, end, run, all on one device."""
    names, start, end, run = zip(*rows, strict=True)
    return list(names), np.array(start), np.array(end), np.zeros(len(rows), int), np.array(run)


def test_an_operation_is_done_when_it_is_said_to_be():
    rows = columns(("a", 0.0, 1.0, 0), ("b", 9.0, 10.0, 0))
    assert tails(*rows, {"a": [7.0]}, {"a": (), "b": ()}).tolist() == [6.0, 0.0]


def test_an_operation_is_done_before_anything_reads_it_where_the_word_comes_late():
    rows = columns(("a", 0.0, 1.0, 0), ("b", 5.0, 6.0, 0), ("a", 20.0, 21.0, 1), ("b", 25.0, 26.0, 1))
    followers = {"a": ("b",), "b": ()}
    # The first word comes while the next run is on its way.
    assert tails(*rows, {"a": [20.5, 27.0]}, followers).tolist() == [4.0, 0.0, 4.0, 0.0]
    # What nothing reads is done before the next run.
    late = tails(*rows, {"b": [22.0, 26.5]}, followers)
    assert late.tolist() == [0.0, 14.0, 0.0, 0.5]


def test_a_word_that_comes_within_the_event_adds_nothing():
    rows = columns(("a", 0.0, 4.0, 0), ("a", 10.0, 14.0, 1), ("a", 20.0, 24.0, 2))
    assert not tails(*rows, {"a": [3.9, 13.9, 23.9]}, {"a": ()}).any()
    # Where one is missing, the others are not taken for it.
    assert tails(*rows, {"a": [16.0, 23.9]}, {"a": ()}).tolist() == [0.0, 2.0, 0.0]
    # What holds others has none.
    assert not tails(*rows, {"a": [9.0, 19.0, 29.0]}, {}).any()


def test_the_time_of_an_operation_goes_to_where_it_is_done_and_takes_none_from_what_runs_meanwhile():
    read = read_hlo(parse_hlo_text(LOOP))
    followers = followers_of(read.module)
    rows = [
        Row("before", 0e9, 1e9, 0, 0, 7),
        # Meanwhile the same thread begins the loop.
        Row("loop", 6e9, 7e9, 0, 0, 7),
        Row("last", 20e9, 21e9, 0, 0, 7),
    ]
    events = events_of(rows, 1, {"before": [30e9], "last": [24e9]}, followers)
    found = attribute(events, read.graph, read.instruction, read.module, 1)
    seconds = {read.instruction[node]: found.seconds[node] for node in range(len(read.graph))}
    assert seconds["before"] == pytest.approx(6.0)
    assert seconds["loop"] == pytest.approx(1.0)
    assert seconds["last"] == pytest.approx(4.0)
    assert found.busy == pytest.approx(11.0)
    assert found.span == pytest.approx(24.0)


def test_instructions_that_are_numbered_anew_before_they_run_are_known():
    module = parse_hlo_text(LOOP)
    text = LOOP.replace("first", "first.2").replace("last", "last.9")
    assert names_as_run(module, text) == {"first.2": "first", "last.9": "last"}
    assert names_as_run(module, LOOP) == {}
    # Another program says nothing of this one.
    other = text.replace("negate(same)", "sine(same)").replace("second", "third")
    assert "first.2" not in names_as_run(module, other)
    assert names_as_run(module, "no module at all") == {}


def test_an_instruction_that_has_the_name_of_another_as_it_runs_is_known():
    module = parse_hlo_text(LOOP)
    swapped = {"first": "second", "second": "first"}
    text = re.sub(r"\b(first|second)\b", lambda found: swapped[found[0]], LOOP)
    assert names_as_run(module, text) == swapped
