"""In optimized HLO alone, an unrolled loop is its repeats: they come from one place, and hand something on."""

from __future__ import annotations

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv

X = jnp.ones((16, 16))
ROWS = jnp.ones((20, 4, 16))


def power(matrix, vector):
    for _ in range(30):
        vector = matrix @ vector
        vector = vector / jnp.linalg.norm(vector)
    return vector


def cell(state, row, weights):
    return jnp.tanh(state @ weights + row @ weights)


def recurrent(rows, weights):
    state = jnp.zeros((4, 16))
    for turn in range(20):
        state = cell(state, rows[turn], weights)
    return state


def network(weights, x):
    def loss(weights):
        y = x
        for layer in weights:
            y = jnp.tanh(y @ layer) + y
        return (y**2).sum()

    return jax.grad(loss)(weights)


# The line that begins each body.
LOOPS = {
    "power": (power, (X, X[0]), 30, "matrix @ vector"),
    "recurrent": (recurrent, (ROWS, X), 20, "jnp.tanh(state"),
    "network": (network, ([X] * 16, X), 16, "jnp.tanh(y @"),
}


def root(x, guess):
    for _ in range(20):
        guess = guess - (guess * guess * guess - x) / (3.0 * guess * guess + 0.1)
    return guess


def bent(rows, weights):
    state = rows[0]
    for _ in range(16):
        state = jnp.tanh(state) * 0.7
        state = state * 0.3 + jnp.sin(state)
    return state @ weights


# In HLO, a number that all turns use stands in the first of them.
NUMBERED = {"root": (root, (X, X), 20), "bent": (bent, (ROWS, X), 16)}


@pytest.mark.parametrize("name", NUMBERED)
def test_turns_that_use_the_same_numbers_are_an_unrolled_loop(tmp_path, name):
    fn, arguments, turns = NUMBERED[name]
    (found,) = unrolled(tmp_path, fn, arguments)
    assert found.title.endswith(f": {turns} copies")
    assert found.remedy.startswith(f"jax.lax.fori_loop(0, {turns},")


def needs_calls(text):
    """Skips what is told by the calls around an operation, where HLO does not have them."""
    if "StackFrames" not in text:
        pytest.skip("as in JAX 0.6, HLO has the line of an operation without the calls around it")


def opened(tmp_path, fn, arguments):
    path = tmp_path / "module.hlo"
    text = jax.jit(fn).lower(*arguments).compile().as_text()
    if fn in (recurrent, network, root):
        needs_calls(text)
    # As it comes from another machine: its source is not at hand.
    path.write_text(text.replace(__file__, "/elsewhere/model.py"))
    return jv.open(path)


def unrolled(tmp_path, fn, arguments):
    return [one for one in opened(tmp_path, fn, arguments).findings if one.kind == "unrolled"]


@pytest.mark.parametrize("name", LOOPS)
def test_repeats_that_hand_something_on_are_an_unrolled_loop(tmp_path, name):
    fn, arguments, turns, begins = LOOPS[name]
    (found,) = unrolled(tmp_path, fn, arguments)
    with open(__file__, encoding="utf-8") as source:
        line = next(number for number, text in enumerate(source, 1) if begins in text)
    assert found.title == f"unrolled from line {line}: {turns} copies"
    assert f"its body is there {turns} times" in found.text
    assert f"{found.figures['equations']:,} operations in place of" in found.text
    assert found.remedy.startswith("jax.lax.fori_loop(0, 30," if name == "power" else "Each turn reads")


def unrolled_scan(rows, weights):
    return jax.lax.scan(lambda state, row: (cell(state, row, weights), None), rows[0], rows, unroll=True)[0]


def scan_in_pieces(rows, weights):
    return jax.lax.scan(lambda state, row: (cell(state, row, weights), None), rows[0], rows, unroll=10)[0]


def scanned(matrix, vector):
    return jax.lax.fori_loop(0, 30, lambda _, one: matrix @ one / jnp.linalg.norm(matrix @ one), vector)


def approximated(x):
    return jax.scipy.special.erfinv(x), jax.scipy.special.gammaln(x), jax.scipy.special.i0(x), jnp.polyval(x[0], x)


def drawn(key):
    return jax.random.normal(key, (64,)), jax.random.gamma(key, 2.0, (8,)), jax.random.permutation(key, 20)


def running(x):
    return jnp.cumsum(x), jax.lax.associative_scan(jnp.multiply, x), jnp.sort(x), jnp.linalg.matrix_power(x, 13)


def updated(parameters):
    return jax.tree.map(lambda one: (one * 0.9 + 0.1) / jnp.sqrt(one * one + 1e-8), parameters)


def clipped(parameters):
    norm = jnp.sqrt(sum(jnp.vdot(one, one) for one in parameters))
    return [one / norm for one in parameters]


INNOCENT = {
    "unrolled_scan": (unrolled_scan, (ROWS, X)),
    "scan_in_pieces": (scan_in_pieces, (ROWS, X)),
    "scanned": (scanned, (X, X[0])),
    "approximated": (approximated, (X,)),
    "drawn": (drawn, (jax.random.key(0),)),
    "running": (running, (X,)),
    "updated": (updated, ([X] * 24,)),
    "clipped": (clipped, ([X] * 24,)),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_what_jax_and_xla_repeat_themselves_is_no_loop_of_the_person(tmp_path, name):
    assert unrolled(tmp_path, *INNOCENT[name]) == []


# As JAX has them: functions of its own that are traced once, in one that repeats them.
SERIES = """
import jax, jax.numpy as jnp

@jax.jit
def bent(x):
    return jnp.tanh(x) + x

@jax.jit
def moved(x):
    return x + jnp.sin(x) * x

@jax.jit
def series(x):
    for _ in range(20):
        x = moved(bent(x))
    return x
"""


@pytest.fixture(scope="module")
def smooth():
    names = {}
    exec(compile(SERIES, "/usr/lib/site-packages/jax/scipy/series.py", "exec"), names)
    text = jax.jit(lambda x: names["series"](x) + 1.0).lower(X).compile().as_text()
    needs_calls(text)
    return text.replace(__file__, "/elsewhere/model.py")


def traced_for(text, part, caller):
    """HLO of a function whose part was traced for another caller, in another file."""
    (number,) = re.findall(rf'^(\d+) "{part}"$', text, re.MULTILINE)
    names, rest = text.split("\n\nFunctionNames\n")
    file = 1 + int(re.findall(r"^\d+", names, re.MULTILINE)[-1])
    rest = re.sub(
        rf"file_name_id=\d+ function_name_id={number} ", f"file_name_id={file} function_name_id={number} ", rest
    )
    rest = rest.replace(f'{number} "{part}"\n', f'{number} "{caller}"\n', 1)
    return f'{names}\n{file} "/elsewhere/{caller}.py"\n\nFunctionNames\n{rest}'


@pytest.mark.parametrize("callers", [{}, {"bent": "first"}, {"bent": "first", "moved": "second"}])
def test_what_a_function_of_jax_repeats_is_its_own_whoever_called_its_parts_before(tmp_path, smooth, callers):
    for part, caller in callers.items():
        smooth = traced_for(smooth, part, caller)
    (tmp_path / "module.hlo").write_text(smooth)
    assert [one for one in jv.open(tmp_path / "module.hlo").findings if one.kind == "unrolled"] == []


OTHER = """
def steps(x, series):
    for turn in range(4):
        x = series(x) * turn
    return x
"""


def with_row(text, table, row):
    """A text of HLO with one more row in a table, and the row's number."""
    before, after = text.split(f"{table}\n")
    rows, rest = after.split("\n\n", 1)
    number = 1 + len(rows.splitlines())
    return f"{before}{table}\n{rows}\n{number} {row}\n\n{rest}", number


def test_the_loop_of_another_program_for_which_jax_traced_its_function_is_none_of_this_one(tmp_path, monkeypatch):
    names = {}
    exec(compile(SERIES, "/usr/lib/site-packages/jax/scipy/series.py", "exec"), names)

    def later(x):
        made = names["series"](x)
        return made + 1.0

    text = jax.jit(later).lower(X).compile().as_text()
    needs_calls(text)
    # As JAX has the call stack of what it lowered before: it begins at the other caller.
    text, file = with_row(text, "FileNames", f'"{tmp_path / "other.py"}"')
    text, function = with_row(text, "FunctionNames", '"steps"')
    call = later.__code__.co_firstlineno + 1
    (place,) = re.findall(rf"^(\d+) {{.* line={call} .*}}$", text, re.MULTILINE)
    steps = f"{place} {{file_name_id={file} function_name_id={function} line=4 end_line=4 column=12 end_column=21}}"
    text = re.sub(rf"^{place} {{.* line={call} .*}}$", steps, text, flags=re.MULTILINE)
    text = re.sub(rf"file_location_id={place} parent_frame_id=\d+", f"file_location_id={place} parent_frame_id=1", text)
    # The source of the loop around that call is at hand.
    (tmp_path / "other.py").write_text(OTHER)
    (tmp_path / "module.hlo").write_text(text)
    monkeypatch.chdir(tmp_path)
    opened = jv.open(tmp_path / "module.hlo")
    assert "steps" in opened.hlo.tables.strings
    assert [one for one in opened.findings if one.kind == "unrolled"] == []


def in_turns(weights, x):
    def turn(x, _):
        for _ in range(12):
            x = jnp.tanh(weights @ x) + x
        return x, None

    return jax.lax.scan(turn, x, None, length=5)[0]


def in_turns_and_back(weights, x):
    return jax.grad(lambda weights: in_turns(weights, x).sum())(weights)


@pytest.mark.parametrize("form", ["stablehlo", "hlo"])
@pytest.mark.parametrize("fn", [in_turns, in_turns_and_back])
def test_a_loop_in_what_a_scan_turns_is_told_apart_from_what_the_scan_does_itself(tmp_path, monkeypatch, fn, form):
    monkeypatch.chdir(Path(__file__).parent)
    path = tmp_path / f"module.{form}"
    lowered = jax.jit(fn).lower(X, X[0])
    if form == "hlo":
        path.write_text(lowered.compile().as_text())
        needs_calls(path.read_text())
    else:
        path.write_text(lowered.as_text(debug_info=True))
    (found,) = (one for one in jv.open(path).findings if one.kind == "unrolled")
    line = in_turns.__code__.co_firstlineno + 2
    assert found.title == f"unrolled from line {line}: 12 copies"


@pytest.mark.parametrize("fn", [unrolled_scan, scan_in_pieces, scanned, approximated])
@pytest.mark.parametrize("form", ["stablehlo", "hlo"])
def test_what_jax_repeats_is_no_loop_of_the_person_where_the_source_is_at_hand_either(tmp_path, monkeypatch, fn, form):
    monkeypatch.chdir(Path(__file__).parent)
    path = tmp_path / f"module.{form}"
    lowered = jax.jit(fn).lower(*INNOCENT[fn.__name__][1])
    path.write_text(lowered.compile().as_text() if form == "hlo" else lowered.as_text(debug_info=True))
    assert [one for one in jv.open(path).findings if one.kind == "unrolled"] == []


@jax.checkpoint
def recomputed(y, layer):
    return jnp.tanh(jnp.sin(y @ layer) @ layer) + y


def deep(weights, x):
    def loss(weights):
        y = x
        for layer in weights:
            y = recomputed(y, layer)
        return (y**2).sum()

    return jax.grad(loss)(weights)


@pytest.mark.smoke
def test_a_loop_that_has_several_programs_compiled_is_in_none_of_them(tmp_path, monkeypatch):
    monkeypatch.chdir(Path(__file__).parent)
    path = tmp_path / "module.hlo"
    for size in (16,):
        text = jax.jit(deep).lower([X] * size, X).compile().as_text()
    needs_calls(text)
    path.write_text(text)
    found = [one.text for one in jv.open(path).findings if one.kind == "unrolled"]
    assert found
    assert not [one for one in found if "for size in" in one]
