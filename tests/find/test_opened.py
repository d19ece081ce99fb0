"""In optimized HLO alone, as a file holds it, what needs nothing else is found too."""

from __future__ import annotations

import pytest

import jaxviz as jv

COLLECTIVES = """\
HloModule jit_f, is_scheduled=true, num_partitions=4

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY main {
  x = f32[256,1024]{1,0} parameter(0), metadata={op_name="x"}
  whole = f32[1024,1024]{1,0} all-gather(x), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={0}, \
use_global_device_ids=true, metadata={op_name="jit(f)/dot_general"}
  ROOT total = f32[1024,1024]{1,0} all-reduce(whole), channel_id=2, replica_groups={{0,1,2,3}}, to_apply=add, \
use_global_device_ids=true, metadata={op_name="jit(f)/psum"}
}
"""

APART = """\
HloModule jit_f, is_scheduled=true

first {
  p = f32[1024,1024]{1,0} parameter(0)
  ROOT e = f32[1024,1024]{1,0} exponential(p)
}

second {
  p = f32[1024,1024]{1,0} parameter(0)
  ROOT e = f32[1024,1024]{1,0} add(p, p)
}

third {
  p = f32[1024,1024]{1,0} parameter(0)
  ROOT e = f32[1024,1024]{1,0} multiply(p, p)
}

ENTRY main {
  x = f32[1024,1024]{1,0} parameter(0)
  once = f32[1024,1024]{1,0} fusion(x), kind=kLoop, calls=first
  sum = f32[1024,1024]{1,0} fusion(once), kind=kLoop, calls=second
  square = f32[1024,1024]{1,0} fusion(once), kind=kLoop, calls=third
  ROOT both = (f32[1024,1024]{1,0}, f32[1024,1024]{1,0}) tuple(sum, square)
}
"""
LIBRARY = APART.replace("exponential(p)", "dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}")
COPIED = APART.replace("multiply(p, p)", "copy(p)").replace("add(p, p)", "copy(p)")
CALLED = APART.replace(
    "ENTRY main",
    """apart {
  once = f32[1024,1024]{1,0} parameter(0)
  sum = f32[1024,1024]{1,0} fusion(once), kind=kLoop, calls=second
  square = f32[1024,1024]{1,0} fusion(once), kind=kLoop, calls=third
  ROOT both = (f32[1024,1024]{1,0}, f32[1024,1024]{1,0}) tuple(sum, square)
}

ENTRY main""",
)
CALLED = (
    CALLED[: CALLED.index("  sum =", CALLED.index("ENTRY"))]
    + "  ROOT both = (f32[1024,1024]{1,0}, f32[1024,1024]{1,0}) call(once), to_apply=apart\n}\n"
)
SMALL = APART.replace("1024,1024", "16,16")


def opened(tmp_path, text):
    path = tmp_path / "module.txt"
    path.write_text(text)
    return jv.open(path)


def test_collectives_with_bytes_and_whether_the_program_names_them(tmp_path):
    gather, reduce = sorted(opened(tmp_path, COLLECTIVES).findings, key=lambda one: one.title)
    assert gather.title.startswith("all-gather of 4.19 MB")
    assert gather.severity == "advice"
    assert "XLA put it in" in gather.text
    assert reduce.title.startswith("all-reduce of 4.19 MB")
    assert reduce.severity == "note"
    assert "The program asks for it" in reduce.text


def test_large_values_between_kernels(tmp_path):
    found = opened(tmp_path, APART)
    (finding,) = found.findings
    assert finding.kind == "unfused"
    assert "2 kernels read it" in finding.text
    assert finding.figures["bytes"] == 1024 * 1024 * 4
    # One is read once and written once, by each of three kernels; the one between them three times in all.
    assert finding.figures["traffic"] == 6 * 1024 * 1024 * 4
    assert found.document().findings[0].finding.title == finding.title


def test_what_a_call_is_given_is_read_by_the_kernels_in_it(tmp_path):
    (finding,) = opened(tmp_path, CALLED).findings
    assert "2 kernels read it" in finding.text


def test_a_copy_for_layout_is_the_fact_where_a_kernel_does_nothing_else(tmp_path):
    (finding,) = opened(
        tmp_path, COPIED.replace("e = f32[1024,1024]{1,0} copy", "e = f32[1024,1024]{0,1} copy")
    ).findings
    assert "once (4.19 MB): a copy for layout" in finding.text


def test_a_copy_that_changes_no_layout_is_not_called_one_for_layout(tmp_path):
    turned = COPIED.replace("{1,0}", "{0,1}")
    from_elsewhere = COPIED.replace("p = f32[1024,1024]{1,0}", "p = f32[1024,1024]{1,0:S(1)}")
    assert len({COPIED, turned, from_elsewhere}) == 3
    for text in (COPIED, turned, from_elsewhere):
        (finding,) = opened(tmp_path, text).findings
        assert "once (4.19 MB): a copy that XLA put in" in finding.text


def test_a_copy_says_what_layout_it_gives(tmp_path):
    changed = COPIED.replace("e = f32[1024,1024]{1,0} copy", "e = f32[1024,1024]{0,1} copy")
    assert [node.attributes["layout"] for node in opened(tmp_path, changed).hlo.find("copy")] == [
        "{0,1} from {1,0}"
    ] * 2
    assert not any("layout" in node.attributes for node in opened(tmp_path, COPIED).hlo.find("copy"))


RENAMED = APART.replace(
    "  sum = f32[1024,1024]{1,0} fusion(once)",
    "  same = f32[1024,1024]{1,0} bitcast(once)\n  sum = f32[1024,1024]{1,0} fusion(same)",
)


def test_a_value_that_is_read_under_another_name(tmp_path):
    (finding,) = opened(tmp_path, RENAMED).findings
    assert "once (4.19 MB): 2 kernels read it" in finding.text


FETCHED = """\
HloModule jit_f, is_scheduled=true

ENTRY main {
  x = f32[1024,1024]{1,0} parameter(0), metadata={op_name="x"}
  start = (f32[1024,1024]{1,0:S(1)}, f32[1024,1024]{1,0}, u32[]) copy-start(x)
  done = f32[1024,1024]{1,0:S(1)} copy-done(start)
  ROOT y = f32[1024,1024]{1,0} exponential(done)
}
"""


def test_what_is_brought_into_fast_memory_beforehand_is_not_written_between_kernels(tmp_path):
    file = opened(tmp_path, FETCHED)
    assert file.findings == ()


def test_what_is_brought_into_fast_memory_is_read_once(tmp_path):
    kernels = {kernel.name: (kernel.bytes_in, kernel.bytes_out) for kernel in opened(tmp_path, FETCHED).kernels}
    size = 4 * 1024 * 1024
    assert kernels == {"start": (0, 0), "done": (0, 0), "y": (size, size)}


@pytest.mark.parametrize("text", [LIBRARY, SMALL])
def test_what_must_be_in_memory_or_is_small_is_left_alone(tmp_path, text):
    assert opened(tmp_path, text).findings == ()


REPLICATED = """\
HloModule jit_step, is_scheduled=true, num_partitions=4

ENTRY main {
  w = f32[8192,8192]{1,0} parameter(0), sharding={replicated}, metadata={op_name="w"}
  x = f32[256,8192]{1,0} parameter(1), sharding={devices=[4,1]<=[4]}, metadata={op_name="x"}
  ROOT y = f32[256,8192]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
ON_ONE_DEVICE = REPLICATED.replace("sharding={devices=[4,1]<=[4]}, ", "")


def test_large_arguments_that_are_whole_on_each_device(tmp_path):
    (finding,) = opened(tmp_path, REPLICATED).findings
    assert finding.title == "268 MB of arguments lie whole on each device"
    assert finding.figures == {"bytes": 8192 * 8192 * 4, "arguments": 1, "parts": 4}
    assert "`w` (268 MB)" in finding.text


@pytest.mark.parametrize("text", [ON_ONE_DEVICE, REPLICATED.replace("8192", "512")])
def test_small_arguments_and_programs_of_one_device_are_left_alone(tmp_path, text):
    assert opened(tmp_path, text).findings == ()


ALL_WHOLE = REPLICATED.replace("devices=[4,1]<=[4]", "replicated")


def test_devices_that_all_compute_the_same(tmp_path):
    (finding,) = opened(tmp_path, ALL_WHOLE).findings
    assert finding.title == "all 4 devices compute the same"
    assert finding.figures == {"bytes": (8192 + 256) * 8192 * 4, "arguments": 2, "devices": 4}


@pytest.mark.parametrize(
    "text",
    [
        ALL_WHOLE.replace(", num_partitions=4", ""),
        ALL_WHOLE.replace("8192", "512"),
        # One that takes its part by itself, and one that shares no work.
        ALL_WHOLE.replace("  ROOT", "  number = u32[] partition-id()\n  ROOT"),
        ALL_WHOLE.replace("dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "negate(x)"),
    ],
)
def test_devices_that_do_not_compute_the_same_or_have_nothing_to_share(tmp_path, text):
    assert not [one for one in opened(tmp_path, text).findings if one.kind == "replicated"]


# Each argument in pieces, and what is computed of them too.
IN_PIECES = REPLICATED.replace("sharding={replicated}", "sharding={devices=[1,4]<=[4]}")
# What is read twice is read by one kernel.
ONE_KERNEL = """\
HloModule jit_f, is_scheduled=true

only {
  p = f32[1024,1024]{1,0} parameter(0)
  e = f32[1024,1024]{1,0} exponential(p)
  s = f32[1024,1024]{1,0} add(e, e)
  ROOT m = f32[1024,1024]{1,0} multiply(s, e)
}

ENTRY main {
  x = f32[1024,1024]{1,0} parameter(0)
  ROOT y = f32[1024,1024]{1,0} fusion(x), kind=kLoop, calls=only
}
"""
INNOCENT = {
    "collective": [APART, LIBRARY, SMALL, REPLICATED, ON_ONE_DEVICE, IN_PIECES],
    "replicated": [APART, COLLECTIVES, ON_ONE_DEVICE, IN_PIECES, ONE_KERNEL],
    "unfused": [LIBRARY, SMALL, COLLECTIVES, REPLICATED, IN_PIECES, ONE_KERNEL],
}


@pytest.mark.parametrize(
    ("kind", "number"), [(kind, number) for kind, texts in INNOCENT.items() for number in range(len(texts))]
)
def test_modules_that_have_nothing_of_the_kind_are_left_alone(tmp_path, kind, number):
    assert [one for one in opened(tmp_path, INNOCENT[kind][number]).findings if one.kind == kind] == []


def test_a_file_cannot_be_rebuilt(tmp_path):
    with pytest.raises(ValueError, match="not a function"):
        opened(tmp_path, APART).rebuild()


OUTLINED = """\
HloModule jit_f, is_scheduled=true

outlined {
  p = f32[1024,1024]{1,0} parameter(0)
  ROOT t = f32[1024,1024]{1,0} tanh(p)
}

ENTRY main {
  x = f32[1024,1024]{1,0} parameter(0)
  y = f32[1024,1024]{1,0} call(x), to_apply=outlined
  e = f32[1024,1024]{1,0} exponential(y)
  s = f32[1024,1024]{1,0} sine(y)
  ROOT both = (f32[1024,1024]{1,0}, f32[1024,1024]{1,0}) tuple(e, s)
}
"""


def test_what_a_call_gives_is_read_by_the_kernels_after_it(tmp_path):
    (value,) = opened(tmp_path, OUTLINED).between_kernels
    assert (value.name, len(value.readers), value.fact) == ("t", 2, "2 kernels read it")
