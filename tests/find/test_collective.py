"""Exchanges between devices count in each turn of a loop, and an argument that is exchanged is told how to come in."""

from __future__ import annotations

import pytest

import jaxviz as jv

IN_A_LOOP = """\
HloModule jit_f, is_scheduled=true, num_partitions=4

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

turn {
  p = (s32[], f32[256]{0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[256]{0} get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  total = f32[256]{0} all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, to_apply=add, \
use_global_device_ids=true, metadata={op_name="jit(f)/while/body/psum"}
  ROOT r = (s32[], f32[256]{0}) tuple(next, total)
}

more {
  p = (s32[], f32[256]{0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(10)
  ROOT less = pred[] compare(i, n), direction=LT
}

ENTRY main {
  zero = s32[] constant(0)
  x = f32[256]{0} parameter(0), metadata={op_name="x"}
  start = (s32[], f32[256]{0}) tuple(zero, x)
  loop = (s32[], f32[256]{0}) while(start), condition=more, body=turn, backend_config={"known_trip_count":{"n":"10"}}
  ROOT y = f32[256]{0} get-tuple-element(loop), index=1
}
"""

GATHERED = """\
HloModule jit_f, is_scheduled=true, num_partitions=4

ENTRY main {
  a = f32[256,1024]{1,0} parameter(0), sharding={devices=[4,1]<=[4]}, metadata={op_name="a"}
  b = f32[256,1024]{1,0} parameter(1), sharding={devices=[4,1]<=[4]}, metadata={op_name="b"}
  moved = f32[256,1024]{1,0} copy(b)
  whole = f32[1024,1024]{1,0} all-gather(moved), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={0}, \
use_global_device_ids=true, metadata={op_name="jit(f)/dot_general"}
  ROOT y = f32[256,1024]{1,0} dot(a, whole), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
OTHER_ROWS = """\
HloModule jit_f, is_scheduled=true, num_partitions=4

ENTRY main {
  a = f32[256,1024]{1,0} parameter(0), sharding={devices=[4,1]<=[4]}, metadata={op_name="a"}
  b = f32[1024,256]{1,0} parameter(1), sharding={devices=[1,4]<=[4]}, metadata={op_name="b"}
  pieces = f32[4,256,256]{2,1,0} bitcast(b)
  moved = f32[4,256,256]{2,1,0} all-to-all(pieces), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={0}, \
metadata={op_name="jit(f)/add"}
  ROOT y = f32[256,1024]{1,0} add(a, moved)
}
"""
ALONE = OTHER_ROWS.replace("add(a, moved)", "exponential(moved)")
COMPUTED = GATHERED.replace("copy(b)", "exponential(b)")


def only(tmp_path, text):
    path = tmp_path / "module.txt"
    path.write_text(text)
    (finding,) = (one for one in jv.open(path).findings if one.kind == "collective")
    return finding


def test_in_a_loop_each_turn_counts(tmp_path):
    finding = only(tmp_path, IN_A_LOOP)
    assert finding.title == "all-reduce of 10.2 kB between devices, 10 times in each run"
    assert finding.figures == {"bytes": 10 * 256 * 4, "count": 1, "times": 10}
    assert "exchange once after the loop" in finding.remedy


@pytest.mark.parametrize(
    ("text", "comes", "needed", "spec"),
    [
        (GATHERED, "`b` comes in with dimension 0 in 4 parts", "needed whole", "PartitionSpec(), 4.19 MB on each"),
        (OTHER_ROWS, "`b` comes in with dimension 1 in 4 parts", "dimension 0 in 4 parts", "PartitionSpec(axis, None)"),
        (ALONE, "`b` comes in with dimension 1 in 4 parts", "dimension 0 in 4 parts", "with out_shardings"),
    ],
)
def test_an_argument_that_is_exchanged_is_told_how_it_should_come_in(tmp_path, text, comes, needed, spec):
    remedy = only(tmp_path, text).remedy
    assert comes in remedy
    assert needed in remedy
    assert spec in remedy


def test_the_result_is_spoken_of_only_where_it_is_of_that_argument_alone(tmp_path):
    assert "out_shardings" not in only(tmp_path, OTHER_ROWS).remedy


def test_what_is_computed_first_gets_the_general_remedy(tmp_path):
    assert "jax.lax.with_sharding_constraint" in only(tmp_path, COMPUTED).remedy


def test_what_a_device_tells_itself_is_no_finding(tmp_path):
    path = tmp_path / "module.txt"
    path.write_text(OTHER_ROWS.replace("{{0,1,2,3}}", "{{0},{1},{2},{3}}"))
    assert [one for one in jv.open(path).findings if one.kind == "collective"] == []


@pytest.mark.parametrize(
    ("start", "done", "size"),
    [
        ("(f32[8,4], f32[32,4]) all-gather-start(x), replica_groups={{0,1,2,3}}, dimensions={0}", "f32[32,4]", 512),
        ("f32[8,4] all-reduce-start(x), replica_groups={{0,1,2,3}}, to_apply=add", "f32[8,4]", 128),
        (
            "(f32[8,4], f32[8,4], u32[], u32[]) collective-permute-start(x), source_target_pairs={{0,1},{1,0}}",
            "f32[8,4]",
            128,
        ),
    ],
)
def test_one_that_runs_beside_other_work_has_the_bytes_that_it_gives_when_it_is_done(tmp_path, start, done, size):
    kind = start.split("-start(")[0].split()[-1]
    path = tmp_path / "beside.hlo"
    path.write_text(
        "HloModule m, num_partitions=4\n\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
        "  ROOT c = f32[] add(a, b)\n}\n\nENTRY main {\n  x = f32[8,4] parameter(0)\n"
        f"  s = {start}, channel_id=1\n  ROOT d = {done} {kind}-done(s)\n}}\n"
    )
    (finding,) = [one for one in jv.open(path).findings if one.kind == "collective"]
    assert finding.title == f"{kind} of {size} B between devices"


FOR_A_RESULT = """\
HloModule jit_f, is_scheduled=true, num_partitions=4

ENTRY main {
  x = f32[16,256]{1,0} parameter(0), sharding={devices=[4,1]<=[4]}, metadata={op_name="x"}
  y = f32[16,256]{1,0} tanh(x), metadata={op_name="jit(f)/tanh"}
  ROOT whole = f32[64,256]{1,0} all-gather(y), channel_id=1, replica_groups=[1,4]<=[4], dimensions={0}, \
use_global_device_ids=true, metadata={op_name="jit(f)/tanh"}
}
"""


def test_what_is_gathered_for_a_result_alone_is_told_by_out_shardings(tmp_path):
    finding = only(tmp_path, FOR_A_RESULT)
    assert finding.figures["bytes"] == 64 * 256 * 4
    assert "to lie whole on each device, as out_shardings of jax.jit asks" in finding.text
    read_too = FOR_A_RESULT.replace("ROOT whole", "whole").replace(
        "\n}", "\n  ROOT z = f32[64,256]{1,0} tanh(whole)\n}"
    )
    assert "out_shardings of jax.jit asks" not in only(tmp_path, read_too).text
