"""Two programs beside each other: what is the same, what was added, removed and changed; many copies against a loop."""

from __future__ import annotations

import time

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import jaxviz as jv
from jaxviz.document import Document
from jaxviz.link.links import CHANGED, EXACT, MERGED

X = jnp.arange(8.0)


def differences(f, g, *args, stage="jaxpr"):
    return jv.compare(jv.explore(f, *args), jv.explore(g, *args)).differences[stage]


def ops(nodes):
    return [node.op for node in nodes]


def test_a_program_is_the_same_as_itself_whatever_calls_it():
    def f(x):
        return jnp.tanh(x * 2.0) + jnp.sin(x)

    found = differences(f, f, X)
    assert not found
    assert found.same == 4
    called = differences(f, lambda x: jax.jit(f)(x), X)
    # A call computes nothing, and is looked through.
    assert not called
    assert called.same == 4


def test_what_is_added_removed_and_changed_is_told_apart():
    def f(x):
        return jnp.tanh(x * 2.0) + jnp.exp(x)

    def g(x):
        return jnp.tanh(x * 3.0) + jnp.cos(jnp.sin(x))

    found = differences(f, g, X)
    assert ops(found.only_a) == ["exp"]
    assert sorted(ops(found.only_b)) == ["cos", "sin"]
    assert [(a.op, a.operand_texts[1], b.operand_texts[1]) for a, b in found.changed] == [("mul", "2.0", "3.0")]
    assert found.same == 2


def test_what_reads_another_constant_inside_of_a_body_has_changed_on_both_sides():
    def f(shift):
        return lambda x: lax.cond(x[0] > 0, lambda x: x * shift, jnp.sin, x)

    for stage in ("jaxpr", "stablehlo", "hlo"):
        found = differences(f(2.0), f(3.0), X, stage=stage)
        assert {(a.op, b.op) for a, b in found.changed} in ({("mul", "mul")}, {("multiply", "multiply")}), stage
        assert not found.only_a
        assert not found.only_b


def test_what_reads_a_value_that_is_spread_otherwise_has_changed():
    def f(axis):
        return lambda x, y: jnp.tanh(x + lax.broadcast_in_dim(y, (8, 8), (axis,)))

    found = differences(f(0), f(1), jnp.ones((8, 8)), X)
    assert ("add", "add") in [(a.op, b.op) for a, b in found.changed]
    assert "tanh" not in [a.op for a, _ in found.changed]


def test_what_reads_an_argument_of_another_type_has_changed():
    def once(x, y):
        return jnp.sin(jnp.matmul(x, y))

    narrow = X.astype(jnp.bfloat16)
    found = jv.compare(jv.explore(once, X, X), jv.explore(once, narrow, X)).differences["jaxpr"]
    assert [one.op for pair in found.changed for one in pair] == ["dot_general", "dot_general"]
    assert found.same == 1


def test_a_copy_that_only_one_program_has_changes_nothing_that_reads_it():
    # XLA copies what goes into the loop, which the unrolled one does without.
    found = differences(unrolled, looped, X, stage="hlo")
    assert "copy" in ops(found.only_b)
    assert len(found.changed) <= 2


def test_the_order_of_operands_counts_only_where_it_matters():
    assert [(a.op, b.op) for a, b in differences(lambda x, y: x - y, lambda x, y: y - x, X, X).changed] == [
        ("sub", "sub")
    ]
    assert not differences(lambda x: jnp.tanh(x) + jnp.sin(x), lambda x: jnp.sin(x) + jnp.tanh(x), X)


@pytest.mark.parametrize("stage", ["stablehlo", "hlo"])
def test_another_number_inside_of_a_kernel_is_the_one_difference(stage):
    def scaled(shift):
        return lambda x: jnp.tanh(x * 2.0 + shift).sum()

    found = differences(scaled(0.5), scaled(0.25), X, stage=stage)
    assert [(a.op, b.op) for a, b in found.changed] == [("add", "add")]
    assert not found.only_a
    assert not found.only_b
    assert not differences(scaled(0.5), scaled(0.5), X, stage=stage)


def test_what_reads_another_number_has_changed_where_the_first_program_reads_one_number_twice():
    def f(shift):
        return lambda x: lax.max(lax.sin(x) * 2.0, shift)

    found = differences(f(2.0), f(3.0), jnp.float32(1), stage="hlo")
    assert [(a.op, b.op) for a, b in found.changed] == [("maximum", "maximum")]
    assert not found.only_a
    assert not found.only_b


def test_another_type_changes_every_operation_and_loses_none():
    def f(x):
        return jnp.tanh(x * 2.0) + jnp.sin(x)

    found = jv.compare(jv.explore(f, X), jv.explore(f, X.astype(jnp.bfloat16))).differences["jaxpr"]
    assert not found.only_a
    assert not found.only_b
    assert {a.op for a, _ in found.changed if a.kind == "operation"} == {"tanh", "mul", "sin", "add"}


def unrolled(x):
    for _ in range(100):
        x = x * 1.01 + 0.1
    return jnp.sum(x)


def looped(x):
    return jnp.sum(lax.fori_loop(0, 100, lambda _, x: x * 1.01 + 0.1, x))


@pytest.mark.parametrize("stage", ["jaxpr", "stablehlo", "hlo"])
@pytest.mark.parametrize("turned", [False, True])
def test_the_copies_of_an_unrolled_loop_are_the_body_of_the_loop(stage, turned):
    found = differences(looped, unrolled, X, stage=stage) if turned else differences(unrolled, looped, X, stage=stage)
    assert found.merged >= 190
    only_unrolled, only_looped = (found.only_b, found.only_a) if turned else (found.only_a, found.only_b)
    assert len(only_unrolled) <= 2
    assert 0 < len(only_looped) <= 12


def test_copies_are_counted_as_the_picture_counts_them():
    def step(x):
        return jnp.tanh(x * 1.01) + 0.1

    def many(x):
        for _ in range(24):
            x = step(x)
        return jnp.sum(x)

    found = differences(many, lambda x: jnp.sum(lax.fori_loop(0, 24, lambda _, x: step(x), x)) * 2, X)
    # As tests/browser/test_compare.py reads it above the picture of the same two programs.
    assert found.merged == 69


def test_more_layers_are_added_and_the_others_stay():
    def net(x, depth):
        for _ in range(depth):
            x = jnp.tanh(x @ jnp.ones((8, 8)))
        return x

    found = jv.compare(jv.explore(lambda x: net(x, 4), X), jv.explore(lambda x: net(x, 6), X)).differences["jaxpr"]
    assert not found.only_a
    assert found.merged == 0
    assert ops(found.only_b).count("tanh") == 2


def test_the_document_holds_both_programs_and_links_their_stages(tmp_path):
    comparison = jv.compare(jv.explore(unrolled, X), jv.explore(looped, X))
    document = comparison.document()
    assert [program.name for program in document.programs] == ["unrolled", "looped"]
    numbers = [[stage.graph for stage in program.stages] for program in document.programs]
    assert {(a, b) for a, b in zip(*numbers, strict=True)} <= {(entry.start, entry.end) for entry in document.links}
    again = Document.load(document.save(tmp_path / "both.jaxviz"))
    assert again.to_json(packed=False) == document.to_json(packed=False)
    # Each still knows its own lines.
    for number, function in ((0, unrolled), (1, looped)):
        graph = document.graphs[numbers[number][0]]
        lines = {node.line for node in graph if node.kind == "operation"}
        first = function.__code__.co_firstlineno
        assert lines <= set(range(first, first + 5))
    # What was explored stays as it was.
    assert len(jv.explore(looped, X).document().programs) == 1


def test_kinds_of_links_say_how_sure_they_are():
    document = jv.compare(
        jv.explore(lambda x: jnp.sin(x * 2.0), X), jv.explore(lambda x: jnp.sin(x * 3.0), X)
    ).document()
    links = next(entry.links for entry in document.links if (entry.start, entry.end) == (0, 3))
    kinds = {document.graphs[0].node(int(a)).op: int(k) for a, k in zip(links.source, links.kind, strict=True)}
    assert kinds["argument"] == EXACT
    assert kinds["mul"] == CHANGED
    assert MERGED not in kinds.values()


def test_only_programs_can_be_compared():
    with pytest.raises(TypeError, match=r"got function: write jv.compare\(jv.explore"):
        jv.compare(unrolled, looped)


def test_ten_thousand_equations_are_matched_about_as_fast_as_they_are_traced():
    def long(x, factor):
        for turn in range(2_500):
            x = jnp.sin(x * factor) + jnp.cos(x) / (turn + 1.0)
        return x

    start = time.process_time()
    a, b = (jv.explore(lambda x, by=by: long(x, by), X).document(stages=()) for by in (2.0, 3.0))
    made = time.process_time()
    found = jv.compare(a, b).differences["jaxpr"]
    assert time.process_time() - made < 3 * (made - start)
    assert len(found.changed) == 2_500
    assert not found.only_a
    assert not found.only_b


def test_the_text_says_what_differs():
    text = repr(jv.compare(jv.explore(unrolled, X), jv.explore(looped, X)))
    assert text.splitlines()[0] == "<jaxviz unrolled(f32[8]) beside looped(f32[8])>"
    assert "198 folded into a loop" in text


def test_one_more_layer_that_is_a_loop_itself_is_folded_into_no_loop():
    def layered(weights, x):
        for w in weights:
            x = lax.scan(lambda h, row, w=w: (jnp.tanh(h @ w + row), h), x[0], x)[1]
        return x

    weights = [jnp.eye(4)] * 3
    for count in (1, 2):
        found = jv.compare(*(jv.explore(layered, weights[:many], jnp.ones((5, 4))) for many in (count, 3)))
        for stage in ("jaxpr", "stablehlo", "hlo"):
            assert not found.differences[stage].merged
            assert found.differences[stage].only_b


def test_what_was_measured_of_each_stays_with_its_program():
    first, second = jv.explore(lambda x: jnp.sin(x), X), jv.explore(lambda x: jnp.cos(x), X)
    second.run(2)
    document = jv.compare(first, second).document()
    assert [entry.program for entry in document.measures] == [1]
    assert [entry.program for entry in jv.compare(second, first).document().measures] == [0]


def test_two_dumps_of_one_function_are_told_apart_by_their_files(tmp_path):
    compiled = jax.jit(jnp.tanh).lower(X).compile().as_text()
    for folder, file in (("before", "module.txt"), ("after", "module.txt"), ("after", "sharded.txt")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / file).write_text(compiled)

    def calls(one, other):
        return [program.call for program in jv.compare(one, other).document().programs]

    before, after = tmp_path / "before/module.txt", tmp_path / "after/module.txt"
    sharded = after.with_name("sharded.txt")
    assert calls(after, sharded) == ["jit_tanh, module.txt", "jit_tanh, sharded.txt"]
    assert calls(jv.open(before), str(after)) == ["jit_tanh, before", "jit_tanh, after"]
    assert calls(before, before) == ["jit_tanh", "jit_tanh"]
    assert calls(jv.explore(jnp.tanh, X), after)[0] == "tanh(f32[8])"
