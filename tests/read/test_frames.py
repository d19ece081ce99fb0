"""Where an equation came from: file, line and columns, in files and in notebook cells."""

from __future__ import annotations

import linecache
import sysconfig
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.extend.core import jaxpr_as_fun

import jaxviz as jv
from jaxviz.program.program import Program
from jaxviz.read.jaxpr import read_jaxpr
from jaxviz.tables import Tables

X = jnp.arange(8.0)
HERE = Path(__file__)


def two_lines(x):
    return (
        jnp.sin(x)
        + jnp.cos(
            x
        )
    )  # fmt: skip


def covered(frame, lines):
    """The source that a frame covers."""
    if frame.line == frame.end_line:
        return lines[frame.line - 1][frame.column : frame.end_column]
    first, last = lines[frame.line - 1][frame.column :], lines[frame.end_line - 1][: frame.end_column]
    return "\n".join([first, *lines[frame.line : frame.end_line - 1], last])


@pytest.mark.smoke
def test_a_frame_covers_its_expression():
    graph = read_jaxpr(jax.jit(two_lines).trace(X).jaxpr)
    lines = HERE.read_text().splitlines()
    sine, cosine = graph.find("sin")[0].frames[-1], graph.find("cos")[0].frames[-1]
    assert sine.file == str(HERE)
    assert sine.label == "test_frames.py"
    assert covered(sine, lines) == "jnp.sin(x)"
    assert covered(cosine, lines).split() == ["jnp.cos(", "x", ")"]
    assert sine.function == "two_lines"


@pytest.mark.smoke
def test_only_the_frames_of_the_program_are_there():
    def helper(x):
        return jnp.tanh(x)

    def program(x):
        return helper(x)

    graph = read_jaxpr(Program(program, (X,)).jaxpr)
    assert [frame.function for frame in graph.find("tanh")[0].frames] == ["program", "helper"]


def test_columns_count_characters():
    def f(x):
        return "äöü" and jnp.tanh(x)

    graph = read_jaxpr(jax.jit(f).trace(X).jaxpr)
    assert covered(graph.find("tanh")[0].frames[-1], HERE.read_text().splitlines()) == "jnp.tanh(x)"


CELL = """\
import jax.numpy as jnp

def cell(x):
    y = jnp.exp(x)
    return y * 2.0
"""


def run_cell(source, name):
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {}
    exec(compile(source, name, "exec"), namespace)
    return namespace


@pytest.mark.smoke
def test_a_notebook_cell_is_named_by_its_number_and_kept_whole(monkeypatch):
    name = "/tmp/ipykernel_1/1234.py"
    cell = run_cell(CELL, name)["cell"]
    ipython = pytest.importorskip("IPython")

    shell = SimpleNamespace(compile=SimpleNamespace(_filename_map={name: 7}))
    monkeypatch.setattr(ipython, "get_ipython", lambda: shell)
    graph = read_jaxpr(jax.jit(cell).trace(X).jaxpr)
    frame = graph.find("exp")[0].frames[-1]
    assert (frame.label, frame.line, frame.library) == ("In [7]", 4, False)
    assert covered(frame, CELL.splitlines()) == "jnp.exp(x)"
    files = graph.tables.files
    assert [text for text in files.text if text] == [CELL.rstrip("\n")]
    assert files.start[frame_file(graph.tables, name)] == 1


def frame_file(tables: Tables, path: str) -> int:
    return [tables.strings[row] for row in tables.files.path].index(path)


def test_the_excerpt_of_a_file_is_the_functions_it_touches():
    graph = read_jaxpr(jax.jit(two_lines).trace(X).jaxpr)
    file = frame_file(graph.tables, str(HERE))
    text = graph.tables.files.text[file]
    lines = HERE.read_text().splitlines()
    assert lines[graph.tables.files.start[file] - 1] == text.splitlines()[0] == "def two_lines(x):"
    assert "jnp.cos(" in text
    assert len(text.splitlines()) < 12


def test_a_source_that_is_gone_leaves_the_excerpt_empty():
    cell = run_cell(CELL, "<gone>")["cell"]
    del linecache.cache["<gone>"]
    graph = read_jaxpr(jax.jit(cell).trace(X).jaxpr)
    assert graph.find("exp")[0].frames[-1].line == 4
    assert not any(graph.tables.files.text)


@pytest.mark.smoke
@pytest.mark.parametrize("code", ["{}def f(x):\n    return jnp.sin(x)\n", "{}f = lambda x: jnp.sin(x)\n"])
def test_a_source_that_was_edited_since_it_ran_says_nothing(code, tmp_path):
    path = tmp_path / "edited.py"
    code = "import jax.numpy as jnp\n" + code
    edited = run_cell(code.format(""), str(path))["f"]
    path.write_text(code.format("x = 1\nwrong = x + 1\n"))
    del linecache.cache[str(path)]
    explored = jv.explore(edited, X)
    assert not any(explored.jaxpr.tables.files.text)
    assert "sin" in {box.name for box in explored.view().boxes}


def test_a_decorated_function_of_a_source_that_was_not_edited_is_in_its_excerpt(tmp_path):
    path = tmp_path / "decorated.py"
    path.write_text(
        'import jax\n\n\n@jax.default_matmul_precision(\n    "float32"\n)\ndef f(x):\n    return jax.numpy.sin(x)\n'
    )
    graph = jv.explore(run_cell(path.read_text(), str(path))["f"], X).jaxpr
    assert any("jax.numpy.sin(x)" in text for text in graph.tables.files.text)


def test_frames_of_libraries_stay_and_those_of_jax_go():
    nn = pytest.importorskip("flax.linen")
    model = nn.Dense(3)
    params = model.init(jax.random.key(0), jnp.ones((2, 4)))

    def predict(params, x):
        return model.apply(params, x)

    graph = read_jaxpr(jax.jit(predict).trace(params, jnp.ones((2, 4))).jaxpr)
    frames = graph.find("dot_general")[0].frames
    assert frames[0].function == "predict"
    assert any(frame.library and frame.label == "linear.py" for frame in frames)
    assert not any("/jax/_src/" in frame.file for frame in frames)


def test_graphs_of_one_document_share_their_tables():
    tables = Tables()
    first = read_jaxpr(jax.jit(two_lines).trace(X).jaxpr, tables)
    count = len(tables.strings), len(tables.frames.file), len(tables.types.text)
    second = read_jaxpr(jax.jit(two_lines).trace(X).jaxpr, tables)
    assert (len(tables.strings), len(tables.frames.file), len(tables.types.text)) == count
    assert [str(node) for node in first] == [str(node) for node in second]


def long_function(x):
    """Long enough for its places to be looked up all at once."""
    x = jnp.sin(x) + 1.0
    x = jnp.cos(x) * 2.0
    x = jnp.sin(x) + 1.0
    x = jnp.cos(x) * 2.0
    x = jnp.sin(x) + 1.0
    x = jnp.cos(x) * 2.0
    x = jnp.sin(x) + 1.0
    x = jnp.cos(x) * 2.0
    x = jnp.sin(x) + 1.0
    x = jnp.cos(x) * 2.0
    x = jnp.sin(x) + 1.0
    return jnp.cos(x) * 2.0


def test_places_looked_up_at_once_are_those_looked_up_one_by_one(monkeypatch):
    from jaxviz.read import frames

    jaxpr = jax.jit(long_function).trace(jnp.ones(2)).jaxpr
    many = [node.frames for node in read_jaxpr(jaxpr)]
    monkeypatch.setattr(frames, "_FEW_PLACES", 10**6)
    assert [node.frames for node in read_jaxpr(jaxpr)] == many
    assert len({place for stack in many for place in stack}) == 24


def factorial(x, n):
    return x if n == 0 else x * factorial(x + 1.0, n - 1)


def test_a_recursive_function_keeps_all_of_its_calls():
    jaxpr = jax.jit(factorial, static_argnums=1).trace(jnp.float32(2.0), 3).jaxpr
    depths = [len(node.frames) for node in read_jaxpr(jaxpr) if node.op == "add"]
    assert depths == [1, 2, 3]


@jax.custom_vjp
def clipped(x):
    return jnp.clip(x, -1, 1)


def clipped_backward(x, g):
    return (jnp.where(jnp.abs(x) < 1, g, 0.1 * g),)


clipped.defvjp(lambda x: (clipped(x), x), clipped_backward)


def test_what_a_derivative_calls_has_the_frames_of_its_call_once():
    def f(x):
        return jax.grad(lambda x: clipped(x).sum())(x)

    graph = read_jaxpr(Program(f, (jnp.ones(3),)).jaxpr)
    frames = [(frame.line, frame.column) for frame in graph.find("select_n")[-1].frames]
    assert len(frames) == len(set(frames)) == 2


def test_what_an_installed_library_traces_by_itself_belongs_to_the_line_that_called_it():
    library: dict[str, Any] = {}
    written = (
        "import jax\ndef trace(x):\n    def inner(x):\n        return x * 2\n    return jax.make_jaxpr(inner)(x)\n"
    )
    exec(compile(written, f"{sysconfig.get_paths()['purelib']}/a_library.py", "exec"), library)

    def f(x):
        traced = jaxpr_as_fun(library["trace"](x))
        return jax.lax.while_loop(lambda c: c.sum() < 9.0, lambda c: traced(c)[0], x)

    graph = jv.explore(f, jnp.ones(4)).jaxpr
    (doubled,) = [node for node in graph if node.op == "mul"]
    lines = {frame.line for frame in doubled.frames if not frame.library}
    first = f.__code__.co_firstlineno
    # JAX 0.6 keeps how the library was called, newer ones where what it traced is used.
    assert lines == {first + (1 if jax.__version_info__ < (0, 7) else 2)}


def squares(x):
    return jnp.sum(jnp.sin(x) ** 2)


@pytest.mark.parametrize("function", [jax.nn.softmax, jax.jit(jax.nn.softmax), jax.hessian(squares), jnp.linalg.norm])
def test_what_no_line_of_the_person_makes_comes_from_the_line_that_explores_it(function):
    explored = jv.explore(function, X)
    line = HERE.read_text().splitlines().index("    explored = jv.explore(function, X)") + 1
    for graph in (explored.jaxpr, explored.hlo):
        for node in graph:
            if node.kind == "operation":
                own = [frame for frame in node.frames if not frame.library]
                assert own
                assert all(frame.function == "squares" or frame.line == line for frame in own)
    called = {covered(frame, HERE.read_text().splitlines()) for node in explored.jaxpr for frame in node.frames[:1]}
    assert "jv.explore(function, X)" in called
    # The line is not part of the program: it is no box around what is in it.
    assert not any("explore" in str(row) for row in explored._capture.outline)
