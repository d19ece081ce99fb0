"""What is found in what the compiler made: the same computed twice, large constants, unfused values, the peak."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from find.found import COMPILED, found, line_numbers, the

from jaxviz.costs.lifetimes import peak_of
from jaxviz.exploration import explore
from jaxviz.find import Compiled, Subject

SORTED_IN_PLACE = pytest.mark.skipif(jax.__version_info__ < (0, 7), reason="on JAX 0.6, XLA sorts into another array")
X = jnp.ones((1024, 1024))
SMALL = jnp.ones((8, 8))
TABLE = jnp.ones((600, 600))


def twice(w, x):
    hidden = jnp.tanh(x @ w)
    other = x + 1
    return hidden.sum() + (jnp.tanh(x @ w) * other).sum()


def test_what_two_lines_compute_alike():
    finding = the("twice", twice, SMALL, SMALL)
    assert line_numbers(finding, twice) == [1, 3]
    assert finding.figures == {"equations": 2, "bytes": 2 * 8 * 8 * 4}
    first = finding.lines[0].line
    assert finding.title == f"line {first + 2} computes again what line {first} computes"
    assert "pass cse" in finding.text


def first_of_two(x):
    mean = jnp.tanh(x).mean(-1, keepdims=True)
    spread = jnp.sin(jnp.tanh(x)) * 3
    return ((x - mean) / spread).sum()


def test_the_pass_is_told_where_xla_removed_the_first_of_two():
    assert "XLA computes them once (pass cse)" in the("twice", jax.grad(first_of_two), SMALL).text


def test_what_two_calls_have_in_common_is_not_told_where_there_is_no_source():
    scope = {"jnp": jnp}
    lines = "def scaled(x):", "    mean = x.mean(-1, keepdims=True)", "    return (x - mean) / x.var(-1, keepdims=True)"
    exec("\n".join(lines), scope)
    assert found("twice", scope["scaled"], X) == []


def table(x):
    y = x * 2
    rows = jnp.ones((600, 600)).at[3].set(2.0)
    return y + rows


def test_a_large_array_that_is_computed_while_compiling():
    x = jnp.ones((600, 600))
    finding = the("folded", table, x)
    assert finding.severity == "advice"
    assert line_numbers(finding, table) == [2]
    assert finding.figures["bytes"] == 600 * 600 * 4
    assert finding.title.startswith("an array of 1.44 MB is computed while compiling")
    assert "f32[600,600]{1,0} constant(" in jax.jit(table).lower(x).compile().as_text()


def forked(x):
    y = jnp.exp(x) * 2 + 1
    return (y.T @ x).sum(), jnp.sort(y + 1, 0)


def test_kernels_say_what_they_move_and_what_fusion_saved():
    kernels = explore(forked, X).kernels
    size = 4 * 1024 * 1024
    product = next(kernel for kernel in kernels if kernel.name.startswith("dot"))
    assert (product.bytes_in, product.bytes_out, product.saved) == (2 * size, size, 0)
    fused = [kernel for kernel in kernels if kernel.saved]
    # Of a product and a sum, the value between is neither written nor read.
    assert max(kernel.saved for kernel in fused) >= 2 * size


def _scaled(x):
    return x * 3.0 + 1.0


def _shifted(x, bias):
    return jnp.maximum(x + bias, 0.0)


def test_numbers_and_vectors_that_are_spread_over_an_array_are_not_said_to_be_read_as_large_as_it():
    # One value is neither written nor read again; the numbers and the vector would be read once in any case.
    for fn, arguments in ((_scaled, (X,)), (_shifted, (X, X[0]))):
        (kernel,) = explore(fn, *arguments).kernels
        assert kernel.saved == 2 * X.nbytes


def test_large_values_between_kernels_say_what_kept_them_apart():
    facts = {value.fact for value in explore(forked, X).between_kernels}
    assert "read by a product" in facts
    sizes = {value.bytes for value in explore(forked, X).between_kernels}
    assert sizes == {4 * 1024 * 1024}
    assert explore(forked, SMALL).between_kernels == ()
    # One chain of what is done entry by entry is one kernel.
    assert explore(lambda x: jnp.tanh(x * 2) + 1, X).between_kernels == ()


def growing(x):
    wide = jnp.sin(x * jnp.arange(30.0)[:, None, None])
    return jnp.sort(wide, axis=0).sum(axis=0)


def test_the_peak_and_what_is_alive_there():
    finding = the("peak", growing, X)
    assert finding.severity == "note"
    assert finding.figures["arguments"] == 4 * 1024 * 1024
    # What is sorted, in place.
    assert 125e6 < finding.figures["bytes"] < 140e6
    assert set(line_numbers(finding, growing)) <= {1, 2}


def test_arguments_and_results_alone_are_no_peak_that_is_told():
    large = SPEC((5000, 8000), jnp.float32)
    assert "peak" not in [finding.kind for finding in explore(lambda x: x * 2 + 1, large).findings]


def layers(weights, x):
    for w in weights:
        x = jnp.tanh(x @ w)
    return x.sum()


@pytest.mark.parametrize(
    ("fn", "arguments"),
    [
        (forked, (X,)),
        pytest.param(growing, (X,), marks=SORTED_IN_PLACE),
        (lambda x: jnp.sin(x) @ jnp.cos(x), (X,)),
        # The result has a place of its own while the transform runs.
        (lambda x: jnp.abs(jnp.fft.fft2(x)) ** 2, (X,)),
        (lambda a, b: jax.scipy.linalg.cho_solve((a, True), b), (jnp.eye(512), jnp.ones((512, 64)))),
        (jax.grad(layers), ([jnp.ones((256, 256))] * 4, jnp.ones((1024, 256)))),
    ],
)
def test_the_peak_is_what_the_compiler_allocates(fn, arguments):
    exploration = explore(fn, *arguments)
    peak = peak_of(exploration.hlo, exploration._capture.hlo.order)
    memory = jax.jit(fn).lower(*arguments).compile().memory_analysis()
    allocated = memory.temp_size_in_bytes + memory.argument_size_in_bytes + memory.output_size_in_bytes
    assert peak.arguments == memory.argument_size_in_bytes
    assert peak.bytes == pytest.approx(allocated, rel=0.1)


def descend(weights, x):
    gradients = jax.grad(layers)(weights, x)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients)


def activated(weights, x, checkpoint=lambda layer: layer):
    for w in weights:
        x = checkpoint(lambda x, w: jax.nn.gelu(x @ w))(x, w)
    return (x**2).sum()


def checkpointed(weights, x):
    return activated(weights, x, jax.checkpoint)


SPEC = jax.ShapeDtypeStruct
WIDE = [SPEC((2048, 2048), jnp.float32)] * 4
LAYERS = [SPEC((512, 512), jnp.float32)] * 4, SPEC((16384, 512), jnp.float32)


@pytest.mark.parametrize(
    ("fn", "arguments", "said"),
    [
        (descend, (WIDE, SPEC((64, 2048), jnp.float32)), "donate_argnums"),
        (jax.grad(activated), LAYERS, "jax.checkpoint"),
        # What each layer gives to the next is kept in any case.
        (jax.grad(layers), LAYERS, "Work in pieces"),
        (jax.grad(checkpointed), LAYERS, "Work in pieces"),
        (growing, (X,), "Work in pieces"),
    ],
)
def test_what_lowers_the_peak_is_told_by_what_most_of_it_is(fn, arguments, said):
    assert said in the("peak", fn, *arguments).remedy


def test_a_checkpoint_lowers_the_peak_where_that_is_told():
    def peak(fn):
        return the("peak", jax.grad(fn), *LAYERS).figures["bytes"]

    assert peak(checkpointed) < 0.8 * peak(activated)


def same_line_twice(x):
    f = lambda x: jnp.tanh(x @ x)  # noqa: E731
    return f(x) + f(x) * 2


def attention(q, k, v):
    return jax.nn.softmax(q @ k.T / 8.0) @ v


def looked_up(ids, table):
    return jax.nn.one_hot(ids, 8000) @ table


def nearest(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(-1).argmin(1)


def unlikely(w, h, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(h @ w), y[:, None], 1).mean()


def floats(*shape):
    return SPEC(shape, jnp.float32)


IDS = SPEC((2048,), jnp.int32)


@pytest.mark.parametrize(
    ("fn", "arguments", "least"),
    [
        (attention, (floats(2048, 64),) * 3, 2048 * 2048 * 4),
        (looked_up, (IDS, floats(8000, 128)), 2048 * 8000 * 4),
        (nearest, (floats(4096, 32),) * 2, 4096 * 4096 * 4),
        (jax.grad(unlikely), (floats(256, 16000), floats(2048, 256), IDS), 2048 * 16000 * 4),
    ],
)
def test_large_values_that_are_made_of_little_and_give_little(fn, arguments, least):
    finding = the("unfused", fn, *arguments)
    assert finding.severity == "note"
    assert finding.figures["bytes"] >= least
    assert 3 * finding.figures["outside"] <= least
    assert "made by a" in finding.text or "read by a" in finding.text
    assert finding.lines


def read_three_times(x, w):
    h = jnp.tanh(x @ w)
    return h.sum(0), h @ w.T, h.max()


def ranked(x):
    return jnp.cumsum(jnp.sort(x))


def filtered(x):
    return jnp.fft.ifft(jnp.fft.fft(x) * 2).real


@pytest.mark.parametrize(
    ("fn", "arguments", "facts", "lines"),
    [
        (
            read_three_times,
            (floats(4096, 512), floats(512, 2048)),
            ("read by a reduction", "read by a product", "(3 kernels read it)"),
            [1],
        ),
        (ranked, (floats(5_000_000),), ("made by a sort", "read by a reduction"), [1]),
        (lambda x: jnp.std(jnp.exp(x)), (floats(2048, 2048),), ("(2 kernels read it)",), [0]),
        (filtered, (floats(512, 4096),), ("made by a Fourier transform", "read by a Fourier transform"), [1]),
    ],
)
def test_large_values_that_are_most_of_what_is_moved_are_told_with_what_needs_them(fn, arguments, facts, lines):
    finding = the("unfused", fn, *arguments)
    assert finding.severity == "note"
    assert all(fact in finding.text for fact in facts)
    assert line_numbers(finding, fn) == lines


INNOCENT = {
    "a product": (lambda x: x @ x, (X,)),
    "a chain": (lambda x: jnp.tanh(x * 2 + 1), (X,)),
    "a mean": (lambda x: x.mean(), (X,)),
    "a layer that widens by four": (
        lambda x, w, v: x + jax.nn.gelu(x @ w) @ v,
        (floats(8192, 256), floats(256, 1024), floats(1024, 256)),
    ),
    "what is factored whole": (
        lambda x, y: jnp.linalg.solve(x @ x.T + jnp.eye(1200), y),
        (floats(1200, 8), floats(1200)),
    ),
    "what is sorted once": (lambda x: jnp.sort(jnp.sin(x)), (floats(5_000_000),)),
    "one statistic of what is computed": (lambda x: jnp.mean(jnp.exp(x)), (floats(2048, 2048),)),
    "a normalisation": (lambda x: (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True), (floats(2048, 2048),)),
    "a spectrum": (lambda x: jnp.abs(jnp.fft.rfft(x)), (floats(512, 8192),)),
    "small values": (forked, (SMALL,)),
    "a sort": (lambda x: jnp.sort(x), (X,)),
    "two numbers": (lambda x: (jnp.zeros(3) + x.sum(), jnp.zeros(3) * x.sum()), (SMALL,)),
    "a mask that is computed where it is used": (lambda x: x * jnp.tril(jnp.ones((1024, 1024))), (X,)),
    "a sum of counted numbers": (lambda x: x + jnp.cumsum(jnp.arange(300_000.0)), (jnp.ones(300_000),)),
    "a table of counted numbers": (lambda x: x + jnp.sin(jnp.arange(360_000.0)).reshape(600, 600), (TABLE,)),
    "an array of the person's": (lambda x: x + TABLE, (TABLE,)),
    "a small table": (lambda x: x + jnp.ones((8, 8)).at[3].set(2.0), (SMALL,)),
    "one line twice": (same_line_twice, (SMALL,)),
    "a gradient": (jax.grad(lambda w: jnp.tanh(SMALL @ w).sum()), (SMALL,)),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_what_the_compiler_does_well_is_left_alone(name):
    fn, arguments = INNOCENT[name]
    assert [one for one in explore(fn, *arguments).findings if one.kind in COMPILED] == []


def rows_of(table, xs):
    return jax.lax.scan(lambda carry, x: (jnp.tanh(carry + x), carry * x), table, xs)


def updated(table, index, new):
    return table.at[index].add(jnp.tanh(table[index]) * new)


def test_kernels_move_the_pieces_that_they_take_and_write():
    row, turns = 4 * 1024, 1000
    kernels = explore(rows_of, jnp.ones(1024), jnp.ones((turns, 1024))).kernels
    # In each turn a row is read and one is written, not the whole of what is scanned.
    (tanh,) = [kernel for kernel in kernels if "tanh" in kernel.name]
    (update,) = [kernel for kernel in kernels if "update" in kernel.name]
    assert (tanh.bytes_out, update.bytes_out) == (row, row)
    assert 2 * row <= tanh.bytes_in < 3 * row
    assert 2 * row <= update.bytes_in < 3 * row
    table, count = SPEC((100_000, 64), jnp.float32), 2_000
    kernels = explore(updated, table, SPEC((count,), jnp.int32), SPEC((count, 64), jnp.float32)).kernels
    pieces = 4 * 64 * count
    (scatter,) = [kernel for kernel in kernels if "scatter" in kernel.name]
    assert scatter.bytes_out == pieces
    assert 2 * pieces <= scatter.bytes_in < 3 * pieces


def carried(x):
    return jax.lax.scan(lambda c, _: (jnp.tanh(c) * 1.1 + jnp.roll(c, 1, 0), None), x, None, length=10)[0]


def test_a_copy_of_what_a_loop_hands_on_is_no_copy_for_layout():
    exploration = explore(carried, X)
    assert {value.fact for value in exploration.between_kernels} <= {"a copy of what a loop hands on", "read by a loop"}
    assert not [finding for finding in exploration.findings if finding.kind == "unfused"]


def test_the_peak_is_told_by_the_buffer_assignment_once_that_is_known():
    exploration = explore(jax.grad(layers), [SPEC((512, 512), jnp.float32)] * 4, SPEC((16384, 512), jnp.float32))
    (before,) = (one for one in exploration.findings if one.kind == "peak")
    memory = exploration.memory()
    (after,) = (one for one in exploration.findings if one.kind == "peak")
    assert "counted from the order alone; ex.memory() asks XLA" in before.text
    assert after.text.startswith("By XLA's buffer assignment: ")
    assert after.figures["bytes"] == memory.peak
    assert after.figures["values"] == len(memory.alive)
    assert before.figures["arguments"] == after.figures["arguments"] == memory.arguments
    assert before.figures["bytes"] == pytest.approx(after.figures["bytes"], rel=0.1)


FILLED = jnp.ones((1024, 1024))


def test_what_is_made_of_no_argument_cannot_be_worked_on_in_parts():
    assert found("unfused", lambda x: x @ FILLED, jnp.ones((4, 1024))) == []


def test_what_was_found_of_the_jaxpr_is_not_looked_for_again_once_it_is_compiled():
    ex = explore(jax.grad(lambda x: jnp.sin(jnp.tanh(x @ x)).sum()), SMALL)
    before = Subject(ex.jaxpr, ex._capture.outline)
    kept = before.residuals, before.flow, before.derivatives, before.expression(1)
    after = before.with_compiled(Compiled.alone(ex.hlo))
    assert after.compiled is not None
    assert before.compiled is None
    assert all(one is other for one, other in zip((after.residuals, after.flow, after.derivatives), kept, strict=False))
    assert after._expressions is before._expressions
