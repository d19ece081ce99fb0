"""Every stage of the corpus: what is shown is what would run, and each operation knows the line that it came from."""

from __future__ import annotations

import gc
import os
import threading
from collections import Counter
from contextlib import nullcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from programs import CORPUS, flax_block
from styles import STYLES

import jaxviz as jv
from jaxviz.capture import Capture
from jaxviz.compat_threads import outside_the_cache
from jaxviz.graph import OPERATION
from jaxviz.link.links import PLUMBING, link_shares
from jaxviz.link.snapshots import working_names
from jaxviz.program import Program
from jaxviz.read.hlo_module import HloModule
from jaxviz.read.hlo_proto import parse_hlo_proto

_NEEDS = {"flax_block_forward": "flax", "flax_block_train": "flax", "xor_train": "optax", "mlp_train": "optax"}
_NAMES = [pytest.param(name, marks=[pytest.mark.smoke] if name in ("cond", "scan_rnn") else []) for name in CORPUS]


def capture_of(name: str) -> Capture:
    if name in _NEEDS:
        pytest.importorskip(_NEEDS[name])
    function, arguments = CORPUS[name]()
    return Capture(Program(function, arguments))


def shape_of(module: HloModule) -> list[object]:
    """A module without names and metadata: computations in the order in which the entry reaches them."""
    number: dict[int, int] = {}
    waiting, rows = [module.entry], []
    while waiting:
        at = waiting.pop(0)
        if at in number:
            continue
        number[at] = len(number)
        computation = module.computations[at]
        rows.append((tuple(computation.opcodes), tuple(computation.shapes), tuple(computation.operands)))
        waiting += [callee for calls in computation.calls for _, callee in calls]
    return rows


@pytest.mark.parametrize("name", _NAMES)
def test_what_is_shown_is_what_would_run(name):
    capture = capture_of(name)
    shown = parse_hlo_proto(capture._optimized.proto)
    function, arguments = CORPUS[name]()
    jitted = function if hasattr(function, "lower") else jax.jit(function)
    plain = jitted.lower(*arguments).compile().runtime_executable().hlo_modules()[0]
    assert shape_of(shown) == shape_of(parse_hlo_proto(plain.as_serialized_hlo_module_proto()))


@pytest.mark.parametrize("name", _NAMES)
def test_all_of_it_is_placed(name):
    capture = capture_of(name)
    for linked in (capture.stablehlo, capture.hlo):
        linked.graph.check()
        linked.outline.check()
        assert link_shares(linked.graph, linked.links)["none"] == 0.0
    strings = capture.tables.strings
    assert not any("jvE" in strings[scope] for scope in capture.hlo.graph.nodes.scope)
    computing = [node for node in capture.hlo.graph if node.kind == "operation" and node.op not in PLUMBING]
    with_line = sum(any(frame.file.endswith("programs.py") for frame in node.frames) for node in computing)
    assert with_line >= 0.99 * len(computing)


@pytest.mark.parametrize("name", _NAMES)
def test_every_equation_has_a_fate(name):
    capture = capture_of(name)
    fates = capture.fates
    operations = capture.jaxpr.nodes.kind == OPERATION
    assert (fates.kind[operations] > 0).all()
    assert not fates.kind[~operations].any()


def test_most_instructions_carry_the_tag_of_what_they_came_from():
    pytest.importorskip("flax")
    sure = total = 0.0
    for name in CORPUS:
        linked = capture_of(name).hlo
        shares = link_shares(linked.graph, linked.links)
        count = int((linked.graph.nodes.kind == OPERATION).sum())
        sure += count * (shares["exact"] + shares["merged"])
        total += count
    # With tags or without, XLA of JAX 0.6 gives no name to many a broadcast that has one later.
    assert sure / total >= (0.85 if jax.__version_info__ >= (0, 7) else 0.8)


# Stories that a person would check.


@pytest.mark.smoke
def test_equal_operations_are_merged_and_it_is_said_with_which():
    def f(x):
        return jnp.sin(x) + jnp.sin(x) * 2.0

    ex = jv.explore(f, jnp.ones(4))
    kinds = {fate.kind: fate for fate in ex.fates}
    assert kinds["merged"].where == "cse"
    first, second = ex.jaxpr.find("sin")
    assert {kinds["merged"].node, kinds["merged"].by} == {first.index, second.index}


@pytest.mark.smoke
def test_a_useless_loop_is_dead_from_end_to_end():
    def settle(x):
        kept = jnp.sin(x)
        for _ in range(100):
            x = x * 1.01 + 0.1
        return kept

    ex = jv.explore(settle, jnp.ones(4))
    assert Counter(fate.kind for fate in ex.fates) == {"dead": 200, **_alive_once(ex)}


def _alive_once(ex: jv.Exploration) -> dict[str, int]:
    [alive] = [fate.kind for fate in ex.fates if fate.alive]
    return {alive: 1}


@pytest.mark.smoke
def test_a_loop_whose_result_is_used_is_not_dead():
    def f(x):
        for _ in range(50):
            x = x * 1.0001
        return x

    ex = jv.explore(f, jnp.ones(4))
    kinds = Counter(fate.kind for fate in ex.fates)
    assert sum(kinds.values()) == 50
    assert kinds["dead"] == 0
    assert any(fate.alive for fate in ex.fates)


def _fates(function, *arguments):
    """The fate of each equation of a function, by its operation; one at least has no fate of its own."""
    ex = jv.explore(function, *arguments)
    return ex, [(ex.jaxpr.node(fate.node).op, fate) for fate in ex.fates]


@pytest.mark.smoke
def test_of_a_chain_that_is_merged_each_says_with_which():
    def f(x):
        return jnp.sin(x) * 3.0 + jnp.sin(x) * 3.0, jnp.cos(x), jnp.cos(x)

    ex, fates = _fates(f, jnp.ones(4))
    pairs = {(op, ex.jaxpr.node(fate.by).op) for op, fate in fates if fate.kind == "merged"}
    assert pairs == {("sin", "sin"), ("mul", "mul"), ("cos", "cos")}


@pytest.mark.smoke
def test_of_two_sums_that_are_merged_the_second_goes_then_and_not_when_its_body_is_cleared_away():
    _, fates = _fates(lambda x: jnp.sum(x) * 3.0 + jnp.sum(x) + jnp.mean(x), jnp.arange(16.0))
    first, *others = (fate for op, fate in fates if op == "reduce_sum")
    assert first.alive
    assert {(fate.kind, fate.where, fate.by) for fate in others} == {("merged", "cse", first.node)}


def test_what_a_pass_writes_as_several_others_is_alive():
    """The sums of parts that a running sum becomes carry no name of it."""

    def f(x):
        return jnp.cumsum(jnp.sin(x), axis=0) * x, jax.lax.cummax(x, axis=1)

    _, fates = _fates(f, jnp.ones((64, 64)))
    kinds = {op: fate.kind for op, fate in fates}
    assert kinds["cumsum"] in ("alone", "fused", "both")
    assert kinds["cummax"] in ("alone", "fused", "both")


@pytest.mark.smoke
@pytest.mark.parametrize("mapped", [False, True])
def test_a_product_that_takes_in_the_transpose_of_itself_is_alive(mapped):
    """XLA keeps the name of the transpose for the product of both, which nothing else would tell from the transpose."""

    def f(w, x):
        return jnp.sin(jax.vmap(lambda row: w @ row)(x) if mapped else (w @ x.T).T)

    ex, fates = _fates(f, jnp.ones((32, 16)), jnp.ones((8, 16)))
    product = next(fate for op, fate in fates if op == "dot_general")
    turned = [fate for op, fate in fates if op == "transpose"][-1]
    assert product.alive
    assert (turned.kind, turned.by) == ("moved", product.node)
    assert {node.index for node in ex.hlo if node.op == "dot"} <= {*ex.links().targets(product.node)}


def test_a_product_whose_transpose_leaves_a_copy_behind_is_alive():
    function, arguments = STYLES["sharded_step"]()
    ex, fates = _fates(function, *arguments)
    products = [fate for op, fate in fates if op == "dot_general"]
    assert all(fate.alive for fate in products)
    assert all(ex.links().targets(fate.node) for fate in products)


def test_a_factor_that_becomes_part_of_another_does_not_do_the_work_of_what_it_reads():
    _, fates = _fates(lambda x: jax.lax.erf_inv(x) * np.float32(2.5) * np.float32(3.5), jnp.linspace(-0.9, 0.9, 64))
    inverse, first, second = (fate for op, fate in fates if op in ("erf_inv", "mul"))
    assert (inverse.kind, second.kind) == ("fused", "fused")
    # JAX 0.12 keeps both factors; where the first is gone, what it read is not what it gave.
    assert first.alive or (first.kind, first.by) == ("simplified", -1)


def test_what_stands_in_for_a_value_holds_it():
    """Neither what it was made of, before a factor, nor what was made of it, nor what has other entries."""
    types = jnp.ones((4, 8)), jnp.ones((4, 8))
    ex, fates = _fates(lambda x, g: (jnp.tanh(x) * 2.0) * jnp.sin(g) * 3.0, *types)
    assert all(fate.by < 0 for op, fate in fates if op == "mul")
    ex, fates = _fates(lambda x, g: jnp.tanh(x.sum(axis=1).sum()), *types)
    rows = next(fate for op, fate in fates if op == "reduce_sum")
    assert rows.by < 0 or ex.jaxpr.node(rows.by).types == ("f32[4]",)
    ex, fates = _fates(lambda x, g: jnp.sin(jax.lax.max(jnp.tanh(x), -jnp.inf)), *types)
    (clipped,) = (fate for op, fate in fates if op == "max")
    assert clipped.alive or ex.jaxpr.node(clipped.by).op == "tanh"


def test_what_a_reduction_does_with_two_elements_has_the_fate_of_the_reduction():
    """It is a word of the operation in StableHLO and in HLO; a pass may write the operation anew without its name."""

    def f(x):
        every = jax.lax.reduce(x, 0.0, lambda a, b: a + b, (0,))
        return every, jax.lax.reduce_window(x, 0.0, lambda a, b: a + b, (2,), (1,), "SAME")

    _, fates = _fates(f, jnp.ones(8))
    kinds = [(op, fate.kind) for op, fate in fates if op in ("reduce", "reduce_window", "add")]
    assert [op for op, _ in kinds] == ["reduce", "add", "reduce_window", "add"]
    assert all(fate.alive for _, fate in fates)
    assert kinds[0][1] == kinds[1][1]
    assert kinds[2][1] == kinds[3][1]


def test_of_what_is_merged_over_copies_of_its_value_each_says_with_which():
    function, arguments = STYLES["own_optimizer"]()
    _, fates = _fates(function, *arguments)
    assert all(fate.by >= 0 for _, fate in fates if fate.kind == "merged")


def test_a_product_that_becomes_a_sum_has_not_taken_in_the_sum_that_it_reads():
    function, arguments = STYLES["own_optimizer"]()
    _, fates = _fates(function, *arguments)
    assert all(fate.kind != "moved" for op, fate in fates if op == "dot_general")


def test_what_a_checkpoint_computes_again_is_merged_with_what_it_repeats_where_the_compiler_merges_their_kernels():
    """Of two fusions that are merged late, the body of the second stays, uncalled, until dead code is removed."""

    @jax.checkpoint
    def layer(x, w):
        return jnp.sin(jnp.tanh(x @ w) @ w)

    ex, fates = _fates(jax.grad(lambda w, x: layer(layer(x, w), w).sum()), jnp.ones((16, 16)), jnp.ones((16, 16)))
    gone = [fate for op, fate in fates if op == "dot_general" and not fate.alive and fate.kind != "dead"]
    # Newer compilers leave the barriers in, and compute all of it again.
    assert gone or jax.__version_info__ >= (0, 11)
    assert all(fate.kind == "merged" and ex.jaxpr.node(fate.by).op == "dot_general" for fate in gone)


def test_a_loop_that_never_turns_goes_where_it_is_removed():
    """A value that is taken out of what was the loop keeps its name for a while."""

    def f(x):
        return jax.lax.while_loop(lambda c: c[0] < 0, lambda c: (c[0] + 1, jnp.sin(c[1])), (0, x))[1]

    _, fates = _fates(f, jnp.ones(4))
    assert {(fate.kind, fate.where) for _, fate in fates} == {("simplified", "simplify-while-loops")}


@pytest.mark.smoke
def test_what_only_goes_round_a_loop_is_dead():
    def f(x):
        return jax.lax.fori_loop(0, 5, lambda i, c: (c[0] * 2.0, jnp.sin(c[1])), (x, x))[0]

    _, fates = _fates(f, jnp.ones(4))
    kinds = {op: fate.kind for op, fate in fates}
    assert kinds["sin"] == "dead"
    assert kinds["mul"] != "dead"


def test_what_a_loop_is_given_for_what_only_goes_round_is_dead():
    """Also beside literals, which nothing makes."""

    def f(x):
        def body(carry, y):
            return (carry[0] + y, carry[1] * 2.0, carry[2] - 1.0), carry[0]

        return jax.lax.scan(body, (0.0, jnp.cos(x[0]), 1.0), jnp.sin(x))[1]

    _, fates = _fates(f, jnp.ones(4))
    kinds = {op: fate.kind for op, fate in fates}
    assert [kinds[op] for op in ("cos", "mul", "sub")] == ["dead"] * 3
    assert "dead" not in (kinds["sin"], kinds["add"], kinds["scan"])


def test_what_goes_round_a_loop_in_a_loop_for_nothing_is_dead():
    def f(x):
        def outer(carry, y):
            def inner(carried, z):
                return (carried[0] + z, carried[1] * carry[1]), carried[0]

            carry, sums = jax.lax.scan(inner, carry, jnp.arange(3.0) - y)
            return carry, jnp.tanh(sums).sum()

        return jax.lax.scan(outer, (x[0], jnp.cos(x[1])), x)[1]

    _, fates = _fates(f, jnp.ones(4))
    kinds = {op: fate.kind for op, fate in fates}
    assert [kinds[op] for op in ("cos", "mul")] == ["dead"] * 2
    assert "dead" not in (kinds["add"], kinds["sub"], kinds["tanh"])


def test_what_is_known_to_the_compiler_is_folded():
    """On the way to HLO and after it."""

    def f(x):
        return jax.lax.fori_loop(0, 1, lambda i, c: c * jnp.sin(2.0) + i, x)

    _, fates = _fates(f, jnp.ones(4))
    kinds = {op: (fate.kind, fate.where) for op, fate in fates}
    assert kinds["sin"] == ("folded", "")
    assert kinds["convert_element_type"] == ("folded", "constant_folding")


def test_a_running_sum_of_constants_is_folded_however_the_compiler_writes_it():
    explored = jv.explore(lambda x: x + jnp.cumsum(jnp.arange(8.0)), jnp.ones(8))
    fates = {explored.jaxpr.node(fate.node).op: fate for fate in explored.fates}
    assert fates["cumsum"].kind == "folded"
    assert "constant_folding" in fates["cumsum"].where
    moving = jv.explore(lambda x: jnp.cumsum(x), jnp.ones(8))
    assert all(fate.kind != "folded" for fate in moving.fates)


def test_a_barrier_that_goes_is_merged_with_nothing():
    explored = jv.explore(lambda x: jax.lax.optimization_barrier(jnp.sin(x)) * 2, jnp.ones(8))
    (fate,) = [fate for fate in explored.fates if explored.jaxpr.node(fate.node).op == "optimization_barrier"]
    assert fate.kind == "simplified"


def test_a_call_whose_body_lives_is_not_folded():
    _, fates = _fates(lambda a: jnp.linalg.cholesky(a @ a.T), jnp.eye(16))
    assert all(fate.alive for op, fate in fates if op == "jit")


def test_what_is_left_of_an_equation_is_not_the_equation():
    """A divisor in the shape of what it divided, an element of what was a loop, a constant."""
    text = """
  %a = f32[4]{0} broadcast(%s), dimensions={}, metadata={op_name="jit(f)/jvE1/div" stack_frame_id=1}
  %b = f32[4]{0} get-tuple-element(%t), index=0, metadata={op_name="jit(f)/jvE2/while" stack_frame_id=1}
  %c = f32[] constant(2), metadata={op_name="jit(f)/jvE3/mul" stack_frame_id=1}
  %d = f32[4]{0} broadcast(%s), dimensions={}, metadata={op_name="jit(f)/jvE4/broadcast_in_dim" stack_frame_id=1}
  ROOT %e = f32[4]{0} divide(%b, %a), metadata={op_name="jit(f)/jvE5/div" stack_frame_id=1}
"""
    assert working_names(text) == {"jit(f)/jvE4/broadcast_in_dim", "jit(f)/jvE5/div"}


def test_lines_that_went_into_a_fusion():
    def f(x):
        y = jnp.sin(x)
        z = y * 2.0
        return z + 1.0

    ex = jv.explore(f, jnp.ones(128))
    [fusion] = [node for node in ex.hlo if node.op == "fusion"]
    lines = {ex.jaxpr.node(source).line - f.__code__.co_firstlineno for source in ex.links("hlo").sources(fusion.index)}
    assert lines == {1, 2, 3}


def test_calls_of_one_inner_function_are_told_apart():
    @jax.jit
    def inner(x):
        return jnp.tanh(x) * 3.0

    def f(x):
        return inner(x) + inner(x * 2.0)

    ex = jv.explore(f, jnp.ones(8))
    tanhs = ex.jaxpr.find("tanh")
    assert len(tanhs) == 2
    targets = [set(ex.links("stablehlo").targets(node.index)) for node in tanhs]
    assert all(targets)
    assert not targets[0] & targets[1]


# What belongs to the person stays as it was.


@pytest.mark.smoke
def test_the_persons_jit_and_settings_stay_as_they_were():
    @jax.jit
    def f(x):
        return jnp.sin(x) * 2.0

    before = {name: getattr(jax.config, name) for name in ("jax_compilation_cache_include_metadata_in_key",)}
    x = jnp.ones(4)
    assert jv.explore(f, x).document() is not None
    assert {name: getattr(jax.config, name) for name in before} == before
    assert "jvE" not in str(f.trace(x).jaxpr.eqns[0].source_info.name_stack)
    assert "jvE" not in f.lower(x).as_text(debug_info=True)
    np.testing.assert_allclose(f(x), np.sin(1.0) * 2.0, rtol=1e-5)


@pytest.mark.parametrize("fails", [False, True])
def test_python_collects_nothing_while_jax_lowers_and_goes_on_after_it(monkeypatch, fails):
    lower, seen = Program.lower, []

    def watched(program, jaxpr):
        seen.append(gc.isenabled())
        if fails:
            raise ValueError("expected to fail")
        return lower(program, jaxpr)

    monkeypatch.setattr(Program, "lower", watched)
    ex = jv.explore(jnp.sin, jnp.ones(4))
    with pytest.raises(ValueError, match="expected to fail") if fails else nullcontext():
        assert len(ex.stablehlo)
    assert seen == [False]
    assert gc.isenabled()


def test_the_persistent_cache_is_neither_used_nor_filled(tmp_path):
    names = (
        "jax_compilation_cache_dir",
        "jax_persistent_cache_min_compile_time_secs",
        "jax_persistent_cache_min_entry_size_bytes",
    )
    before = {name: getattr(jax.config, name) for name in names}

    def f(x):
        return jnp.cos(x).sum() * 3.0

    try:
        for name, value in zip(names, (str(tmp_path), 0.0, -1), strict=True):
            jax.config.update(name, value)
        from jax.experimental.compilation_cache import compilation_cache

        compilation_cache.reset_cache()
        jax.jit(f)(jnp.ones(4)).block_until_ready()
        stored = set(os.listdir(tmp_path))
        assert stored
        ex = jv.explore(f, jnp.ones(4))
        assert link_shares(ex.hlo, ex.links("hlo"))["exact"] > 0
        ex.run(repeat=1, eager=True)
        ex.memory()
        ex.values(every=True)
        ex.compile_cost()
        jv.testing.assert_peak_bytes(f, jnp.ones(4), at_most=1e9)
        assert set(os.listdir(tmp_path)) == stored
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()


def test_settings_are_others_for_the_thread_that_compiles_alone():
    """Who stops a compilation goes on at once, and the compiler does not hear of it."""
    option, given = "jax_persistent_cache_min_compile_time_secs", jax.config.jax_persistent_cache_min_compile_time_secs
    going, stopped = threading.Event(), threading.Event()

    def compiling():
        with outside_the_cache():
            going.set()
            stopped.wait(30)

    thread = threading.Thread(target=compiling)
    thread.start()
    try:
        assert going.wait(30)
        assert getattr(jax.config, option) == given
        jax.config.update(option, given + 1.0)
    finally:
        stopped.set()
        thread.join()
    try:
        assert getattr(jax.config, option) == given + 1.0
    finally:
        jax.config.update(option, given)


def test_a_stage_that_cannot_be_made_is_left_out_and_the_reason_said():
    from jax.experimental import pallas as pl

    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2.0

    def f(x):
        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

    [program] = jv.explore(f, jnp.ones(4)).document().programs
    assert [stage.kind for stage in program.stages] == ["jaxpr"]
    assert set(program.missing) == {"stablehlo", "hlo"}
    assert "interpret" in program.missing["hlo"]


@pytest.mark.smoke
def test_constants_of_complex_numbers_are_read_in_every_stage():
    ex = jv.explore(lambda x: x * (1 + 2j) + jnp.array([3j, 4.0]), jnp.ones(2, jnp.complex64))
    constants = [dict(node.attributes)["value"] for node in ex.stablehlo if node.op == "constant"]
    assert constants == ["(1.0,2.0)", "[(0.0,3.0), (4.0,0.0)]"]
    assert len(ex.hlo)


def test_a_training_step_for_shapes_alone_is_the_one_for_arrays():
    (step, shapes), (_, arrays) = flax_block(shapes=True), flax_block()
    assert not any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(shapes[:2]))
    of_shapes = jax.make_jaxpr(step)(*shapes)
    assert str(of_shapes) == str(jax.make_jaxpr(step)(*arrays))
