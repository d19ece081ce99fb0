"""Modules that cannot be read: an error that says where and what was expected, and never another one."""

from __future__ import annotations

import random
import re
from time import process_time

import jax
import numpy as np
import pytest
from read.hlo_mutations import changed_bytes, changed_text

from jaxviz.read.hlo.columns import Columns
from jaxviz.read.hlo.graph import read_hlo
from jaxviz.read.hlo.module import HloError
from jaxviz.read.hlo.proto import parse_hlo_proto
from jaxviz.read.hlo.text import parse_hlo_text

MUTATIONS = 400

ENTRY = "HloModule m\n\nENTRY e {\n  p = f32[2]{0} parameter(0)\n  ROOT n = f32[2]{0} negate(p)\n}\n"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("HloModule m", "Module m", "line 1:1: expected HloModule and the name of the module"),
        ("ENTRY e {", "ENTRY e", "line 3:1: expected the name of a computation and {"),
        (ENTRY[11:], "", "line 1:1: expected an ENTRY computation"),
        ("n = f32[2]{0} neg", "n f32[2]{0} neg", "line 5:9: expected ="),
        ("negate(p)", "negate(q)", "line 5:29: expected an instruction of this computation, not q"),
        ("negate(p)", "negate p", "line 5:28: expected ("),
        ("negate(p)", "negate(p", "line 5:29: expected operands and )"),
        ("negate(p)", "negate(f32[2]{0})", "line 5:29: expected the names of all operands"),
        ("negate(p)", "negate(p), =3", "line 5:29: expected operands and )"),
        ("negate(p)", "negate(p), calls=f", "line 5:1: expected a computation of this module, not f"),
        ("negate(p)", "negate(p), calls=e", "line 4:1: expected calls that end, not of itself, in p"),
        ("negate(p)", 'negate(p), metadata={op_name="x', "line 5:33: expected metadata that ends with }"),
        ("negate(p)", "negate(n)", "line 5:1: expected operands that do not depend on itself, in n"),
        ("negate(p)", "get-tuple-element(p), index=1", "line 5:1: expected a tuple as its operand, in n"),
        ("negate(p)", "tuple(p, p)", "line 5:1: expected the elements of f32[2]{0}, in n"),
        ("negate(p)", "parameter(2)", "line 5:1: expected parameter 1 as well, in n"),
        ("ROOT n", "ROOT p", "line 5:8: expected a name that was not given before, not p"),
        (
            "  p = f32[2]{0} parameter(0)\n  ROOT n = f32[2]{0} negate(p)\n",
            "",
            "line 4:1: expected an instruction in computation e",
        ),
        ("f32[2]{0} parameter", "f32[2 parameter", "line 4:1: expected a shape such as f32[2,3], not f32[2, in p"),
        ("\n}\n", "\n", "line 6:1: expected } at the end of computation e"),
    ],
)
def test_an_error_names_the_place_and_what_was_expected(before, after, message):
    assert before in ENTRY
    with pytest.raises(HloError, match="^" + re.escape(message) + "$"):
        read_hlo(parse_hlo_text(ENTRY.replace(before, after, 1)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ENTRY e {\n  p = f32[2] parameter(0)\n  n = add(p, negate(q))\n}", "line 3:1: expected an instruction of"),
        (
            "HloModule m\nENTRY e { p = f32[2] parameter(0)\n  n = f32[2] negate(q) }",
            "line 3:1: expected an instruction of",
        ),
        ("HloModule m\nENTRY e\n{\n  p = f32[2] parameter(0\n}", "line 2:1: expected the name of a computation and {"),
    ],
)
def test_of_text_that_was_written_by_hand_the_line_that_is_wrong_is_told(text, message):
    with pytest.raises(HloError, match="^" + re.escape(message)):
        parse_hlo_text(text)


@pytest.mark.parametrize("called", ["to_apply=f", "condition=f, body=f", "calls={f, f}"])
def test_a_condition_without_branches_is_told_what_it_lacks(called):
    body = "f {\n  x = f32[2]{0} parameter(0)\n  ROOT y = f32[2]{0} negate(x)\n}\n\n"
    text = ENTRY.replace("ENTRY", body + "ENTRY").replace("negate(p)", f"conditional(p, p, p), {called}")
    expected = "expected branch_computations={...}, or true_computation= and false_computation=, in n"
    with pytest.raises(HloError, match=rf"^line 10:1: {re.escape(expected)}$"):
        read_hlo(parse_hlo_text(text))


def test_an_empty_text_is_an_error():
    with pytest.raises(HloError, match="the text is empty"):
        parse_hlo_text("")


@pytest.fixture(scope="module")
def module():
    def program(x):
        x = jax.lax.fori_loop(0, 3, lambda i, c: c * 2.0 + i, x)
        return jax.lax.cond(x.sum() > 0, lambda x: x.argmax(), lambda x: 0 * x.argmin(), x)

    return jax.jit(program).lower(jax.numpy.ones(4)).compile().runtime_executable().hlo_modules()[0]


def test_bytes_that_are_cut_off_are_an_error_with_the_byte(module):
    data = module.as_serialized_hlo_module_proto()
    for end in (1, 10, len(data) // 2, len(data) - 1):
        with pytest.raises(HloError, match=rf"^byte {end}: expected more bytes: the file is cut off"):
            parse_hlo_proto(data[:end])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (b"\xff" * 12, "byte 220: expected a number of at most ten bytes"),
        (b"\x08" + b"\xff" * 12, "byte 221: expected a number of at most ten bytes"),
        (b"\x0a" + b"\xff" * 9 + b"\x01", "byte 210: expected a field that ends before byte 221"),
        (b"\x00\x01", "byte 210: expected a field with a number"),
        (b"\x0a\x05ab", "byte 210: expected a field that ends before byte 214"),
    ],
)
def test_one_of_many_messages_that_is_wrong_is_told_by_its_byte(fields, message):
    messages = [*[b"\x0a\x03abc\x10\x05"] * 30, fields, *[b"\x10\x05"] * 30]
    end = np.cumsum(list(map(len, messages)))
    with pytest.raises(HloError, match=re.escape(message)):
        Columns(b"".join(messages)).fields(end - list(map(len, messages)), end)


def test_bytes_without_a_module_are_an_error():
    with pytest.raises(HloError, match="byte 0: expected the computations of an HLO module"):
        parse_hlo_proto(b"")
    with pytest.raises(HloError, match="byte 0: expected the computations of an HLO module, which are not"):
        parse_hlo_proto(b"\n\x04plan")


@pytest.mark.parametrize("seed", range(4))
def test_changed_text_is_read_or_refused(module, seed):
    text = module.to_string()
    for number in range(MUTATIONS // 4):
        _read_or_refuse(parse_hlo_text, changed_text(text, random.Random(seed * MUTATIONS + number)))


@pytest.mark.parametrize("seed", range(4))
def test_changed_bytes_are_read_or_refused(module, seed):
    data = module.as_serialized_hlo_module_proto()
    for number in range(MUTATIONS // 4):
        _read_or_refuse(parse_hlo_proto, changed_bytes(data, random.Random(seed * MUTATIONS + number)))


def _read_or_refuse(parse, source):
    refused = ""
    try:
        read_hlo(parse(source)).graph.check()
    except HloError as error:
        refused = str(error)
    assert re.match(r"(line \d+:\d+|byte \d+): expected |$", refused)
    assert len(refused) < 500


@pytest.mark.parametrize(
    "line",
    [
        "  x = (" + "f32[], " * 20_000 + "f32[]) tuple(" + "a) b(" * 20_000,
        "  x = " + "(" * 100_000,
        "  x = f32[] add(" + "(" * 100_000,
        "  x = f32[] add(a), " + "k={" * 50_000,
        "  x = f32[] add(a), k=" + "{" * 50_000 + "}" * 50_000,
        "  x = f32[] add(a), metadata={" + '"' * 99_999,
        "  x = f32[] add(" + "a" * 200_000 + "\x00)",
    ],
)
def test_a_long_line_is_refused_at_once(line):
    start = process_time()
    with pytest.raises(HloError):
        read_hlo(parse_hlo_text("HloModule m\nENTRY e {\n  a = f32[] parameter(0)\n" + line + "\n}\n"))
    assert process_time() - start < 2


def test_more_operands_than_memory_holds_are_refused(monkeypatch):
    monkeypatch.setattr("jaxviz.read.hlo.graph.MOST_OPERANDS", 1000)
    shape = f"({', '.join(['f32[]'] * 100)})"
    reader = f"ROOT r = f32[] custom-call({', '.join('t' * 11)})"
    text = f"HloModule m\nENTRY e {{\n  t = {shape} parameter(0)\n  {reader}\n}}\n"
    with pytest.raises(HloError, match=r"line 4:1: expected at most 1,000 operands in all, in r"):
        read_hlo(parse_hlo_text(text))


def test_frames_that_go_round_in_a_circle_end():
    tables = """
FileNames
1 "a.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=2}
2 {file_name_id=1 function_name_id=1 line=2 end_line=2 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=3}
2 {file_location_id=2 parent_frame_id=2}

"""
    text = ENTRY.replace("\n\n", "\n" + tables, 1).replace("negate(p)", "negate(p), metadata={stack_frame_id=2}")
    (node,) = read_hlo(parse_hlo_text(text)).graph.find("negate")
    assert [frame.line for frame in node.frames] == [1, 2]
