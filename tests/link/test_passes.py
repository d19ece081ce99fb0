"""The passes of the compiler: what each did, and the graphs that they left, put together from their differences."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from programs import CORPUS
from styles import two_models

import jaxviz as jv
from jaxviz.link.changes import changed_lineages
from jaxviz.outline.tree import ROW_KINDS
from jaxviz.passes import NoSnapshots, make_passes
from jaxviz.read.passes import PassState, chosen_states, different_states, fewer_states
from jaxviz.series import apply_edit
from jaxviz.series.write import edit_between
from jaxviz.tables import Tables


def explored(name: str) -> jv.explore:
    fn, args = CORPUS[name]()
    return jv.explore(fn, *args)


@pytest.fixture(scope="module")
def redundant():
    return explored("redundant")


def pass_named(ex, name: str):
    found = [each for each in ex.passes if each.name == name]
    assert found, f"no {name} in {ex.passes!r}"
    return found[0]


@pytest.mark.smoke
def test_equal_operations_are_merged_by_the_pass_that_looks_for_them():
    def twice(x):
        return jnp.sin(x) + jnp.sin(x) * 2.0

    ex = jv.explore(twice, jnp.ones(16))
    merged = pass_named(ex, "cse")
    [gone] = [change for change in merged.removed if change.node.op == "sine"]
    assert [ex.jaxpr.node(equation).op for equation in gone.equations] == ["sin"]
    reader = {change.node.op for change in merged.changed}
    assert reader & {"add", "multiply"}
    assert len(merged.graph.find("sine")) == 1


def test_what_is_inlined_moves_also_where_calls_stand_in_calls():
    @jax.jit
    def inner(x):
        return jnp.sin(x) * 2.0

    @jax.jit
    def middle(x):
        return inner(x) + inner(x * 3.0)

    ex = jv.explore(lambda x: middle(x).sum() + middle(x + 1.0).sum(), jnp.ones((8, 8)))
    inlined = next(each for each in ex.passes if "inline" in each.name)
    assert {change.node.op for change in inlined.removed} == {"call"}
    assert not inlined.added
    sines = [change for change in inlined.moved if change.node.op == "sine"]
    assert len(sines) == 4
    assert all(len(change.equations) == 1 for change in sines)
    # Each comes from its own call; in JAX 0.6 the name of an instruction is that of the first of them.
    assert len({change.equations for change in sines}) == (4 if jax.__version_info__ >= (0, 7) else 1)


@pytest.mark.parametrize("name", ["scan_rnn", "random_numbers", "linear_algebra"])
def test_what_is_inlined_moves_also_where_it_gets_the_name_of_its_call_only_then(name):
    """Functions that JAX makes for one equation, such as that which takes the slice of a turn, have no tags inside."""
    inlined = [each for each in explored(name).passes if each.name == "call-inliner"]
    assert inlined
    handing = {"constant", "broadcast", "tuple", "get-tuple-element"}
    for each in inlined:
        removed, added = (
            {(one.node.op, one.node.types, one.equations) for one in changes if one.node.op not in handing}
            for changes in (each.removed, each.added)
        )
        assert not removed & added


def test_a_loop_that_carries_less_is_changed_and_only_what_it_no_longer_computes_is_removed():
    def f(x):
        def turn(carried):
            count, kept, unread = carried
            return count + 1, kept * 3, unread ^ 5

        _, kept, unread = jax.lax.while_loop(lambda carried: carried[0] < 7, turn, (0, x, x))
        # What nobody reads at all, JAX drops itself from 0.12 on.
        return kept + unread * 0

    (one,) = (each for each in jv.explore(f, jnp.ones(8, int)).passes if each.name == "simplify-while-loops")
    assert [change.node.op for change in one.removed] == ["constant", "broadcast", "xor"]
    assert "while" in {change.node.op for change in one.changed}
    assert not one.added
    assert not one.moved


@pytest.mark.smoke
def test_what_goes_into_a_fusion_is_fused_and_not_new():
    def chain(x):
        return jnp.exp(jnp.sin(x) * 2.0)

    ex = jv.explore(chain, jnp.ones(16))
    fusing = [each for each in ex.passes if each.fused][-1]
    assert {"sine", "exponential"} <= {change.node.op for change in fusing.fused}
    assert "fusion" in {change.node.op for change in fusing.added}
    assert not {"sine", "exponential"} & {change.node.op for change in fusing.added + fusing.removed}
    for change in fusing.fused:
        region = fusing.graph.region(change.node.region)
        assert region.kind == "fusion"


@pytest.mark.smoke
@pytest.mark.parametrize("name", ["redundant", "mlp_train", "cond", "scan_rnn", "linear_algebra"])
def test_the_last_pass_leaves_what_is_optimized_hlo(name):
    ex = explored(name)
    last = ex.passes[-1].graph if len(ex.passes) else ex.passes.start

    def operations(graph):
        return sorted(node.op for node in graph if node.kind in ("operation", "constant"))

    assert operations(last) == operations(ex.hlo)


@pytest.mark.parametrize("name", ["redundant", "mlp_train", "cond", "scan_rnn", "while_loop"])
def test_every_pass_changed_something_and_its_changes_add_up(name):
    ex = explored(name)
    states = [ex.passes.series.state(number) for number in range(len(ex.passes.series))]
    for each, before, after in zip(ex.passes, states, states[1:], strict=False):
        assert each.changes, each

        def count(state):
            return sum(node.kind in ("operation", "constant") for node in state.graph)

        assert count(before) + len(each.added) - len(each.removed) == count(after)
        assert len(set(after.lineage.tolist())) == len(after.graph)
        kept = set(before.lineage.tolist()) & set(after.lineage.tolist())
        told = {lineage for kind in changed_lineages(before, after).values() for lineage in kind}
        for lineage in kept - told:
            old, new = before.graph.node(before.node_of[lineage]), after.graph.node(after.node_of[lineage])
            assert (old.op, old.types, old.attributes) == (new.op, new.types, new.attributes)


def test_a_state_from_its_differences_is_the_state_that_was_read(monkeypatch):
    import jaxviz.passes

    kept = []
    added = jaxviz.passes.SeriesWriter.add

    def keep(self, state, **names):
        kept.append(state)
        added(self, state, **names)

    monkeypatch.setattr(jaxviz.passes.SeriesWriter, "add", keep)
    for name in ("fori", "mlp_grad", "cond"):
        kept.clear()
        series = explored(name).passes.series
        assert len(kept) == len(series) > 2
        for number, state in enumerate(kept):
            again = series.state(number)
            for part in ("nodes", "values", "operands", "literals", "regions", "bindings", "attributes"):
                for column, entries in vars(getattr(state.graph, part)).items():
                    assert np.array_equal(entries, getattr(getattr(again.graph, part), column)), (number, part, column)
            for column, entries in state.outline.packed().items():
                assert np.array_equal(entries, again.outline.packed()[column]), (number, column)
            assert np.array_equal(state.lineage, again.lineage)
            for column, entries in (("source", "source"), ("target", "target"), ("kind", "kind")):
                assert np.array_equal(getattr(state.links, column), getattr(again.links, entries))


def test_edits_make_any_sequence_of_any_other():
    from hypothesis import given
    from hypothesis import strategies as st

    numbers = st.lists(st.integers(0, 6), max_size=30)

    @given(numbers, numbers)
    def check(before, after):
        edit = edit_between(before, after)
        assert apply_edit(np.array(before, np.int32), edit, 7).tolist() == after

    check()


@pytest.mark.parametrize("edit", [[0], [0, 5, 0], [0, 0, 2, 1], [0, 0, 1, 9], [-1, 0, 0]])
def test_an_edit_that_does_not_fit_is_refused(edit):
    with pytest.raises(ValueError, match="expected"):
        apply_edit(np.zeros(3, np.int32), edit, 7)


# Which snapshots become states.


def text_of(names, module="jit_f"):
    lines = "\n".join(f"  {name} = f32[] parameter({number})" for number, name in enumerate(names))
    return f"HloModule {module}\n\nENTRY e {{\n{lines}\n}}\n"


def state(after, names, module="jit_f"):
    return PassState(after, "pipeline", 0, text_of(names, module))


def test_states_are_of_the_program_itself_and_each_differs():
    taken = [
        state("start", "ab"),
        state("cse", "ab"),
        state("tried", "xyz", module="autotuned"),
        state("dce", "a"),
    ]
    assert [each.name for each in different_states(taken)] == ["start", "dce"]


def test_of_a_large_program_those_that_changed_most_are_kept_and_the_rest_is_counted():
    many = [PassState(f"p{number}", "", 0, text_of("abcdefg"[:size])) for number, size in enumerate((1, 2, 7, 6, 2, 3))]
    chosen = fewer_states(many, 4)
    assert len(chosen) == 4
    assert chosen[0].name == "p0"
    assert chosen[-1].name == "p5"
    assert "p2" in {state.name for state in chosen}
    assert sum(state.joined for state in chosen) + len(chosen) == len(many)


def test_a_large_program_says_what_was_left_out(monkeypatch):
    monkeypatch.setattr("jaxviz.read.passes.EVERY_PASS", 10)
    monkeypatch.setattr("jaxviz.read.passes.MOST_INSTRUCTIONS", 100)
    ex = explored("mlp_train")
    assert len(ex.passes) == 3
    assert "of the" in ex.passes.note
    assert "the 3 that changed most" in ex.passes.note
    assert sum(each.joined for each in ex.passes) > 3
    assert not chosen_states(())[0]


def test_without_snapshots_it_says_so():
    with pytest.raises(NoSnapshots, match="gave no snapshots"):
        make_passes((), Tables(), lambda states: (), lambda read: (), lambda graph, tagged: None)


def phases_of(outline):
    """The names of the phases of an outline, in order."""
    phase = ROW_KINDS.index("phase")
    return [outline.graph.tables.strings[name] for name in outline.name[outline.kind == phase]]


@pytest.mark.parametrize("name", ["mlp_train", "mlp_grad"])
def test_no_pass_tears_a_phase_apart(name):
    ex = explored(name)
    series = ex.passes.series
    wanted = phases_of(ex.document(passes=False).outlines[0].outline)
    for number in range(len(series)):
        found = phases_of(series.state(number).outline)
        assert len(found) == len(set(found)), number
        assert [phase for phase in wanted if phase in found] == found, number


def test_two_models_in_one_step_have_their_phases_in_optimized_hlo_as_in_the_jaxpr():
    fn, args = two_models()
    document = jv.explore(fn, *args).document()
    jaxpr, _, hlo = (sorted(phases_of(entry.outline)) for entry in document.outlines)
    assert jaxpr == ["backward", "backward", "forward", "forward"]
    assert hlo == jaxpr
