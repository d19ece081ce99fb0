"""A profile opens with all programs in it, and with how long each of their operations took."""

from __future__ import annotations

import warnings
from collections import defaultdict
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxviz as jv
from jaxviz import compat
from jaxviz.opening.seen import Profile
from jaxviz.read.hlo.text import parse_hlo_text


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    """As `jax.profiler.trace` leaves it: a function that ran with two shapes, one with a loop, and one that did not."""
    folder = tmp_path_factory.mktemp("profile")

    @jax.jit
    def seldom(x):
        return jnp.cos(x) * 2

    @jax.jit
    def often(w, x):
        return jnp.tanh(x @ w) @ w.T

    @jax.jit
    def turning(x):
        return jax.lax.fori_loop(0, 7, lambda i, carry: jnp.sin(carry) @ carry, x)

    w, shapes = jnp.ones((32, 16)), [jnp.ones((8, 32)), jnp.ones((64, 32))]
    jax.block_until_ready([seldom(w), turning(w @ w.T), *(often(w, x) for x in shapes)])
    with jax.profiler.trace(str(folder)):
        for _ in range(5):
            jax.block_until_ready([often(w, x) for x in shapes])
        turning(w @ w.T).block_until_ready()
    return folder


needs_reader = compat.serialized_profile_reader() is not None


@pytest.mark.smoke
def test_a_profile_has_each_program_also_where_two_have_one_name(profile):
    opened = jv.open(profile)
    assert {"jit_often", "jit_often (2)", "jit_turning", "jit_seldom"} <= set(opened.names)
    shapes = {opened[name].hlo.find("tanh")[0].types[0] for name in ("jit_often", "jit_often (2)")}
    assert shapes == {"f32[8,16]", "f32[64,16]"}
    assert any(file.name.endswith(".trace.json.gz") for file in profile.rglob("*"))
    assert not opened.left_out or not needs_reader


def test_what_belongs_to_a_profile_is_not_told_to_be_left_out_elsewhere_it_is(profile, tmp_path):
    (file,) = profile.rglob("*.xplane.pb")
    (trace,) = profile.rglob("*.trace.json.gz")
    run = tmp_path / "plugins" / "profile" / "2026_01_01"
    run.mkdir(parents=True)
    (run / file.name).write_bytes(file.read_bytes())
    # What viewers of profiles keep there.
    (run / "host.op_stats_v2.pb").write_bytes(b"\x12\x08\x07\xff")
    (run / "cache_version.txt").write_text("2.20.1")
    (tmp_path / trace.name).write_bytes(trace.read_bytes())
    reasons = [reason for reason in jv.open(tmp_path).left_out if "cannot read the times" not in reason]
    assert len(reasons) == 1
    assert reasons[0].startswith(f"{tmp_path / trace.name}: line 1:1: expected HLO")
    assert "the events of a profile alone" in reasons[0]
    (run / "other.xplane.pb").write_bytes(file.read_bytes()[:1000])
    assert any(reason.startswith(f"{run / 'other.xplane.pb'}: ") for reason in jv.open(tmp_path).left_out)


@pytest.mark.smoke
def test_times_are_those_of_the_events_or_it_is_told_why_there_are_none(profile):
    opened = jv.open(profile)
    if not needs_reader:
        assert any("cannot read the times" in reason for reason in opened.left_out)
        return
    assert opened.names[-1] != "jit_often"
    assert set(opened.names[:3]) == {"jit_often", "jit_often (2)", "jit_turning"}
    (file,) = profile.rglob("*.xplane.pb")
    events: dict[int, list[tuple[float, int, str, float]]] = defaultdict(list)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for plane in compat.serialized_profile_reader()(file.read_bytes()).planes:
            for line in plane.lines:
                for event in line.events:
                    carried = dict(event.stats)
                    if carried.get("hlo_module") == "jit_often":
                        row = (event.start_ns, carried["run_id"], event.name, 1e-9 * event.duration_ns)
                        events[carried["program_id"]].append(row)
    assert len(events) == 2
    expected = []
    for rows in events.values():
        # The first run counts as one that warms up.
        _, first, _, _ = min(rows)
        took = defaultdict(lambda: defaultdict(float))
        for _, run, name, seconds in rows:
            if run != first:
                took[name][run] += seconds
        expected.append({name: float(np.median(list(runs.values()))) for name, runs in took.items()})
    for name in ("jit_often", "jit_often (2)"):
        program = opened[name]
        (entry,) = program.document().measures
        graph = program.hlo
        assert entry.measures.runs == 5
        assert entry.measures.coverage == 1.0
        assert any(line.startswith("ran 5 times in this profile on CPU, ") for line in repr(program).splitlines())
        figures = entry.measures.figures["hlo"]
        seconds = dict(zip(figures.node.tolist(), figures.columns["seconds"].tolist(), strict=True))
        shown = {graph.node(node).name: value for node, value in seconds.items() if value}
        assert any(shown == pytest.approx(one, rel=1e-2) for one in expected), (shown, expected)
    (entry,) = opened["jit_turning"].document().measures
    figures, graph = entry.measures.figures["hlo"], opened["jit_turning"].hlo
    counts = dict(zip(figures.node.tolist(), figures.columns["count"].tolist(), strict=True))
    assert {counts[node.index] for node in graph.find("dot") if node.index in counts} <= {7.0}
    assert 7.0 in counts.values()


def test_programs_of_a_profile_are_listed_with_how_often_they_ran(profile):
    text = repr(jv.open(profile))
    if needs_reader:
        assert "ran once, " in text
        assert "ran 5 times, " in text


def _event(name, start, end, **stats):
    return SimpleNamespace(name=name, start_ns=start, duration_ns=end - start, stats=list(stats.items()))


def test_operations_that_do_not_say_their_module_are_of_that_which_ran_meanwhile(monkeypatch):
    text = "HloModule jit_{}\n\nENTRY e {{\n  p = f32[2] parameter(0)\n  ROOT add.1 = f32[2] add(p, p)\n}}\n"
    modules = {(f"jit_{name}", number): parse_hlo_text(text.format(name)) for name, number in (("f", 3), ("g", 4))}
    lines = [
        SimpleNamespace(name="XLA Modules", events=[_event("jit_f(3)", 0, 100), _event("jit_g(4)", 200, 300)]),
        SimpleNamespace(
            name="XLA Ops",
            events=[
                _event("%add.1 = f32[2]{0} add(%p, %p)", 10, 30),
                _event("%add.1 = f32[2]{0} add(%p, %p)", 210, 290),
                _event("%add.1 = f32[2]{0} add(%p, %p)", 150, 160),
            ],
        ),
    ]
    plane = SimpleNamespace(name="/device:TPU:0", stats=[("device_type_string", "TPU v5e")], lines=lines)
    monkeypatch.setattr(compat, "serialized_profile_reader", lambda: lambda data: SimpleNamespace(planes=[plane]))
    seen = Profile(b"", modules)
    taken = {name: seen.of((name, number)) for name, number in modules}
    assert [round(1e9 * one.seconds) for one in taken.values()] == [20, 80]
    assert taken["jit_f"].device == "TPU v5e"
