"""FLOPs and bytes by our own rules: they add up to what XLA says of whole programs, and stand where they belong."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from measure.readers import needs_reader
from programs import CORPUS

import jaxviz as jv
from jaxviz.costs.cost import Cost, cost_of
from jaxviz.costs.kernels import trip_counts
from jaxviz.measure.profiled import Kernel
from jaxviz.measure.roofline import Ceilings, ceilings_of, changes_in_place
from jaxviz.read.hlo.graph import read_hlo
from jaxviz.read.hlo.text import parse_hlo_text
from jaxviz.units import bytes_text

# Custom calls of LAPACK, of which XLA knows nothing either, but for their arrays.
_WITHOUT = {"linear_algebra"}


def as_xla_counts(cost: Cost, amounts):
    """The whole: of the branches of a condition only the most costly counts."""
    graph = cost.graph
    totals = np.bincount(graph.nodes.region, amounts, len(graph.regions.owner))
    branches: dict[int, list[float]] = {}
    for region in range(len(totals) - 1, 0, -1):
        owner = int(graph.regions.owner[region])
        if graph.node(owner).op == "conditional":
            branches.setdefault(owner, []).append(totals[region])
            if len(branches[owner]) == len(graph.owned_regions[owner]):
                totals[graph.nodes.region[owner]] += max(branches[owner])
        else:
            totals[graph.nodes.region[owner]] += totals[region]
    return float(totals[0])


def analysis_of(function, arguments):
    analysis = jax.jit(function).lower(*arguments).compile().cost_analysis()
    return analysis[0] if isinstance(analysis, list) else analysis


@pytest.mark.parametrize("name", sorted(set(CORPUS) - _WITHOUT))
def test_the_totals_are_those_of_xla(name):
    function, arguments = CORPUS[name]()
    cost = cost_of(jv.explore(function, *arguments).hlo)
    analysis = analysis_of(function, arguments)
    flops = as_xla_counts(cost, cost.kernel_flops)
    transcendentals = as_xla_counts(cost, cost.kernel_transcendentals)
    moved = as_xla_counts(cost, cost.kernel_bytes)
    assert flops == pytest.approx(analysis.get("flops", 0), rel=0.02)
    assert transcendentals == pytest.approx(analysis.get("transcendentals", 0), rel=0.01)
    assert moved == pytest.approx(analysis["bytes accessed"], rel=0.12)


CASES = {
    "batched": (lambda a, b: jnp.einsum("bij,bjk->bik", a, b), [(3, 4, 5), (3, 5, 6)], 2 * 3 * 4 * 5 * 6),
    "strided": (
        lambda x, k: lax.conv_general_dilated(x, k, (2, 2), "VALID"),
        [(1, 3, 9, 9), (4, 3, 3, 3)],
        2 * 4 * 4 * 4 * 3 * 3 * 3,
    ),
    "grouped": (
        lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "VALID", feature_group_count=2),
        [(1, 4, 5, 5), (6, 2, 3, 3)],
        2 * 6 * 3 * 3 * 2 * 3 * 3,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_matmuls_and_convolutions_by_their_shapes(name):
    function, shapes, expected = CASES[name]
    graph = jv.explore(function, *(jnp.ones(shape) for shape in shapes)).hlo
    assert cost_of(graph).kernel_flops.sum() == pytest.approx(expected, rel=0.05)


def test_a_kernel_has_what_is_inside_of_it_and_reads_only_its_operands():
    ex = jv.explore(lambda x: jnp.sin(x) * 2.0 + 1.0, jnp.ones(1000))
    cost = cost_of(ex.hlo)
    (fusion,) = [node.index for node in ex.hlo.find("fusion")]
    assert cost.kernel_flops[fusion] == 2000
    assert cost.kernel_transcendentals[fusion] == 1000
    assert cost.kernel_bytes[fusion] == 8000
    inside = cost.fused
    assert inside.sum() > 0
    assert not cost.kernel_flops[inside].any()
    assert (cost.kernel_of[inside] == fusion).all()


@pytest.mark.parametrize("function", [lambda x: jnp.sort(x), lambda x: jnp.sort((x * 8).astype(jnp.int32))])
def test_how_a_sort_compares_is_part_of_the_sort(function):
    graph = jv.explore(function, jnp.ones(64)).hlo
    cost = cost_of(graph)
    bodies = [
        region
        for region in range(1, len(graph.regions.owner))
        if graph.node(int(graph.regions.owner[region])).op not in ("while", "call", "conditional")
    ]
    assert bodies
    inside = np.isin(graph.nodes.region, bodies)
    assert cost.fused[inside].all()
    # What compares two numbers reads nothing from memory, and is counted with the sort.
    assert not cost.kernel_bytes[inside].any()
    assert not cost.kernel_flops[inside].any()
    sorts = [node.index for node in graph.find("sort")]
    assert [cost.kernel_flops[node] for node in sorts] == [64 * 6] * len(sorts)


SLICED = """HloModule m
ENTRY e {
  x = f32[1000,8] parameter(0)
  u = f32[1,8] parameter(1)
  i = s32[] parameter(2)
  z = s32[] constant(0)
  s = f32[1,8] dynamic-slice(x, i, z), dynamic_slice_sizes={1,8}
  ROOT d = f32[1000,8] dynamic-update-slice(x, u, i, z)
}
"""


def test_a_slice_of_a_large_array_moves_the_slice_alone():
    read = read_hlo(parse_hlo_text(SLICED))
    cost = cost_of(read.graph)
    (s,), (d,) = read.node_of["s"], read.node_of["d"]
    assert cost.bytes[s] == 2 * 32 + 8
    assert cost.bytes[d] == 2 * 32 + 8


def test_loops_say_how_often_they_turn():
    def f(x):
        return lax.fori_loop(0, 5, lambda _, y: lax.fori_loop(0, 7, lambda _, z: jnp.sin(z @ z), y), x)

    graph = jv.explore(f, jnp.ones((40, 40))).hlo
    counts = trip_counts(graph)
    assert {float(counts[node.index]) for node in graph.find("dot")} == {35.0}
    assert counts[[node.index for node in graph if node.region == 0]].max() == 1.0


def test_ceilings_are_measured_once():
    device = jax.devices()[0]
    found = ceilings_of(device)
    assert found.flops > 1e8
    assert found.bytes > 1e7
    assert ceilings_of(device) is found


def test_what_limits_a_kernel():
    ceilings = Ceilings(flops=1e12, bytes=1e10)
    assert ceilings.ridge == 100
    assert ceilings.bound(1e9, 1e6, 2e-3) == ("compute", pytest.approx(0.5))
    assert ceilings.bound(1e6, 1e7, 4e-3) == ("memory", pytest.approx(0.25))
    assert ceilings.bound(1e3, 1e3, 1e-7) == ("neither", 0.0)
    assert ceilings.bound(0, 0, 1.0) == ("neither", 0.0)
    # A share above all there is was never reached: the data are in a cache, or the ceiling was measured too low.
    assert ceilings.bound(1e6, 1e7, 1e-4) == ("cache", pytest.approx(10))
    assert ceilings.bound(1e6, 1.05e7, 1e-3) == ("memory", 1.0)
    assert ceilings.bound(3e9, 1e6, 2e-3) == ("compute", 1.0)
    # Nor is said to be limited by memory what hardly moves any.
    assert ceilings.bound(1e6, 1e7, 1.0) == ("neither", pytest.approx(1e-3))


def test_a_kernel_says_in_words_what_limits_it():
    def kernel(bound, reached):
        return str(Kernel("k", 1e-3, 1.0, 1.0, bound, reached, 0))

    assert kernel("memory", 0.8) == "k: 1 ms, memory-bound at 80 %"
    assert kernel("cache", 8.0) == "k: 1 ms, faster than memory: its data come from caches"
    assert kernel("neither", 0.001) == "k: 1 ms"


def test_the_ceiling_of_memory_is_not_that_of_the_system_giving_it():
    values = jnp.zeros(1024)
    place = values.unsafe_buffer_pointer()
    changed = changes_in_place()(values)
    assert values.is_deleted()
    assert changed.unsafe_buffer_pointer() == place
    assert changed[0] == 1.0


def test_no_kernel_is_above_the_ceiling_of_computing():
    found = Ceilings(1e9, 1e9).with_seen([1e6, 8e6, 1.0], [1e-3, 1e-3, 1e-9])
    assert found == Ceilings(8e9, 1e9)
    assert Ceilings(1e10, 1e9).with_seen([8e6], [1e-3]).flops == 1e10


def test_what_waits_for_others_or_is_not_known_is_not_limited_by_the_device():
    read = read_hlo(parse_hlo_text(LIBRARIES))
    limited = cost_of(read.graph).limited
    names = {name: bool(limited[node]) for node, name in enumerate(read.instruction) if name}
    assert not names["sum"]
    assert not names["values"]
    assert names["product"]
    assert names["twice"]


def test_libraries_compute_what_the_operation_does_that_they_stand_for():
    """Each beside the plain operation that it was made from, which XLA counts."""
    read = read_hlo(parse_hlo_text(LIBRARIES))
    cost = cost_of(read.graph)
    node = {name: at for at, name in enumerate(read.instruction) if name}

    def flops(function, *shapes):
        arguments = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
        return jax.jit(function).lower(*arguments).cost_analysis()["flops"]

    assert cost.flops[node["product"]] == flops(jnp.matmul, (128, 64), (64, 256))
    assert cost.flops[node["batched"]] == flops(lambda x, y: jnp.einsum("bki,bkj->bij", x, y), (4, 64, 32), (4, 64, 16))

    def convolved(x, w):
        return lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    forward = flops(convolved, (2, 28, 28, 16), (3, 3, 16, 32))
    assert cost.flops[node["forward"]] == forward
    # What is handed back meets the same pairs.
    assert cost.flops[node["to_image"]] == forward
    assert cost.flops[node["to_kernel"]] == forward
    # What a library works in is not read or written as a whole.
    assert cost.bytes[node["product"]] == 4 * (128 * 64 + 64 * 256 + 128 * 256)


_GEMM = '{"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"]}}}'
_WINDOW = "window={size=3x3 stride=2x2 pad=0_1x0_1}, dim_labels=b01f_01io->b01f"

# What the compiler for a GPU leaves to libraries: each gives its result, and the memory that it works in.
LIBRARIES = f"""HloModule m

add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}}

ENTRY e {{
  x = f32[128,64]{{1,0}} parameter(0)
  y = f32[64,256]{{1,0}} parameter(1)
  left = f32[4,64,32]{{2,1,0}} parameter(2)
  right = f32[4,64,16]{{2,1,0}} parameter(3)
  image = f32[2,28,28,16]{{3,2,1,0}} parameter(4)
  kernel = f32[3,3,16,32]{{3,2,1,0}} parameter(5)
  change = f32[2,14,14,32]{{3,2,1,0}} parameter(6)
  square = f32[64,64]{{1,0}} parameter(7)
  product = (f32[128,256]{{1,0}}, s8[4194304]{{0}}) custom-call(x, y), custom_call_target="__cublas$gemm", \
backend_config={_GEMM}
  batched = (f32[4,32,16]{{2,1,0}}, s8[64]{{0}}) custom-call(left, right), custom_call_target="__cublas$lt$matmul", \
backend_config={_GEMM}
  forward = (f32[2,14,14,32]{{3,2,1,0}}, u8[0]{{0}}) custom-call(image, kernel), \
{_WINDOW}, custom_call_target="__cudnn$convForward"
  to_image = (f32[2,28,28,16]{{3,2,1,0}}, u8[0]{{0}}) custom-call(change, kernel), \
{_WINDOW}, custom_call_target="__cudnn$convBackwardInput"
  to_kernel = (f32[3,3,16,32]{{3,2,1,0}}, u8[0]{{0}}) custom-call(image, change), \
{_WINDOW}, custom_call_target="__cudnn$convBackwardFilter"
  values = (f32[64]{{0}}, s32[]) custom-call(square), custom_call_target="lapack_ssyevd_ffi"
  sum = f32[64,64]{{1,0}} all-reduce(square), replica_groups={{{{0,1}}}}, to_apply=add
  ROOT twice = f32[64,64]{{1,0}} add(sum, square)
}}
"""


def test_numbers_of_bytes_have_units_for_all_sizes():
    assert [bytes_text(size) for size in (12, 3.4e12, 1.2e15)] == ["12 B", "3.4 TB", "1.2 PB"]


@needs_reader
def test_a_run_says_what_limits_its_kernels():
    ex = jv.explore(lambda x, y: (jnp.sin(x @ x), y + 1.0), jnp.ones((1024, 1024)), jnp.ones(4_000_000))
    profile = ex.run(repeat=2).profile
    assert profile is not None
    kernels = {kernel.name: kernel for kernel in profile.kernels()}
    most = max(kernels.values(), key=lambda kernel: kernel.flops)
    least = min((one for one in kernels.values() if one.bytes > 1e7), key=lambda one: one.intensity)
    assert most.bound == "compute"
    assert most.flops == pytest.approx(2 * 1024**3, rel=0.01)
    # On some machines, all of it lies in a cache.
    assert least.bound in ("memory", "cache")
    assert re.search("memory-bound at|faster than memory", str(least))
    assert all(
        kernel.flops <= 1.001 * profile.ceilings.flops * kernel.seconds
        for kernel in kernels.values()
        if kernel.seconds > 1e-5
    )
    assert profile.least > 0
    document = ex.document().measures[0].measures
    assert document.ceilings["flops"] == pytest.approx(profile.ceilings.flops, rel=1e-3)
