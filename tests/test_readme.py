"""What the README tells people to type does what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import jax
import jax.numpy as jnp
import nbformat
import pytest
from notebook_runs import Notebook, running

from jaxviz.cli import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
# What stands for the person's own in it.
OWN = """
import jax
import jax.numpy as jnp

import jaxviz as jv

%load_ext jaxviz

def fn(x, times=2):
    (x,) = jax.tree.leaves(x)
    for _ in range(40):
        x = jnp.tanh(x) * times
    return x

def step(params, x):
    return jnp.tanh(params["w"] @ x)

def g(x):
    return jnp.sin(x)

def train(params, batches):
    for batch in batches:
        jax.jit(lambda w, x: jnp.tanh(w @ x))(params["w"], batch)

x = jnp.ones((4, 8))
args, kwargs, other = (x,), {}, g
params, batches = {"w": jnp.ones((4, 4))}, [x, x]
kinds = {"xla_dump_to": "dump", "xla_dump_hlo_pass_re": ".*", "xla_dump_hlo_as_proto": True}
jax.jit(step).lower(params, x).compile(compiler_options=kinds)
compiled = jax.jit(g).lower(x).compile()
open("m.hlo.pb", "wb").write(compiled.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto())
"""
# The README defines one of its own.
AGAIN = """
def step(params, x):
    return jnp.tanh(params["w"] @ x)
"""
GUARD = """
try:
    get_ipython().run_line_magic("jaxviz", {!r})
except Exception as error:
    print(error)
"""


def blocks(language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [text for name, text in found if name == language]


def magics() -> list[str]:
    """The calls in the table of magics; what stands above a cell gets one."""
    rows = re.findall(r"^\| ((?:`%[^|]*`(?:, )?)+) ", README, re.MULTILINE)
    found = [code for row in rows for code in re.findall(r"`(%[^`]*)`", row)]
    return [code if not code.startswith("%%") else f"{code}\ntrain(params, batches)" for code in found]


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    """All that is typed in a notebook, one cell after the other, and what came of it."""
    folder = tmp_path_factory.mktemp("readme")
    calls, tests = (next(code for code in blocks("python") if word in code) for word in ("jv.explore(", "jv.testing."))
    absent = [code for code in magics() if "--target" in code]
    present = [code for code in magics() if code not in absent]
    # What needs wheels that may not be there says so.
    guarded = [GUARD.format(code.removeprefix("%jaxviz ")) for code in absent]
    sources = [OWN, *present, calls, AGAIN, tests, *guarded]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    with running(folder) as kernel:
        ran = kernel.run(nbformat.v4.new_notebook(cells=cells), folder)
    return ran, folder, dict(zip(sources, ran.node.cells, strict=True)), guarded


def shown(cell: nbformat.NotebookNode) -> int:
    return len(Notebook(nbformat.v4.new_notebook(cells=[cell]), ROOT).bundles)


def test_each_magic_shows_a_picture(typed):
    _, folder, cells, guarded = typed
    assert len(magics()) >= 12
    for code in magics():
        if "--target" not in code:
            assert shown(cells[code]) >= 1, code
    assert (folder / "step.jaxviz").exists()
    assert (folder / "step.svg").read_text().startswith("<svg")
    (target,) = guarded
    told = Notebook(nbformat.v4.new_notebook(cells=[cells[target]]), ROOT).text
    assert shown(cells[target]) or "pip install" in told


def test_each_call_from_python_runs(typed):
    ran, folder, _, _ = typed
    assert not [output for cell in ran.node.cells for output in cell.outputs if output.output_type == "error"]
    for name in ("step.png", "step.html", "step.jaxviz"):
        assert (folder / name).stat().st_size > 1000


def test_each_line_for_a_shell_runs(tmp_path, monkeypatch, capsys):
    functions = (
        "def fn(x, n=1):\n    return jnp.tanh(x) * n\n\nstep = fn\n\ndef example():\n    return jnp.ones(3), 2\n"
    )
    (tmp_path / "own.py").write_text(f"import jax.numpy as jnp\n\n{functions}")
    monkeypatch.chdir(tmp_path)
    module = jax.jit(jnp.sin).lower(jnp.ones(3)).compile().runtime_executable().hlo_modules()[0]
    Path("module.hlo.pb").write_bytes(module.as_serialized_hlo_module_proto())
    Path("dump").mkdir()
    Path("dump", "step.hlo").write_text("HloModule jit_step\n\nENTRY e {\n  ROOT p = f32[2] parameter(0)\n}\n")
    (block,) = [block for block in blocks("") if "jaxviz export" in block]
    lines = [shlex.split(line, comments=True) for line in block.replace("pkg.mod", "own.py").splitlines()]
    for name in ("before", "after"):
        assert main(["export", "own.py:fn", "--args", "f32[3]", "-o", f"{name}.jaxviz"]) == 0
    for program, *arguments in lines:
        assert program == "jaxviz"
        assert main(arguments) == 0 or arguments == ["doctor"], arguments
    assert "jaxviz" in capsys.readouterr().out
    assert Path("fn.svg").read_text().startswith("<svg")


def test_keys_are_those_of_the_explorer():
    keys = (ROOT / "labextension" / "src" / "explorer" / "keys.ts").read_text("utf-8")
    shown = set(re.findall(r"shown: '([^']+)'", keys))
    (table,) = re.findall(r"^\| key \| does \|\n((?:\|.*\n)+)", README, re.MULTILINE)
    told = set(re.findall(r"`(.)`", table))
    assert len(told) >= 15
    assert [key for key in told if not any(key in one.split() for one in shown)] == []


def test_the_directive_of_sphinx_is_spelled_as_it_is():
    from jaxviz.sphinxext import JaxvizDirective

    (block,) = [block for block in blocks("") if ".. jaxviz::" in block]
    assert set(re.findall(r":(\w+):", block)) <= set(JaxvizDirective.option_spec)


def test_links_lead_to_files():
    linked = re.findall(r"(?:\]\(|src=\"|srcset=\")([^)\"#:]+)[)\"]", README)
    assert linked
    assert [name for name in linked if not (ROOT / name).exists()] == []


def test_the_picture_shows_the_lesson():
    for theme in ("light", "dark"):
        picture = (ROOT / "docs" / f"step-{theme}.svg").read_text("utf-8")
        labels = set(re.findall(r">([^<>\n]+)</text>", picture))
        assert {"forward", "backward", "Block", "x3", "optimizer.update"} <= labels
        assert len(picture) < 30_000
