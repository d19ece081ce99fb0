"""Text of HLO that a person wrote is read as XLA itself reads it."""

from __future__ import annotations

import pytest

from jaxviz.read.hlo.graph import read_hlo
from jaxviz.read.hlo.module import HloError
from jaxviz.read.hlo.text import parse_hlo_text

# From 0.10 on, the module of XLA's reader has this name.
hlo = pytest.importorskip("jaxlib._hlo")

BY_HAND = {
    "one line": "HloModule m ENTRY e { ROOT p = f32[2] parameter(0) }",
    "a computation in a line": """HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a,b) }
ENTRY e {
  p = (f32[8], f32[]) parameter(0)
  x = f32[8]{0} get-tuple-element((f32[8], f32[]) p), index=0 z = f32[] constant(0)
  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add
}""",
    "an instruction in lines": """HloModule m, is_scheduled=true
%add (a: f32[], b: f32[]) -> f32[] { %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b) }

ENTRY %e (p: f32[8]) -> f32[] {
  %p = f32[8]{0} parameter(0)
  %z = f32[] constant(0)
  ROOT %r = f32[] reduce(%p,
      %z), dimensions={0},
    to_apply=%add, metadata={op_name="jit(f)/sum = x { y"}
}""",
    "braces in lines": """HloModule m

add
{
  a = f32[] parameter(0)
  ROOT s = f32[] add( a, a )
}

ENTRY e
{
  p = f32[8,2]{1,0} parameter(0)
  ROOT r = f32[8,2]{1,0} map(
      p),
      dimensions={0,1}, to_apply=add
}""",
    "comments": """// HloModule of a test
HloModule m  // the module

/* a long
 comment */
ENTRY e {
  // first
  p = f32[8]{0} parameter(0)  // the argument
  ROOT r = f32[8]{0} add(/*index=0*/p, p) /* so */
}""",
    "no head": """ENTRY e {
  p = f32[8]{0} parameter(0)
  ROOT r = f32[8]{0} negate(p)
}""",
    "texts of several lines": """HloModule m

ENTRY e {
  p = f32[8]{0} parameter(0)
  ROOT c = f32[8]{0} custom-call(p),
    custom_call_target="f",
    metadata={op_name="jit(f)
 g"}
}""",
    "no root": """HloModule m

square {
  a = f32[] parameter(0)
  s = f32[] multiply(a, a)
}

ENTRY e {
  p = f32[8]{0} parameter(0)
  q = f32[8]{0} negate(p)
  r = f32[8]{0} map(q), dimensions={0}, to_apply=square
}""",
    "operands that are instructions": """HloModule m

ENTRY e {
  p = f32[8,4] parameter(0)
  ROOT r = f32[8,4] add(negate(p), f32[8,4] negate(f32[8,4] exponential(p))), metadata={op_name="add"}
}""",
    "operands that are instructions, beside others, marked, of packed types": """HloModule m

ENTRY %e {
  %p = s4[2]{0:E(4)} parameter(0)
  %two = s4[2]{0:E(4)} add(%p ,s4[2]{0:E(4)} constant({1, 2}))
  ROOT %r = s4[2]{0:E(4)} call(negate(%two)), to_apply={
    %q = s4[2]{0:E(4)} parameter(0)
    ROOT %n = s4[2]{0:E(4)} negate(%q)
  }
}""",
    "an operand with a space behind it": """HloModule m

ENTRY e {
  p = f32[8] parameter(0)
  q = f32[8] negate(p)
  ROOT r = f32[8] subtract(p ,q)
}""",
    "a number as an operand": """HloModule m

ENTRY e {
  p = s32[] parameter(0)
  ROOT r = s32[] subtract(p, s32[] constant(2))
}""",
    "an instruction as the one operand of a marked one": """HloModule m

ENTRY %e {
  %p = s32[] parameter(0)
  %t = (s32[]) tuple(negate(%p))
  ROOT %r = s32[] get-tuple-element(tuple(%p)), index=0
}""",
    "types with spaces and without": """HloModule m

ENTRY e {
  p = f32[ 8,  4] {0, 1 }parameter(0)
  q = f32 [8, 4]negate(p)
  pair = (f32[8, 4], f32[8,4])tuple (p, f32[8,4]q)
  ROOT r = f32[8,4] get-tuple-element((f32[8, 4], f32[8,4])pair), index=1
}""",
    "bodies where they are called": """HloModule m

ENTRY e {
  p = f32[8,4] parameter(0)
  zero = f32[] constant(0)
  s = reduce(p, zero), dimensions={0}, to_apply={
    a = f32[] parameter(0) b = f32[] parameter(1)
    ROOT c = add(a, b)
  }, metadata={op_name="sum"}
  n = f32[4] fusion(s), kind=kLoop, calls={ f = f32[4] parameter(0) ROOT g = call(f), to_apply={
      h = f32[4] parameter(0)
      ROOT i = negate(h) } }
  ROOT r = tuple(n, s)
}""",
    "types of windows": """HloModule m

max { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = maximum(x, y) }

ENTRY e {
  image = f32[2,9,8,6] parameter(0)
  kernel = f32[3,2,3,4] parameter(1)
  any = f32[<=8,4] parameter(2)
  b = compare(any, any), direction=LT
  c = convolution(image, kernel), feature_group_count=2, dim_labels=b01f_01io->bf01,
    window={size=3x2 stride=2x1 pad=1_1x0_0 rhs_dilate=1x2}
  low = bf16[] constant(-inf)
  w = reduce-window(c, low), window={size=1x1x2x2 stride=1x1x2x2 pad=0_0x0_0x1_0x0_0}, to_apply=max
  ROOT r = tuple(b, w)
}""",
    "types that follow": """HloModule m

half {
  a = f32[] parameter(0)
  ROOT h = multiply(a, a)
}

ENTRY e {
  p = f32[8,4]{1,0} parameter(0)
  q = f32[4,6]{1,0} parameter(1)
  n = negate(p)
  d = dot(n, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = transpose(d), dimensions={1,0}
  m = map(t), dimensions={0,1}, to_apply=half
  c = concatenate(m, m), dimensions={0}
  b = compare(t, t), direction=LT
  w = (f32[12,8], pred[6,8]) tuple(c, b)
  ROOT g = get-tuple-element(w), index=1
}""",
    "types in parentheses, some names marked": """HloModule m

ENTRY %e (p: f32[2,3], q: f32[2,3]) -> f32[2,3] {
  %p = f32[2,3]{1,0} parameter(0)
  %q = f32[2,3]{1,0} parameter(1)
  pair = (f32[2,3]{1,0}, f32[2,3]{1,0}) tuple(f32[2,3]{1,0} %p, f32[2,3]{1,0} q)
  x = f32[2,3]{1,0} get-tuple-element((f32[2,3]{1,0}, f32[2,3]{1,0}) pair), index=0
  // What is added.
  ROOT r = f32[2,3]{1,0} add(f32[2,3]{1,0} x, f32[2,3]{1,0} %q)
}""",
    "no ENTRY": """HloModule m

f {
  a = f32[] parameter(0)
  ROOT n = f32[] negate(a)
}

last {
  p = f32[8]{0} parameter(0)
  ROOT q = f32[8]{0} map(p), dimensions={0}, to_apply=f
}""",
}


@pytest.mark.parametrize("name", BY_HAND)
def test_text_that_was_written_by_hand_is_read_as_xla_reads_it(name):
    text = BY_HAND[name]
    ours = read_hlo(parse_hlo_text(text))
    printed = read_hlo(parse_hlo_text(hlo.hlo_module_from_text(text).to_string()))
    assert list(map(str, ours.graph)) == list(map(str, printed.graph))
    # Layouts that the text leaves out are XLA's to choose.
    left_out = {"layout"} if name == "types that follow" else set()
    for one, other in zip(ours.graph, printed.graph, strict=True):
        assert one.attributes == {key: text for key, text in other.attributes.items() if key not in left_out}


def test_of_text_that_was_written_by_hand_lines_are_those_of_the_file():
    module = parse_hlo_text(BY_HAND["braces in lines"])
    assert module.computations[module.entry].places == [11, 12]
    wrong = BY_HAND["braces in lines"].replace("to_apply=add", "to_apply=sub")
    with pytest.raises(HloError, match="line 12:1: expected a computation of this module, not sub"):
        parse_hlo_text(wrong)


def test_frames_whose_tables_were_left_out_are_none():
    text = BY_HAND["no head"].replace("negate(p)", 'negate(p), metadata={op_name="jit(f)/neg" stack_frame_id=10}')
    graph = read_hlo(parse_hlo_text(f"HloModule m\n{text}")).graph
    (negate,) = graph.find("negate")
    assert negate.line == 0
