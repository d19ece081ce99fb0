"""`jaxviz` in a shell: each command, and one line for each mistake."""

from __future__ import annotations

import gzip
import importlib.metadata
import json
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv
from jaxviz import doctor
from jaxviz.argument_text import ArgumentError, argument_of, arguments_of
from jaxviz.cli import main

SOURCE = """
import jax.numpy as jnp

def step(params, x, scale=1.0):
    return jnp.tanh(params["w"] @ x) * scale

def forgetful(x):
    y = jnp.cos(x) + 3
    z = jnp.sin(y) * y + jnp.exp(y)
    return x + 1
"""


@pytest.fixture
def steps(tmp_path):
    path = tmp_path / "steps.py"
    path.write_text(SOURCE)
    return path


def run(capsys, *arguments):
    status = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_explore_says_what_is_there_and_what_was_found(capsys, steps):
    status, out, err = run(capsys, "explore", f"{steps}:forgetful", "--args", "f32[3]")
    assert (status, err) == (0, "")
    assert "forgetful(f32[3])" in out
    assert "kernels: 1" in out
    assert "no result needs" in out


def test_the_command_is_there_for_a_python_too():
    command = [sys.executable, "-m", "jaxviz", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["jaxviz", importlib.metadata.version("jupyterlab-jaxviz")]
    wrong = subprocess.run([*command[:3], "nonsense"], capture_output=True, text=True)
    assert (wrong.returncode, wrong.stderr.startswith("usage: jaxviz ")) == (2, True)


@pytest.mark.parametrize("suffix", ["svg", "html", "dot", "json", "jaxviz"])
def test_export_writes_what_the_name_says(capsys, steps, tmp_path, suffix):
    path = tmp_path / f"step.{suffix}"
    call = ("export", f"{steps}:step", "--args", "{'w': f32[4,8]}", "f32[8]", "scale=f32[]", "-o", path)
    assert run(capsys, *call)[0] == 0
    text = path.read_text("utf-8")
    begin = {"svg": "<svg", "html": "<!doctype html>", "dot": "digraph", "json": "{", "jaxviz": "{"}
    assert text.startswith(begin[suffix])
    assert "tanh" in text or suffix in ("html", "jaxviz")


def test_diff_fails_where_something_has_grown(capsys, tmp_path):
    small, large = tmp_path / "small.jaxviz", tmp_path / "large.jaxviz"
    jv.explore(lambda x: x * 2, jnp.ones((8, 8))).document().save(small)
    jv.explore(lambda x: jnp.sort(x) @ x, jnp.ones((8, 8))).document().save(large)
    assert run(capsys, "diff", small, large)[0] == 0
    status, out, _ = run(capsys, "diff", small, large, "--fail-on", "equations,kernels,flops")
    assert status == 1
    assert "has grown" in out
    assert run(capsys, "diff", large, small, "--fail-on", "equations,kernels")[0] == 0
    status, out, _ = run(capsys, "diff", small, large, "--fail-on", "kernels,flops", "--json")
    assert (status, json.loads(out)["failed"]) == (1, ["kernels", "flops"])
    status, _, err = run(capsys, "diff", small, large, "--fail-on", "speed")
    assert status == 2
    assert "knows no 'speed'" in err


def test_open_shows_a_file(capsys, tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr("webbrowser.open", shown.append)
    path = tmp_path / "f.mlir"
    path.write_text(jax.jit(jnp.sin).lower(jnp.ones(3)).as_text())
    status, out, _ = run(capsys, "open", path)
    assert status == 0
    assert "stablehlo" in out
    assert [address.startswith("file:") for address in shown] == [True]
    assert run(capsys, "open", path, "-o", tmp_path / "f.svg")[0] == 0
    assert (tmp_path / "f.svg").read_text().startswith("<svg")


def test_open_says_before_that_a_large_file_takes_long(capsys, tmp_path, monkeypatch):
    path = tmp_path / "f.hlo"
    path.write_bytes(b"HloModule m\n" + bytes(20_000_000))
    assert run(capsys, "open", path)[2].startswith("jaxviz: f.hlo has 20 MB: to read it takes 5 s or more\njaxviz: ")
    path.write_text("HloModule m\n{")
    assert run(capsys, "open", path)[2].startswith(f"jaxviz: {path}: line 2:1: expected")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes")
def test_open_shows_what_comes_through_a_pipe(tmp_path):
    text = jax.jit(jnp.sin).lower(jnp.ones(3)).compile().as_text()
    command = [sys.executable, "-c", "from jaxviz.cli import main; main()", "open", "-", "-o", tmp_path / "m.jaxviz"]
    ran = subprocess.run(command, input=gzip.compress(text.encode()), capture_output=True, check=True)
    assert b"jit_sin, hlo of " in ran.stdout
    assert jv.load(tmp_path / "m.jaxviz").programs[0].name == "jit_sin"


def test_open_shows_the_program_of_a_folder_that_is_named_and_keeps_all(capsys, tmp_path):
    for name in ("sin", "cos"):
        (tmp_path / f"{name}.mlir").write_text(jax.jit(getattr(jnp, name)).lower(jnp.ones(3)).as_text())
    saved = tmp_path / "both.jaxviz"
    status, out, _ = run(capsys, "open", tmp_path, "--program", "cos", "-o", saved)
    assert status == 0
    assert "cos, stablehlo" in out.splitlines()[0]
    assert [program.name for program in jv.load(saved).programs] == ["cos", "sin"]
    status, _, err = run(capsys, "open", tmp_path, "--program", "tan")
    assert status == 2
    assert "has no program 'tan'; it has: " in err


def test_demo_is_a_page(capsys, tmp_path):
    assert run(capsys, "demo", "-o", tmp_path / "demo.html")[0] == 0
    assert "settle" in (tmp_path / "demo.html").read_text("utf-8")


def test_doctor_tells_of_the_other_package(capsys, monkeypatch):
    assert "JAX" in run(capsys, "doctor")[1]

    class Other:
        version = "9.9"
        metadata = {"Name": "jaxviz"}  # noqa: RUF012

    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Other)
    bad = [check for check in doctor.checks() if not check.ok and check.needed]
    assert any("pip uninstall jaxviz" in check.text for check in bad)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["explore", "step"], "names nothing"),
        (["explore", "no_such_module:f"], "cannot import no_such_module"),
        (["explore", "jax.numpy:nothing"], "has no nothing"),
        (["explore", "jax.numpy:pi"], "is no function but float"),
        (["explore", "nowhere.py:f"], "there is no file nowhere.py"),
        (["explore", "jax.numpy:sin", "--args", "f32[3"], "cannot read the argument"),
        (["explore", "jax.numpy:sin", "--args", "f32[3]", "--target", "toaster"], "toaster"),
        (["explore", "jax.numpy:sin"], "missing a required argument: 'x'; give the arguments as --args"),
        (["explore", "jax.numpy:sin", "--args", "f32[3]", "f32[3]"], "too many positional arguments"),
        (["explore", "jax.numpy:sin", "--args", "f32[3]", "y=3"], "unexpected keyword argument 'y'"),
        (["export", "jax.numpy:sin", "--args", "f32[3]", "-o", "x.gif"], "cannot tell from x.gif"),
        (["open", "nothing.hlo"], "nothing.hlo"),
        (["open", "gs://bucket/dump"], "gs://bucket/dump: expected the path of a file or a folder on this machine"),
    ],
)
def test_mistakes_are_told_in_one_line(capsys, arguments, told):
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1


def test_a_function_that_cannot_be_traced_is_told_by_its_line_and_in_words(capsys, tmp_path):
    path = tmp_path / "branches.py"
    path.write_text("def sign(x):\n    if x > 0:\n        return 1\n    return -1\n")
    status, out, err = run(capsys, "explore", f"{path}:sign", "--args", "f32[]")
    assert (status, out) == (1, "")
    assert "if x > 0:" in err
    assert "cli.py" not in err
    assert "TracerBoolConversionError" in err
    assert "jaxviz: TracerBoolConversionError on" in err
    assert "jnp.where" in err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def f(x:\n", "SyntaxError"),
        ("import not_there\n", "not_there"),
        ("def f(x):\n    return x\n\n1 / 0\n", "line 4"),
    ],
)
def test_a_module_that_cannot_be_imported_is_told_by_its_own_lines(capsys, tmp_path, monkeypatch, text, told):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "unimportable.py").write_text(text)
    for name in ("unimportable.py", "unimportable"):
        monkeypatch.delitem(sys.modules, "unimportable", raising=False)
        status, _, err = run(capsys, "explore", f"{name}:f", "--args", "f32[3]")
        assert (status, told in err) == (1, True)
        assert err.splitlines()[-1].startswith(f"jaxviz: cannot import {name}: ")
        assert "cli.py" not in err
        assert "importlib" not in err


def test_a_file_of_a_package_is_imported_as_part_of_it(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "packaged" / "inner").mkdir(parents=True)
    for folder in ("packaged", "packaged/inner"):
        (tmp_path / folder / "__init__.py").write_text("")
    (tmp_path / "packaged" / "twice.py").write_text("def twice(x):\n    return x * 2\n")
    (tmp_path / "packaged" / "inner" / "step.py").write_text("from ..twice import twice\n")
    path = tmp_path / "packaged" / "inner" / "step.py"
    status, out, err = run(capsys, "explore", f"{path}:twice", "--args", "f32[3]")
    assert (status, err, out.split(":")[0]) == (0, "", "twice(f32[3])")


def test_an_interrupt_and_a_reader_that_has_enough_end_it_without_a_word(capsys, steps, monkeypatch):
    def interrupted(options):
        raise KeyboardInterrupt

    monkeypatch.setattr("jaxviz.cli._explored", interrupted)
    assert run(capsys, "explore", f"{steps}:step") == (130, "", "")
    listing = f"{sys.executable} -m jaxviz doctor | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", listing], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("141\n", "")


def test_without_a_command_all_are_listed(capsys):
    status, out, err = run(capsys)
    assert (status, out) == (2, "")
    assert "export" in err
    assert "write a picture, page or document of a function" in err


def test_arguments_are_types_literals_and_containers_of_them():
    args, kwargs = arguments_of(["f32[128,64]", "i32[]", "3", "'relu'", "{'w': bf16[3], 'b': [f32[4,], None]}", "n=-2"])
    assert [str(args[0].dtype), args[0].shape] == ["float32", (128, 64)]
    assert args[1].shape == ()
    assert args[2:4] == (3, "relu")
    assert str(args[4]["w"].dtype) == "bfloat16"
    assert args[4]["b"][0].shape == (4,)
    assert args[4]["b"][1] is None
    assert kwargs == {"n": -2}


EXAMPLE = """
import collections
import jax.numpy as jnp

State = collections.namedtuple("State", "mu count")
PARAMS = {"w": jnp.ones((3, 4))}

def example():
    return PARAMS, State(PARAMS, jnp.zeros((), int))

def named():
    return {"w": jnp.ones(3), "activation": "relu"}

def step(params, state, x, rate=0.1):
    assert isinstance(state, State)
    return params["w"] @ x * rate, state
"""


def test_arguments_that_are_no_literals_are_named(tmp_path, capsys):
    file = tmp_path / "steps_of_a_model.py"
    file.write_text(EXAMPLE)
    args, kwargs = arguments_of([f"*{file}:example()", "f32[4]", f"rate={file}:PARAMS"])
    assert [args[0]["w"].shape, type(args[1]).__name__, args[2].shape] == [(3, 4), "State", (4,)]
    # Nothing is computed for types.
    assert isinstance(args[1].mu["w"], jax.ShapeDtypeStruct)
    assert isinstance(kwargs["rate"]["w"], jax.Array)
    assert argument_of(f"{file}:named()")["activation"] == "relu"
    # A function and its arguments are of one module.
    target = tmp_path / "step.svg"
    asked = ["export", f"{file}:step", "--args", f"*{file}:example()", "f32[4]", "-o", str(target)]
    status, _, err = run(capsys, *asked)
    assert (status, err) == (0, "")
    assert "matmul" in target.read_text()


def test_a_name_of_nothing_is_said_in_one_line(tmp_path):
    file = tmp_path / "steps_again.py"
    file.write_text(EXAMPLE)
    for text, said in (
        (f"{file}:nothing", "has no nothing"),
        (f"{file}:PARAMS()", "cannot call .*: it is dict"),
        (f"*{file}:PARAMS", "is dict, and a tuple of arguments was expected"),
        ("no_such_module:x", "cannot import no_such_module"),
    ):
        with pytest.raises(ValueError, match=said):
            arguments_of([text])


def test_keys_and_small_floats_are_types_too():
    assert jax.dtypes.issubdtype(argument_of("key[2]").dtype, jax.dtypes.prng_key)
    assert str(argument_of("key<rbg>[2]").dtype) == "key<rbg>"
    assert str(argument_of("f8_e4m3fn[2]").dtype) == "float8_e4m3fn"
    assert str(argument_of("float32[2]").dtype) == "float32"
    assert str(argument_of("bool[2]").dtype) == "bool"


@pytest.mark.parametrize("text", ["f32[", "x", "__import__('os')", "open('a')", "f32[3] + 1", "g7[3]", "lambda: 0", ""])
def test_what_is_no_argument_is_refused_and_never_run(text):
    with pytest.raises(ArgumentError, match="cannot read the argument"):
        argument_of(text)
    with pytest.raises(ArgumentError, match="has no name"):
        arguments_of(["n=1", "2"])
