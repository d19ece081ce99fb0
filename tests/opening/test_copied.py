"""What somebody copied out of a log, a chat, an issue or the output of a cell opens, without what is around it."""

from __future__ import annotations

import html
import json
import textwrap
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv
from jaxviz.opening.copied import copied_in

HLO = """HloModule jit_f, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

FileNames
1 "f.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=2 end_line=2 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}


%inner.1 (p.1: f32[4]) -> f32[4] {
  %p.1 = f32[4]{0} parameter(0)
  ROOT %tanh.2 = f32[4]{0} tanh(%p.1), metadata={op_name="jit(f)/tan{h" stack_frame_id=1}
}

ENTRY %main.2 (x.1: f32[4]) -> f32[4] {
  %x.1 = f32[4]{0} parameter(0), metadata={op_name="x"}
  ROOT %fusion = f32[4]{0} fusion(%x.1), kind=kLoop, calls=%inner.1
}
"""
MLIR = """#loc1 = loc("f.py":2:1)
module @jit_f attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<4xf32> loc(#loc1)
    return %0 : tensor<4xf32>
  }
}
#loc2 = loc("g.py":2:1)
"""


NOISE = "2024-11-27 other things are logged, too\n"


def before_each(text: str, before: str) -> str:
    """The text with something in front of each line, in which there is a number that grows."""
    return "".join(
        f"{before.replace('N', str(number))}{line}".rstrip() + "\n" for number, line in enumerate(text.split("\n"))
    )


def wrapped(text: str) -> str:
    """The text with its lines cut between words, as programs for mail do."""
    rows = (textwrap.wrap(line, 50, break_long_words=False, break_on_hyphens=False) for line in text.split("\n"))
    return "\n".join("\n".join(row) for row in rows)


AROUND = {
    "mail": lambda text: f"On Monday you wrote:\n{before_each(wrapped(text), '> ')}\nSo long\n",
    "cut between words": wrapped,
    "fence": lambda text: f"Why is this slow?\n\n```hlo\n{text}```\n\nThe HloModule is that of (f)\n",
    "fence that is quoted": lambda text: before_each(f"I get\n```\n{text}```\nbut {{ why\n", "> "),
    "log of each line": lambda text: before_each(text, "I0000 00:00:173N.5   123 cpu_compiler.cc:50] "),
    "log of the first line": lambda text: f"{NOISE}I0000 00:00:17.5   123 cpu_compiler.cc:50] {text}{NOISE}",
    "log of several": lambda text: before_each(text, "[rankN]: ").replace("\n[rank5]", f"\n{NOISE}[rank5]"),
    "numbered": lambda text: before_each(text, "  N\t"),
    "console": lambda text: f">>> print(text)\n{text}\n>>> \n",
    "colours": lambda text: before_each(text, "\x1b[32m").replace("\n", "\x1b[0m\n"),
    "shown by Python": lambda text: f"Out[3]: {text!r}\n",
    "bytes shown by Python": lambda text: repr(text.encode()),
    "list": lambda text: repr([text]),
    "a cell shows it": lambda text: json.dumps({"cells": [{"outputs": [{"data": {"text/plain": [repr(text)]}}]}]}),
    "a cell prints it": lambda text: json.dumps({"cells": [{"outputs": [{"text": text.splitlines(keepends=True)}]}]}),
    "lines of JSON": lambda text: f'{{"id": 1, "program": {json.dumps(text)}}}\n{{"id": 2}}\n',
    "page": lambda text: f"<details><pre>\n{html.escape(text)}</pre></details>\n",
    "spaces of a page": lambda text: before_each(text.replace("  ", "\u00a0 "), "\u00a0"),
    "test": lambda text: f'import pytest\nPROGRAM = """{text}"""\n',
    "two of them": lambda text: f"{NOISE}{text}{NOISE}{text.replace('jit_f', 'jit_g')}",
}


ALONE = ("colours", "cut between words", "shown by Python", "bytes shown by Python", "list", "spaces of a page")
ALONE += ("a cell shows it", "a cell prints it", "lines of JSON")


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("text", [HLO, MLIR], ids=["hlo", "mlir"])
def test_what_is_copied_with_what_is_around_it_opens(tmp_path, text, around):
    (tmp_path / "alone").write_text(text)
    (tmp_path / "copied").write_text(AROUND[around](text))
    alone, copied = jv.open(tmp_path / "alone"), jv.open(tmp_path / "copied")
    assert copied.names[0] == alone.names[0]
    assert len(copied.names) == (2 if around == "two of them" else 1)
    assert list(map(str, getattr(copied, copied.stage))) == list(map(str, getattr(alone, alone.stage)))
    assert len(copied.left_out) == (0 if around in ALONE else 1)


def test_what_a_report_has_of_one_function_is_one_program_with_two_stages(tmp_path):
    path = tmp_path / "report.md"
    path.write_text(f"# jit_f\n## Compiled\n```hlo\n{HLO}```\n## Lowered\n```mlir\n{MLIR}```\n")
    opened = jv.open(path)
    assert opened.names == ("jit_f",)
    assert [list(program.kinds) for program in opened._programs] == [["stablehlo", "hlo"]]
    assert all("tanh" in str(list(graph)) for graph in (opened.stablehlo, opened.hlo))
    assert opened.left_out == (f"{path}: all but lines 4 to {6 + len(f'{HLO}{MLIR}'.splitlines())}",)
    # Of what cannot be read the other is there alone.
    text = f"```hlo\n{HLO}```\n```mlir\n{MLIR.replace('tanh %arg0', 'tanh %arg1')}```\n"
    path.write_text(text)
    opened = jv.open(path)
    assert len(opened.hlo) > 0
    line = 1 + text[: text.index("%arg1")].count("\n")
    assert [f"line {line}:" in reason for reason in opened.left_out] == [False, True]


def test_it_is_told_which_lines_were_read_and_where_in_the_file_an_error_is(tmp_path):
    path = tmp_path / "copied"
    path.write_text(f"I get\n```\n{HLO}```\n")
    (said,) = jv.open(path).left_out
    assert said == f"{path}: all but lines 3 to {2 + len(HLO.splitlines())}"
    path.write_bytes("Hélas:\n".encode("latin-1") + before_each(HLO, "    ").encode())
    assert jv.open(path).left_out == (f"{path}: all but lines 2 to {1 + len(HLO.splitlines())}",)
    path.write_text(f"I get\n```\n{HLO.replace('tanh(', 'tanh((')}```\n")
    wrong = 3 + HLO[: HLO.index("tanh(")].count("\n")
    with pytest.raises(jv.OpenError, match=rf"line {wrong}:\d+: expected operands and \)"):
        jv.open(path)


@pytest.mark.parametrize("text", [HLO, MLIR], ids=["hlo", "mlir"])
def test_of_a_program_that_lacks_something_no_other_is_made(tmp_path, text):
    path = tmp_path / "copied"
    rows = text.splitlines(keepends=True)
    for number in range(4, len(rows) - 4):
        path.write_text("".join([*rows[:number], "...\n", *rows[number + 1 :]]))
        with pytest.raises(jv.OpenError, match=rf"{path}: line \d+:\d+: expected"):
            jv.open(path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{ lambda ; a:f32[4]. let b:f32[4] = sin a in (b,) }", "not a jaxpr, .* jv.explore"),
        (
            "<jax._src.stages.Lowered object at 0x7f>",
            "not an object as Python prints it: jv.open takes the object itself",
        ),
        ("; ModuleID = 'm'\nsource_filename", "not the code of a kernel"),
        ('{\n "cells": [\n', "not a notebook"),
        ("My HloModule is broken\n", 'not "My HloModule is broken"'),
        ('{"hlo": "an HloModule\\n"}', "not .*hlo"),
    ],
)
def test_what_is_no_program_says_what_to_do(tmp_path, text, told):
    (tmp_path / "copied").write_text(text)
    with pytest.raises(jv.OpenError, match=f"line 1:1: expected HLO.*{told}"):
        jv.open(tmp_path / "copied")


@pytest.mark.parametrize("unit", ["HloModule ", "HloModule m\n", "a (", "x = {\nHloModule m\n", "- ", "module @", '"'])
def test_a_long_text_is_looked_through_once(unit):
    assert copied_in(unit * 10_000 + "HloModule m\n" + unit * 10_000) is None


def test_a_text_that_is_escaped_again_and_again_ends():
    text = "".join(f"-&{'amp;' * layers}gt; HloModule m\n" for layers in range(1100))
    assert copied_in(text) is None


def _cut(text: str, width: int) -> str:
    lines = text.split("\n")
    return "\n".join(line[at : at + width] for line in lines for at in range(0, max(len(line), 1), width))


@pytest.mark.parametrize(("kind", "width"), [("hlo", 80), ("hlo", 121), ("stablehlo", 64)])
def test_lines_that_a_console_cut_at_its_width_are_put_together(tmp_path, kind, width):
    if kind == "hlo":
        text = (Path(__file__).parent.parent / "data/hlo/cond.h100.txt").read_text()
    else:
        text = jax.jit(lambda x: jnp.tanh(x @ x.T) @ x).lower(jnp.ones((4, 3))).as_text()
    (tmp_path / "cut").write_text(_cut(text, width))
    (tmp_path / "whole").write_text(text)
    opened, whole = jv.open(tmp_path / "cut"), jv.open(tmp_path / "whole")
    said = [[str(node) for node in getattr(one, kind)] for one in (opened, whole)]
    assert said[0] == said[1]
    assert opened.left_out == (f"{tmp_path / 'cut'}: the ends of lines at {width} characters",)


def test_a_file_that_is_wrong_says_so_also_where_its_lines_have_one_width(tmp_path):
    row = "  %N = f32[4]{0} add(%p, %p), metadata={op_name='a name that is long enough'}"
    rows = "".join(f"{row.replace('N', name)}\n" for name in "abcd")
    (tmp_path / "m").write_text(f"HloModule m\nENTRY e {{\n{rows}}}\n")
    with pytest.raises(jv.OpenError, match=r"line 3:\d+: expected an instruction of this computation, not p"):
        jv.open(tmp_path / "m")


def test_what_is_wrong_is_placed_in_the_file_or_in_the_texts_that_it_holds(tmp_path):
    wrong = HLO.replace("tanh(%p.1)", "tanh(%q)")
    line = 1 + wrong[: wrong.index("tanh(%q)")].count("\n")
    (tmp_path / "log").write_text(f"I get\n{wrong}")
    with pytest.raises(jv.OpenError, match=rf"log: line {line + 1}:\d+: expected an instruction"):
        jv.open(tmp_path / "log")
    cells = [{"outputs": [{"text": ["first\n"]}]}, {"outputs": [{"text": wrong.splitlines(keepends=True)}]}]
    (tmp_path / "notebook").write_text(json.dumps({"cells": cells}, indent=1))
    with pytest.raises(jv.OpenError, match=rf"notebook: of the texts in it: line {line + 2}:\d+: expected"):
        jv.open(tmp_path / "notebook")
