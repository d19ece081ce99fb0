"""The time of operations, equations, lines and parts: what is seen, how often it ran, and that nothing is lost."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from measure.readers import needs_reader
from programs import CORPUS

import jaxviz as jv
from jaxviz.measure import profiled
from jaxviz.measure.attribution import attribute
from jaxviz.measure.profile import Events
from jaxviz.measure.profiled import _compiled_for_profile, _nothing_seen
from jaxviz.measure.rollup import shares_of
from jaxviz.read.hlo.graph import read_hlo
from jaxviz.read.hlo.text import parse_hlo_text


def profile_of(function, *arguments):
    ex = jv.explore(function, *arguments)
    run = ex.run(repeat=2)
    assert run.profile is not None, run.notes
    return ex, run.profile


def counts(ex, profile, op):
    """How often the operations of one kind were executed, fusions by what they compute."""
    graph, count = ex.hlo, profile.times.count
    found = []
    for node in graph.find(op):
        region = graph.region(node.region)
        owner = region.owner if region.kind == "fusion" else node.index
        found.append(round(float(count[owner])))
    return sorted(found)


@needs_reader
@pytest.mark.smoke
@pytest.mark.parametrize("name", ["mlp_grad", "scan_rnn", "convolution", "while_loop", "custom_vjp", "random_numbers"])
def test_at_least_99_percent_of_what_is_executed_is_seen(name):
    function, arguments = CORPUS[name]()
    _, profile = profile_of(function, *arguments)
    assert profile.coverage >= 0.99


@needs_reader
@pytest.mark.parametrize("name", ["mlp_grad", "scan_rnn", "cond", "fori", "remat"])
def test_every_level_adds_up_to_the_operations(name):
    function, arguments = CORPUS[name]()
    _, profile = profile_of(function, *arguments)
    total = profile.times.total
    assert total > 0
    for level in (profile.operations(), profile.equations(), profile.source_lines(), profile.parts()):
        assert sum(each.seconds for each in level) == pytest.approx(total, rel=1e-6)
        assert all(each.total >= each.seconds * (1 - 1e-9) for each in level)


@needs_reader
def test_bodies_of_loops_are_counted_by_their_turns():
    def f(x, rows):
        def turn(carry, row):
            return jnp.tanh(carry @ carry) + jnp.sort(carry[0] * row), row.sum()

        return lax.scan(turn, x, rows)

    ex, profile = profile_of(f, jnp.ones((40, 40)), jnp.ones((7, 40)))
    assert counts(ex, profile, "sort") == [7]
    assert counts(ex, profile, "dot") == [7]
    assert counts(ex, profile, "while") == [1]


@needs_reader
def test_loops_in_loops_and_those_that_do_not_say_how_often():
    def f(x):
        def outer(carry):
            i, y = carry
            return i + 1, lax.fori_loop(0, 3, lambda _, z: jnp.sort(z, axis=0) @ y, y)

        return lax.while_loop(lambda carry: carry[0] < 4 + (carry[1][0, 0] > 1e30), outer, (0, x))

    ex, profile = profile_of(f, jnp.eye(40))
    assert counts(ex, profile, "sort") == [12]


@needs_reader
def test_a_loop_is_inclusive_of_its_body():
    def f(x):
        return lax.fori_loop(0, 20, lambda _, y: jnp.sort(jnp.sin(y @ x), axis=0), x)

    ex, profile = profile_of(f, jnp.ones((60, 60)))
    (loop,) = [node.index for node in ex.hlo.find("while")]
    inside = [node.index for node in ex.hlo if node.region and ex.hlo.region(node.region).owner == loop]
    seconds, total = profile.times.seconds, profile.times.inclusive
    assert total[loop] >= sum(seconds[inside]) + seconds[loop] - 1e-12
    assert total[loop] > 3 * seconds[loop]


@needs_reader
def test_only_the_branch_that_ran_has_time():
    def f(p, x):
        return lax.cond(p, lambda x: jnp.sort(x, axis=0), lambda x: jnp.cumsum(x, axis=0) @ x, x)

    ex, profile = profile_of(f, True, jnp.ones((50, 50)))
    assert counts(ex, profile, "sort") == [1]
    assert counts(ex, profile, "dot") == [0]


@needs_reader
def test_the_line_that_takes_long_is_found():
    def slow_and_quick(x):
        y = jnp.sort(x, axis=0)
        return y + 1.0

    ex, profile = profile_of(slow_and_quick, jnp.ones((800, 800)))
    first = ex.program.line
    times = {each.index: each for each in profile.source_lines()}
    assert times[first + 1].seconds > times[first + 2].seconds
    most = max(profile.equations(), key=lambda each: each.seconds)
    assert most.name == "sort"


@needs_reader
def test_a_line_that_calls_has_the_time_of_what_it_calls():
    def inner(x):
        return jnp.sort(x, axis=0)

    def outer(x):
        return inner(x) * 2.0

    ex, profile = profile_of(outer, jnp.ones((200, 200)))
    lines = {each.index: each for each in profile.source_lines()}
    call, body = ex.program.line + 1, ex.program.line - 2
    assert lines[call].total >= lines[body].total > 0
    assert lines[call].seconds < lines[body].seconds


@needs_reader
def test_the_time_of_a_kernel_is_shared_out_and_says_so():
    _, profile = profile_of(lambda x: jnp.sin(x) * 2.0 + jnp.cos(x), jnp.ones(50_000))
    equations = {each.name: each for each in profile.equations()}
    assert equations["sin"].shared == equations["sin"].seconds > 0
    assert equations["sin"].seconds > equations["add"].seconds


@needs_reader
def test_a_profile_that_cannot_be_made_is_a_note(tmp_path):
    ex = jv.explore(jnp.sin, jnp.ones(3))
    with jax.profiler.trace(str(tmp_path)):
        run = ex.run(repeat=2)
    assert run.profile is None
    assert any("no time for each operation" in note for note in run.notes)
    assert len(run.seconds) == 2
    assert ex.run(repeat=2).profile is not None


def test_too_many_events_are_not_asked_for():
    def f(x):
        return lax.fori_loop(0, 1_000_000, lambda _, y: jnp.sin(y @ y), x)

    ex = jv.explore(f, jnp.ones((2, 2)))
    subject = profiled.ProfileSubject.of(ex._capture)
    with pytest.raises(profiled.NoProfile, match="each would be an event"):
        profiled.make_profile(subject, None, 1.0, lambda: None)


def test_no_profile_when_it_is_not_wanted():
    run = jv.explore(jnp.sin, jnp.ones(3)).run(repeat=2, profile=False)
    assert run.profile is None
    assert run.notes == ()


# What is made of events, without a profiler.

TWICE = """HloModule m, entry_computation_layout={(f32[8]{0})->f32[8]{0}}

body {
  p = f32[8]{0} parameter(0)
  ROOT s = f32[8]{0} sine(p)
}

ENTRY e {
  x = f32[8]{0} parameter(0)
  first = f32[8]{0} call(x), to_apply=body
  ROOT second = f32[8]{0} call(first), to_apply=body
}
"""


def events(*rows):
    """Rows of name, start, end, lane, run."""
    names = sorted({row[0] for row in rows})
    name, start, end, lane, run = (np.array(column) for column in zip(*rows, strict=True))
    number = np.array([names.index(each) for each in name])
    device, tail = np.zeros(len(rows), int), np.zeros(len(rows))
    return Events(names, number, start.astype(float), end.astype(float), lane, device, run, tail)


def attributed(*rows, runs=1):
    read = read_hlo(parse_hlo_text(TWICE))
    return read, attribute(events(*rows), read.graph, read.instruction, read.module, runs)


def test_an_instruction_of_a_body_that_is_called_twice_goes_to_the_call_around_it():
    read, found = attributed(
        ("first", 0.0, 3.0, 0, 0), ("s", 1.0, 2.0, 0, 0), ("second", 4.0, 9.0, 0, 0), ("s", 5.0, 8.0, 0, 0)
    )
    by_name = {read.instruction[node]: found.seconds[node] for node in range(len(read.graph))}
    assert by_name["first"] == 2.0
    assert by_name["second"] == 2.0
    assert [found.seconds[node] for node in read.node_of["s"]] == [1.0, 3.0]
    assert found.total == pytest.approx(8.0)
    assert found.coverage == 1.0
    assert found.busy == 8.0
    assert found.span == 9.0


def test_where_nothing_says_which_call_it_was_both_have_half():
    read, found = attributed(("first", 0.0, 1.0, 0, 0), ("s", 0.2, 0.8, 1, 0))
    assert [found.seconds[node] for node in read.node_of["s"]] == pytest.approx([0.3, 0.3])
    assert found.coverage == 0.5


def test_events_that_overlap_without_being_inside_of_each_other_keep_their_time():
    read, found = attributed(("first", 0.0, 2.0, 0, 0), ("second", 1.0, 3.0, 0, 0))
    assert found.total == 4.0
    assert found.busy == 3.0
    assert read.graph is found.graph


def test_the_median_of_the_runs_counts_and_not_the_first():
    rows = [("first", 10.0 * run, 10.0 * run + took, 0, run) for run, took in enumerate((9.0, 1.0, 2.0, 8.0))]
    _, found = attributed(*rows, runs=4)
    assert found.total == 2.0
    assert found.runs == 3


def test_shares_of_a_kernel_add_up_to_it():
    function, arguments = CORPUS["mlp_grad"]()
    ex = jv.explore(function, *arguments)
    subject = profiled.ProfileSubject.of(ex._capture)
    shares = shares_of(subject.cost, subject.links, len(ex.jaxpr))
    whole = np.bincount(shares.node, shares.share, len(ex.hlo))
    assert np.allclose(whole[whole > 0], 1.0)
    amounts = np.where(subject.cost.fused, 0.0, 1.0)
    assert shares.to_equations(amounts).sum() + shares.left(amounts) == pytest.approx(amounts.sum())


class _Gpu:
    """What can be run on a GPU, as far as a profile asks."""

    class _Device:
        platform = "gpu"

    def __init__(self, refuses=False):
        self.devices = [self._Device()]
        self.lowered = self
        self.asked = []
        self._refuses = refuses

    def compile(self, compiler_options):
        self.asked.append(compiler_options)
        if self._refuses:
            raise RuntimeError("No such compile option")
        return "without"


def test_on_a_gpu_command_buffers_are_left_out_of_the_profile_and_that_is_said():
    runs = _Gpu()
    compiled, notes = _compiled_for_profile(runs)
    assert compiled == "without"
    assert runs.asked == [{"xla_gpu_enable_command_buffer": ""}]
    assert notes == ["profiled without command buffers, which hide the operations inside; the median is with them"]
    compiled, notes = _compiled_for_profile(_Gpu(refuses=True))
    assert compiled is None
    assert notes == ["command buffers could not be turned off: what runs in one has no time of its own"]
    assert "may not use the device's counters (CUPTI)" in _nothing_seen(runs, ["add"])


def test_the_compiler_knows_the_option_for_command_buffers():
    lowered = jax.jit(jnp.sin).lower(jnp.ones(3))
    assert lowered.compile(compiler_options={"xla_gpu_enable_command_buffer": ""}) is not None
    with pytest.raises(Exception, match="No such compile option"):
        lowered.compile(compiler_options={"xla_gpu_enable_command_buffers": ""})
