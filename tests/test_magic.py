"""`%jaxviz` as a person types it: what it explores, what it refuses and in which words."""

from __future__ import annotations

import ast
import re
import sys
import traceback

import jax
import jax.numpy as jnp
import pytest
from IPython.core.error import UsageError
from IPython.utils.capture import capture_output

from jaxviz.exploration import Exploration
from jaxviz.notebook.display import MIME_TYPE
from jaxviz.notebook.line import parse
from jaxviz.notebook.magic import JaxvizMagics


def explore(shell, line):
    return shell.run_line_magic("jaxviz", line)


def shown(shell, cell):
    """How many pictures a cell shows, with that of its value."""
    with capture_output() as captured:
        result = shell.run_cell(cell)
        result.raise_error()
    return sum(MIME_TYPE in output.data for output in captured.outputs) + isinstance(result.result, Exploration)


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("cell", "pictures"),
    [
        ("%jaxviz f(x)", 1),
        ("%jaxviz f(x)\n%jaxviz f(x + 1)", 2),
        ("%jaxviz f(x)\nkept = 1", 1),
        ("for x in (x, x + 1, x):\n    %jaxviz f(x)", 3),
        ("if True:\n    %jaxviz f(x)\nelse:\n    %jaxviz f(x)", 1),
        ("def show():\n    %jaxviz f(x)\nshow()", 1),
        ("kept = %jaxviz f(x)", 0),
        ("def made():\n    kept = %jaxviz f(x)\n    return kept\nkept = made()", 0),
    ],
)
def test_every_line_shows_its_picture_unless_it_is_kept(shell, names, cell, pictures):
    names.update(f=lambda x: jnp.sin(x), x=jnp.ones(4))
    assert shown(shell, cell) == pictures


def test_a_magic_that_code_calls_itself_gives_its_value_and_shows_nothing(shell, names):
    names.update(f=lambda x: jnp.sin(x), x=jnp.ones(4))
    with capture_output() as captured:
        shell.run_line_magic("jaxviz", "f(x)")
    assert captured.outputs == []


@pytest.mark.smoke
def test_a_call_is_explored_with_its_arguments(shell, names):
    names.update(f=lambda x, *, scale: jnp.sin(x) * scale, x=jnp.ones(4))
    exploration = explore(shell, "f(x, scale=x)")
    assert [node.op for node in exploration.jaxpr if node.kind == "operation"] == ["sin", "mul"]
    assert exploration.document().programs[0].call == "f(x, scale=x)"


def test_the_function_is_traced_and_never_run(shell, names):
    runs = []

    def f(x):
        runs.append(type(x).__name__)
        return x + 1

    names.update(f=f, x=jnp.ones(4))
    explore(shell, "f(x)")
    assert len(runs) == 1
    assert "Tracer" in runs[0]


def test_arguments_are_expressions_of_the_notebook(shell, names):
    names.update(f=lambda xs: sum(xs), width=3, jnp=jnp)
    exploration = explore(shell, "f([jnp.ones(width + i * 0) for i in range(2)])")
    arguments = [node for node in exploration.jaxpr if node.kind == "argument"]
    assert [node.types[0] for node in arguments] == ["f32[3]", "f32[3]"]


def test_starred_arguments(shell, names):
    names.update(f=lambda x, y, k: x + y + k, xs=(jnp.ones(2), jnp.ones(2)), more={"k": 1.0})
    exploration = explore(shell, "f(*xs, **more)")
    assert sum(node.kind == "argument" for node in exploration.jaxpr) == 3


def test_static_arguments(shell, names):
    names.update(f=lambda x, n: x.reshape(n, -1), x=jnp.ones(6))
    for static in ("1", "n", "'1, n'", "n --donate x"):
        assert explore(shell, f"--static {static} f(x, 2)").program.argument_names == ("x",)
    exploration = explore(shell, "--static 1 f(x, 2)")
    assert exploration.jaxpr.node(len(exploration.jaxpr) - 1).kind == "result"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "wants a call to explore: write a call, such as %jaxviz step(params, x)."),
        ("f", "wants a call, and 'f' is none: write %jaxviz f(...) with its arguments."),
        ("x + 1", "wants a call, and 'x + 1' is none: write a call, such as"),
        ("f(x", "cannot read 'f(x'"),
        ("y = f(x)", "wants a call alone: write %jaxviz f(x)."),
        ("--help", "[--save FILE]"),
        ("--speed 3 f(x)", "has no option --speed; it has --stage, --height"),
        ("--height tall f(x)", "--height wants a whole number above 0."),
        ("--static 1.5 f(x)", "--static wants arguments by number or name"),
        ("--stage llvm f(x)", "--stage wants jaxpr, stablehlo or hlo."),
    ],
)
def test_anything_but_a_call_gets_one_line_that_says_what_to_type(line, words):
    with pytest.raises(UsageError) as caught:
        parse(line)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_semicolon_at_the_end_is_no_error():
    _, call = parse("f(x);")
    assert ast.unparse(call) == "f(x)"


def test_a_call_of_what_is_no_function_gets_one_line(shell, names):
    names.update(x=jnp.ones(2))
    with pytest.raises(UsageError, match="wants a call of a function, and x is"):
        shell.run_line_magic("jaxviz", "x(1)")


def test_a_file_that_cannot_be_written_is_one_line_and_the_picture_is_shown(shell, names, capsys):
    names.update(f=jnp.sin, x=jnp.ones(2))
    exploration = explore(shell, "--save /no/such/folder/f.jaxviz f(x)")
    assert exploration is not None
    assert "/no/such/folder/f.jaxviz" in capsys.readouterr().err


def test_an_error_shows_no_frames_of_ours(shell, names):
    def boom(x):
        raise ValueError("no")

    names.update(boom=boom, x=jnp.ones(2))
    result = shell.run_cell("%jaxviz boom(x)")
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(result.error_in_exec.__traceback__)]
    assert not any(file.endswith(("jaxviz/program/program.py", "functools.py", "jaxviz/capture.py")) for file in files)
    assert files[-1] == __file__


def test_files_are_written_where_asked(shell, names, tmp_path):
    names.update(f=jnp.sin, x=jnp.ones(2))
    explore(shell, f"--save '{tmp_path}/f.jaxviz' --svg={tmp_path}/f.svg f(x)")
    assert (tmp_path / "f.svg").read_text("utf-8").startswith("<svg")
    assert '"format":"jaxviz"' in (tmp_path / "f.jaxviz").read_text("utf-8").replace(" ", "")


def test_an_error_of_the_function_is_the_cells_own(shell, names, capsys):
    names.update(f=lambda x: jnp.zeros(x), x=jnp.int32(3))
    result = shell.run_cell("%jaxviz f(x)")
    assert type(result.error_in_exec) is TypeError
    assert "Shapes must be 1D sequences of concrete values" in str(result.error_in_exec)
    printed = capsys.readouterr().out
    assert "notebook/magic.py" not in printed


def test_what_was_typed_is_to_be_typed_again_with_what_an_error_asks_to_be_static(shell, names):
    def repeated(x, n):
        return jnp.repeat(x, n)

    names.update(repeated=repeated, x=jnp.ones(2), n=3)
    with capture_output() as captured:
        shell.run_cell("%jaxviz repeated(x + 1, n)")
    assert "%jaxviz --static 1 repeated(x + 1, n)" in captured.outputs[0].data["text/plain"]


def test_an_error_in_what_was_typed_is_shown_with_it(shell, names, capsys):
    names.update(f=lambda x: x)
    for typed in ("nope(1)", "f(nope)"):
        result = shell.run_cell(f"%jaxviz {typed}")
        assert type(result.error_in_exec) is NameError
        printed = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
        assert f"1 {typed}" in printed
        assert "take_apart" not in printed
        assert "Could not get source" not in printed


def test_an_interrupt_is_shown_without_the_way_through_jax(shell, names, capsys):
    def f(x):
        raise KeyboardInterrupt

    names.update(f=f)
    shell.run_cell("%jaxviz f(1.0)")
    printed = capsys.readouterr()
    assert "KeyboardInterrupt" in printed.out + printed.err
    assert "program.py" not in printed.out
    assert "pjit.py" not in printed.out


def test_the_output_has_the_document_a_picture_and_words(shell, names):
    names.update(f=lambda x: jnp.tanh(x) + 1, x=jnp.ones(8))
    explored = explore(shell, "--height 300 f(x)")
    data, metadata = explored._repr_mimebundle_()
    assert data[MIME_TYPE]["format"] == "jaxviz"
    assert "tanh" in data["image/svg+xml"]
    assert "2 equations" in data["text/plain"]
    assert metadata == {MIME_TYPE: {"height": 300, "program": explored.listed}}


def test_passes_are_asked_for_by_a_flag_that_takes_no_value(shell, names):
    names.update(f=lambda x: jnp.sin(x) + jnp.sin(x), x=jnp.ones(4))
    for line in ("--passes f(x)", "--passes --stage hlo f(x)", "--stage hlo --passes f(x)"):
        options, call = parse(line)
        assert options.passes
        assert ast.unparse(call) == "f(x)"
    assert [entry.graph for entry in explore(shell, "--passes f(x)").document().passes] == [0]
    assert explore(shell, "f(x)").document().passes == ()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--save f(x)", "--save took f(x) for its value"),
        ("f(x) --height 300", "options in front of the call: %jaxviz --height ... f(x)"),
        ("f(x) --svg picture.svg", "options in front of the call: %jaxviz --svg ... f(x)"),
        ("f(x).sum()", "this calls a method of what f(x) gives"),
    ],
)
def test_lines_that_are_nearly_right_say_what_to_mend(shell, names, line, said):
    names.update(f=lambda x: jnp.sin(x), x=jnp.ones(4))
    with pytest.raises(UsageError) as error:
        explore(shell, line)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_stage_that_cannot_be_written_is_said_and_the_rest_is_shown(shell, names, tmp_path, capsys, monkeypatch):
    def broken(*_, **__):
        raise ValueError("no compiler here")

    monkeypatch.setattr("jaxviz.capture.optimize", broken)
    names.update(f=lambda x: jnp.sin(x), x=jnp.ones(4))
    exploration = explore(shell, f"--stage hlo --svg {tmp_path / 'f.svg'} f(x)")
    assert "no compiler here" in capsys.readouterr().err
    assert MIME_TYPE in exploration._repr_mimebundle_()[0]


MODULE = "HloModule m\n\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT n = f32[2] negate(p)\n}\n"


@pytest.mark.parametrize(
    "line", ["{path}", "'{path}'", "jv.open('{path}')", "--height 300 {path}", "--stage hlo {path}"]
)
def test_a_path_is_opened(shell, tmp_path, line):
    path = tmp_path / "m.hlo"
    path.write_text(MODULE)
    shell.run_cell("import jaxviz as jv")
    opened = shell.run_line_magic("jaxviz", line.format(path=path))
    assert [node.op for node in opened.hlo] == ["argument", "negate", "result"]
    assert opened.height == (300 if "300" in line else None)


def test_a_large_file_is_told_before_to_take_long(shell, tmp_path, capsys):
    path = tmp_path / "m.hlo"
    path.write_bytes(b"HloModule m\n" + bytes(30_000_000))
    with pytest.raises(UsageError):
        shell.run_line_magic("jaxviz", str(path))
    assert capsys.readouterr().err == "jaxviz: m.hlo has 30 MB: to read it takes 8 s or more\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("'{folder}/none.hlo'", "No such file"),
        ("{folder}/none.hlo", "No such file"),
        ("{folder}/bad.hlo", "line 2:1: expected"),
        ("--stage jaxpr {folder}/m.hlo", "there is no jaxpr in"),
    ],
)
def test_a_path_that_cannot_be_opened_is_a_usage_error(shell, tmp_path, line, message):
    (tmp_path / "m.hlo").write_text(MODULE)
    (tmp_path / "bad.hlo").write_text("HloModule m\nwhat\n")
    with pytest.raises(UsageError, match=message):
        shell.run_line_magic("jaxviz", line.format(folder=tmp_path))


def test_a_call_is_run_as_often_as_asked(shell, names):
    names.update(f=lambda x: jnp.sin(x), x=jnp.ones(4))
    assert len(explore(shell, "--run 3 f(x)").measured.seconds) == 3
    assert len(explore(shell, "--run=4 --height 300 f(x)").measured.seconds) == 4
    found = explore(shell, "--run f(x)")
    assert len(found.measured.seconds) == 20
    assert "median" in repr(found)
    assert explore(shell, "f(x)").measured is None


def test_a_run_whose_results_hold_a_nan_looks_for_where_it_begins(shell, names):
    names.update(root=lambda x: jnp.sqrt(x - 2.0) + 1.0, x=jnp.ones(4))
    found = explore(shell, "--run 1 root(x)")
    assert found.measured.nan == "NaN in 1 of 1 results: result"
    (values,) = found.document().values
    assert found.jaxpr.node(values.values.first_bad.node).op == "sqrt"


@pytest.mark.parametrize("line", ["--run 0 f(x)", "--run=x f(x)", "--run 2.5 f(x)", "--run -1 f(x)"])
def test_a_wrong_number_of_runs_gets_one_line(shell, names, line):
    names.update(f=lambda x: x, x=1.0)
    with pytest.raises(UsageError, match="--run wants a whole number above 0"):
        explore(shell, line)


def test_what_cannot_be_run_is_said_and_shown_all_the_same(shell, names, capsys):
    names.update(f=lambda x: jax.pure_callback(lambda x: 1 / 0, x, x), x=jnp.ones(()))
    found = explore(shell, "--run 2 f(x)")
    assert len(found.jaxpr.find("pure_callback")) == 1
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("%jaxviz")]
    assert "failed while it ran" in line
    assert "division by zero" in line


def test_memory_values_and_the_cost_of_compiling_are_measured_when_asked(shell, names):
    names.update(f=lambda x: jnp.log(jnp.cumsum(x) - 2.0), x=jnp.ones(4))
    document = explore(shell, "--memory --values --compile f(x)").document()
    assert document.values[0].values.first_bad is not None
    assert document.memory[0].memory.total > 0
    assert document.compiling[0].cost.seconds("compile") > 0
    assert not document.measures
    plain = explore(shell, "f(x)").document()
    assert not plain.values
    assert not plain.memory
    assert not plain.compiling


def test_what_cannot_be_measured_is_said_in_a_line_for_each(shell, names, capsys):
    names.update(f=lambda x: jax.pure_callback(lambda x: 1 / 0, x, x), x=jnp.ones(()))
    found = explore(shell, "--run 2 --values --compile f(x)")
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("%jaxviz")]
    assert [line.partition(":")[0] for line in said] == ["%jaxviz --run", "%jaxviz --values"]
    assert found.document().compiling
    with pytest.raises(UsageError, match="--values wants a call to run"):
        explore(shell, "--values m.hlo")


def test_a_run_that_is_stopped_leaves_the_picture(shell, names, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("jaxviz.measure.run.run_program", interrupted)
    names.update(f=lambda x: x + 1, x=1.0)
    found = explore(shell, "--run f(x)")
    assert len(found.jaxpr.find("add")) == 1
    assert found.stopped
    assert "stopped" in capsys.readouterr().err
    # Nor is anything put beside it.
    assert explore(shell, "--run --vs 'f(x)' f(x)").stopped


def test_a_cell_shows_what_was_compiled_in_it(shell, names, capsys):
    cell = """
import jax, jax.numpy as jnp
@jax.jit
def step(x):
    return jnp.sin(x) * 2
step(jnp.ones(3))
step(jnp.ones(4))
"""
    result = shell.run_cell_magic("jaxviz", "", cell)
    told = capsys.readouterr().out
    assert result.shape == (4,)
    assert "2 programs were compiled; each function is drawn once, all 2 are in the side panel:" in told
    assert "step(f32[4])" in told
    assert "the shape of `x` was [4], before [3]" in told
    assert told.count("<jaxviz step(") == 1
    assert "step" in shell.user_ns


def test_a_cell_that_compiles_several_functions_draws_each_once(shell, names, capsys):
    names.update(f=jax.jit(lambda x: jnp.sin(x)), g=jax.jit(lambda x: jnp.cos(x) @ x), x=jnp.ones)
    shell.run_cell_magic("jaxviz", "", "f(x(3)); g(x(3)); f(x(4)); f(x(5))")
    told = capsys.readouterr().out
    assert "4 programs were compiled" in told
    assert told.count("<jaxviz ") == 2
    shell.run_cell_magic("jaxviz", "", "f(x(6))\ng(x(6))")
    assert "2 programs were compiled:" in capsys.readouterr().out


def test_lines_of_a_cell_are_told_by_its_number(shell, names):
    cell = "%%jaxviz\nimport jaxviz\nexplored = jaxviz.explore(lambda x: x + 1, 1.0)"
    number = shell.run_cell(cell, store_history=True).execution_count
    frame = names["explored"].jaxpr.find("add")[0].frames[0]
    assert (frame.label, frame.line) == (f"In [{number}]", 3)


def test_a_cell_that_compiles_nothing_says_so(shell, names, capsys):
    assert shell.run_cell_magic("jaxviz", "", "x = 1\nx + 1") == 2
    assert "no function compiled" in capsys.readouterr().out
    assert shell.run_cell_magic("jaxviz", "", "x + 1;") is None


def test_a_cell_with_a_call_in_its_first_line_is_refused(shell, names):
    with pytest.raises(UsageError, match="takes options alone"):
        shell.run_cell_magic("jaxviz", "f(x)", "x = 1")
    with pytest.raises(UsageError, match="has no --save"):
        shell.run_cell_magic("jaxviz", "--save a.jaxviz", "x = 1")


def test_an_error_in_a_cell_is_the_persons_own_with_the_line_of_the_cell(shell, names):
    with pytest.raises(ZeroDivisionError) as caught:
        shell.run_cell_magic("jaxviz", "", "y = 1\n1 / 0\n")
    assert traceback.extract_tb(caught.value.__traceback__)[-1].lineno == 3


def test_two_calls_are_put_beside_each_other(shell, names):
    names.update(f=lambda x: jnp.sin(x), g=lambda x, by: jnp.sin(x) * by, x=jnp.ones(4))
    comparison = explore(shell, "--height 300 --vs 'g(x, 2.0)' f(x)")
    assert [program.call for program in comparison.document().programs] == ["f(x)", "g(x, 2.0)"]
    assert "mul" in [node.op for node in comparison.differences["jaxpr"].only_b]
    data, metadata = comparison._repr_mimebundle_()
    assert MIME_TYPE in data
    assert metadata[MIME_TYPE]["height"] == 300


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--vs f(x)", "wants a call to explore"),
        ("--vs 'x' f(x)", "wants a call, and 'x' is none"),
        ("--vs '--height 3 f(x)' f(x)", "--vs wants a call without options"),
    ],
)
def test_what_stands_beside_must_be_a_call_too(shell, names, line, said):
    names.update(f=lambda x: jnp.sin(x), x=jnp.ones(4))
    with pytest.raises(UsageError, match=said):
        JaxvizMagics(shell).jaxviz(line)


def test_a_terminal_is_told_once_how_to_see_the_picture(shell, names, capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(shell.magics_manager.registry["JaxvizMagics"], "_terminal_told", False)
    names["jnp"] = jnp
    explore(shell, "jnp.sin(1.0)")
    explore(shell, "jnp.cos(1.0)")
    assert capsys.readouterr().err.count("_.to_html('page.html')") == 1


def test_a_call_that_does_not_fit_shows_no_lines_of_jax(shell, names):
    names["f"] = lambda x: x
    with capture_output() as captured:
        shell.run_cell("%jaxviz f()")
    assert "missing 1 required positional argument" in captured.stdout
    assert "partial_eval" not in captured.stdout


@pytest.mark.parametrize("before", ["", "found = "])
def test_what_jax_makes_of_its_own_functions_comes_from_the_cell_with_the_magic(shell, names, before):
    names.update(jax=jax, x=jnp.ones(3), jnp=jnp)
    line = f"{before}%jaxviz jax.nn.softmax(x, where=x > 'a'.count('b'))"
    with capture_output():
        found = shell.run_cell(f"y = 1\n{line}\n{'found' * bool(before)}", store_history=True).result
    frames = {frame for node in found.hlo for frame in node.frames if node.kind == "operation"}
    (frame,) = frames
    assert frame.label == f"In [{shell.execution_count - 1}]"
    assert (frame.line, line[frame.column : frame.end_column]) == (2, line.removeprefix(before))
    # The cell is there as it was typed.
    assert line in "\n".join(found.jaxpr.tables.files.text).split("\n")


@pytest.mark.smoke
def test_what_jax_made_already_is_opened_and_what_is_asked_of_a_jitted_function_is_explored(shell, names):
    counted = []

    def argument():
        counted.append(1)
        return jnp.ones(4)

    jitted, x = jax.jit(lambda x: jnp.sin(x) * 2), jnp.ones(4)
    names.update(jitted=jitted, x=x, argument=argument, lowered=jitted.lower(x), compiled=jitted.lower(x).compile())
    assert explore(shell, "lowered").kinds == ("stablehlo",)
    assert explore(shell, "compiled").kinds == explore(shell, "compiled(x)").kinds == ("hlo",)
    for line in ("jitted.lower(x)", "jitted.lower(x).compile()", "jitted.trace(x)", "jitted.trace(x).lower()"):
        assert explore(shell, line).call == "jitted(x)"
    explore(shell, "jitted.lower(argument()).compile()")
    assert len(counted) == 1
    for line, said in (
        ("--run 3 compiled", "and compiled is Compiled."),
        ("--stage jaxpr lowered", "no jaxpr in Lowered"),
    ):
        with pytest.raises(UsageError, match=re.escape(said)):
            explore(shell, line)


def test_a_method_that_is_called_as_what_lowers_is_explored_as_any_other(shell, names):
    names.update(water=type("Water", (), {"lower": lambda self, x: x - 1})(), x=jnp.ones(4))
    assert explore(shell, "water.lower(x)").call == "water.lower(x)"
