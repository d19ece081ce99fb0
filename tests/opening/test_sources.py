"""The source of a program that is opened is shown where it surely is what the program was compiled from."""

from __future__ import annotations

import importlib.util
import os

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv
from jaxviz.outline.written.expressions import Expressions

SOURCE = """import jax
import jax.numpy as jnp


@jax.custom_jvp
def untouched(x):
    return x


def gated(x, w):
    gate = jax.nn.sigmoid(x @ w)
    mixed = gate * jnp.tanh(x)
    return mixed.sum()
"""


def load(source):
    module = importlib.util.module_from_spec(spec := importlib.util.spec_from_file_location(source.stem, source))
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=["hlo", "stablehlo"])
def opened(request, tmp_path, monkeypatch):
    """Opens what was compiled from a file of its own, as often as it is called, with the source as it is then."""
    work = tmp_path / "work"
    work.mkdir()
    source = work / "gates.py"
    source.write_text(SOURCE)
    lowered = jax.jit(load(source).gated).lower(jnp.ones((2, 3)), jnp.ones((3, 3)))
    text = lowered.compile().as_text() if request.param == "hlo" else lowered.as_text(debug_info=True)
    path = tmp_path / "out" / f"gated.{request.param}"
    path.parent.mkdir()
    path.write_text(text)
    monkeypatch.chdir(work)

    def open_it():
        return jv.open(path)

    open_it.source = source
    open_it.path = path
    return open_it


def excerpts(opened):
    return [text for text in opened.document().tables.files.text if text]


def test_the_source_in_the_folder_where_one_works_is_shown_and_gives_names(opened):
    found = opened()
    (excerpt,) = excerpts(found)
    assert excerpt == "\n".join(SOURCE.splitlines()[9:])
    assert "sum" in {box.name for box in found.view().boxes}
    again = jv.Document.from_json(found.document().to_json())
    assert [text for text in again.tables.files.text if text] == [excerpt]


def test_a_source_that_was_written_since_is_not_taken_for_the_one_that_was_compiled(opened):
    later = opened.path.stat().st_mtime + 5
    os.utime(opened.source, (later, later))
    found = opened()
    assert excerpts(found) == []
    assert "sum" not in {box.name for box in found.view().boxes}


def test_a_source_elsewhere_on_the_machine_is_not_read(opened, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path / "out")
    assert excerpts(opened()) == []


def test_what_is_no_python_file_is_not_read(opened):
    secret = opened.source.with_suffix(".txt")
    opened.source.rename(secret)
    os.utime(secret, (1, 1))
    opened.path.write_text(opened.path.read_text().replace("gates.py", "gates.txt"))
    assert excerpts(opened()) == []


def test_where_a_file_tells_lines_without_columns_one_of_several_operations_is_named_by_what_the_line_assigns(opened):
    dot = f'metadata={{op_name="jit(gated)/dot_general" source_file="{opened.source}" source_line=11}}'
    opened.path.with_suffix(".hlo").write_text(
        "HloModule jit_gated\n\nENTRY main {\n  x = f32[2,3] parameter(0)\n  w = f32[3,3] parameter(1)\n"
        f"  ROOT d = f32[2,3] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, {dot}\n}}\n"
    )
    names = {box.name for box in jv.open(opened.path.with_suffix(".hlo")).view().boxes}
    assert "gate" in names
    assert "sigmoid" not in names


@pytest.mark.smoke
def test_a_protocol_buffer_gives_the_names_of_expressions(opened):
    lowered = jax.jit(load(opened.source).gated).lower(jnp.ones((2, 3)), jnp.ones((3, 3)))
    (module,) = lowered.compile().runtime_executable().hlo_modules()
    path = opened.path.with_suffix(".pb")
    path.write_bytes(module.as_serialized_hlo_module_proto())
    assert "sum" in {row.name for row in jv.open(path).document().outlines[0].outline}


BEGUN = """\
def steps(x, w, b):
    total = x @ w + b
    first = sin(cos(x), 2)[0]
    return vmap(sin)(total) * first
"""


@pytest.mark.parametrize(
    ("line", "column", "name"),
    [(2, 12, "total"), (3, 12, "sin"), (3, 16, "cos"), (4, 11, "multiply"), (9, 0, "")],
)
def test_where_a_file_tells_only_where_an_expression_begins_it_is_found(line, column, name, tmp_path, monkeypatch):
    source, path = tmp_path / "steps.py", tmp_path / "steps.hlo"
    source.write_text(BEGUN)
    path.write_text(
        f'HloModule jit_steps\n\nFileNames\n1 "{source}"\n\nFunctionNames\n1 "steps"\n\nFileLocations\n'
        f"1 {{file_name_id=1 function_name_id=1 line={line} column={column}}}\n\n"
        "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n"
        "ENTRY main {\n  x = f32[] parameter(0)\n"
        '  ROOT y = f32[] sine(x), metadata={op_name="jit(steps)/sin" stack_frame_id=1}\n}\n'
    )
    monkeypatch.chdir(tmp_path)
    tables = jv.open(path).document().tables
    assert Expressions(tables).at(0).name == name


LOOP = """import jax


def last(x):
    def step(kept, row):
        return kept + row, kept

    return jax.lax.scan(step, x[0], x)[1]
"""


def test_where_a_file_tells_lines_without_columns_a_loop_of_which_one_result_is_taken_is_named_as_the_loop(
    tmp_path, monkeypatch
):
    source, path = tmp_path / "loop.py", tmp_path / "last.hlo"
    source.write_text(LOOP)
    metadata = f'metadata={{op_name="jit(last)/while" source_file="{source}" source_line=8}}'
    path.write_text(
        "HloModule jit_last\n\n"
        "goes_on {\n  s = (f32[]) parameter(0)\n  ROOT more = pred[] constant(false)\n}\n\n"
        "turn {\n  t = (f32[]) parameter(0)\n  x = f32[] get-tuple-element(t), index=0\n"
        "  y = f32[] sine(x)\n  ROOT r = (f32[]) tuple(y)\n}\n\n"
        "ENTRY main {\n  a = f32[] parameter(0)\n  i = (f32[]) tuple(a)\n"
        f"  ROOT w = (f32[]) while(i), condition=goes_on, body=turn, {metadata}\n}}\n"
    )
    monkeypatch.chdir(tmp_path)
    assert "scan(step)" in {row.name for row in jv.open(path).document().outlines[0].outline}


CALLER = """\
import jax
import jax.numpy as jnp


def loss(w, x):
    def layer(h, row):
        return jnp.tanh(h @ w) + row, h.sum()

    h, sums = jax.lax.scan(layer, x[0], x)
    return jnp.mean(h ** 2) + sums.max()


def train(w, x):
    noise = jax.random.normal(jax.random.key(0), w.shape)
    gradient = jax.grad(loss)(w + noise, x)
    scale = 1.0 / jnp.sqrt(jnp.sum(gradient**2))
    clipped = gradient * jnp.minimum(scale, 1.0)
    return w - 0.1 * clipped


def write():
    return jax.jit(train).lower(jnp.ones((3, 3)), jnp.ones((4, 3))).as_text(debug_info=True)
"""


def test_what_called_the_compiler_is_no_part_of_the_program_that_was_written_to_a_file(tmp_path, monkeypatch):
    source, path = tmp_path / "caller.py", tmp_path / "train.mlir"
    source.write_text(CALLER)
    path.write_text(load(source).write())
    monkeypatch.chdir(tmp_path)
    rows = list(jv.open(path).document().outlines[0].outline)
    assert "scan(layer)" in {row.name for row in rows}
    assert not {"write", "lower"} & {word for row in rows for word in (row.name, row.detail)}
