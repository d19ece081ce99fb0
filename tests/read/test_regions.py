"""What each kind of region looks like: its name, its arguments and results, and how values cross its border."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from jaxviz.graph import BINDING_KINDS
from jaxviz.outline import make_outline
from jaxviz.read.jaxpr import read_jaxpr

X = jnp.arange(8.0)


def read(function, *arguments):
    return read_jaxpr(jax.jit(function).trace(*arguments).jaxpr)


def bindings(graph):
    """Bindings as (kind, from, to): values as `op.output` of their node, others as `region kind number`."""

    def value(index):
        if index < 0:
            return graph.source_text(index)
        node = graph.node(int(graph.value_node[index]))
        return f"{node.name if node.kind == 'argument' else node.op}.{node.values.index(index)}"

    def border(index):
        node = graph.node(index)
        same = [other.index for other in graph if other.region == node.region and other.kind == node.kind]
        region = graph.region(node.region)
        name = region.name if region.kind == "branch" else region.kind
        return f"{name} {node.kind} {same.index(index)}"

    found = []
    for kind, source, target in zip(
        graph.bindings.kind.tolist(), graph.bindings.start.tolist(), graph.bindings.end.tolist(), strict=True
    ):
        word = BINDING_KINDS[kind]
        origin = border(source) if word in ("leave", "stack", "carry") else value(source)
        found.append((word, origin, value(target) if word in ("leave", "stack") else border(target)))
    return found


@pytest.mark.smoke
def test_a_jitted_call_is_entered_and_left():
    @jax.jit
    def inner(a, b):
        return a * b, a + 1.0

    graph = read(lambda x, y: inner(x, y)[0], X, X)
    assert bindings(graph) == [
        ("enter", "x.0", "jit argument 0"),
        ("enter", "y.0", "jit argument 1"),
        ("leave", "jit result 0", "jit.0"),
        ("leave", "jit result 1", "jit.1"),
    ] or bindings(graph)[-1][2].startswith("pjit")
    (owner,) = [node for node in graph if node.regions]
    assert owner.name == "inner"
    assert graph.region(1).kind == "jit"
    assert graph.region(1).name == "inner"
    assert [node.op for node in graph if node.region == 1] == ["argument", "argument", "mul", "add", "result", "result"]


@pytest.mark.smoke
def test_a_literal_may_enter():
    inner = jax.jit(lambda a, b: a * b)
    graph = read(lambda x: inner(x, jnp.float32(3.0)), X)
    assert {start for kind, start, _ in bindings(graph) if kind == "enter"} == {"x.0", "3.0"}


@pytest.mark.smoke
def test_a_scan_carries_slices_and_stacks():
    def f(w, init, xs):
        def body(carry, x):
            total = carry + x * w
            return total, total * 2

        return lax.scan(body, init, xs)

    graph = read(f, jnp.float32(2.0), jnp.float32(0.0), X)
    assert bindings(graph) == [
        ("enter", "w.0", "scan argument 0"),
        ("init", "init.0", "scan argument 1"),
        ("slice", "xs.0", "scan argument 2"),
        ("carry", "scan result 0", "scan argument 1"),
        ("leave", "scan result 0", "scan.0"),
        ("stack", "scan result 1", "scan.1"),
    ]
    (scan,) = graph.find("scan")
    assert scan.attributes["length"] == "8"
    assert graph.region(1).name == "body"


@pytest.mark.smoke
def test_a_while_loop_carries_into_condition_and_body():
    def f(limit, step, x):
        return lax.while_loop(lambda c: c < limit, lambda c: c + step, x)

    graph = read(f, jnp.float32(5.0), jnp.float32(1.0), jnp.float32(0.0))
    assert bindings(graph) == [
        ("enter", "limit.0", "while cond argument 0"),
        ("enter", "step.0", "while body argument 0"),
        ("init", "x.0", "while cond argument 1"),
        ("init", "x.0", "while body argument 1"),
        ("carry", "while body result 0", "while cond argument 1"),
        ("carry", "while body result 0", "while body argument 1"),
        ("leave", "while body result 0", "while.0"),
    ]


@pytest.mark.smoke
def test_branches_are_named_by_their_condition():
    graph = read(lambda p, x: lax.cond(p, lambda x: x + 1, lambda x: x * 2, x), True, X)
    assert [graph.region(number).name for number in (1, 2)] == ["if false", "if true"]
    assert [node.op for node in graph if node.region == 1 and node.kind == "operation"] == ["mul"]
    assert bindings(graph) == [
        ("enter", "x.0", "if false argument 0"),
        ("leave", "if false result 0", "cond.0"),
        ("enter", "x.0", "if true argument 0"),
        ("leave", "if true result 0", "cond.0"),
    ]


def test_cases_are_numbered():
    graph = read(lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tan], x), jnp.int32(1), X)
    assert [graph.region(number).name for number in (1, 2, 3)] == ["case 0", "case 1", "case 2"]


def test_of_a_custom_rule_only_the_function_itself_is_a_region():
    @jax.custom_vjp
    def clip(x):
        return jnp.minimum(x, 1.0)

    clip.defvjp(lambda x: (clip(x), x), lambda x, g: (g * (x < 1),))
    graph = read(clip, X)
    assert (graph.region(1).kind, graph.region(1).name) == ("custom_vjp", "clip")
    assert [kind for kind, _, _ in bindings(graph)][:1] == ["enter"]
    (owner,) = [node for node in graph if node.region == 0 and node.regions]
    assert len(owner.regions) == 1

    relu = read(jax.nn.relu, X)
    assert "custom_jvp" in [relu.region(number).kind for number in range(len(relu.regions.owner))]


def test_a_checkpoint_is_a_remat_region():
    graph = read(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x))), X)
    assert graph.region(1).kind == "remat"
    assert [kind for kind, _, _ in bindings(graph)] == ["enter", "leave"]


def test_a_combiner_of_a_scatter_is_a_region_that_exchanges_nothing():
    graph = read(lambda x, i: x.at[i].add(1.0), X, jnp.array([1, 2]))
    (scatter,) = graph.find("scatter-add")
    assert graph.region(scatter.regions[0]).kind == "update"
    assert not [b for b in bindings(graph) if "update" in b[1] or "update" in b[2]]


def test_a_linear_solve_names_its_four_functions():
    graph = read(lambda a, b: jax.scipy.linalg.solve(a, b), jnp.eye(4), jnp.ones(4))
    names = [graph.region(n).name for n in range(len(graph.regions.owner)) if graph.region(n).kind == "linear_solve"]
    assert names == ["matvec", "vecmat", "solve", "transpose_solve"]


def test_a_shard_map_slices_what_is_split_over_devices():
    shard_map = getattr(jax, "shard_map", None)
    if shard_map is None:
        pytest.skip("jax.shard_map is public from 0.7 on")
    mesh = jax.sharding.AbstractMesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    split, whole = jax.sharding.PartitionSpec("i"), jax.sharding.PartitionSpec()

    def scaled(x, factor):
        return x * factor, factor + 1.0

    mapped = shard_map(scaled, mesh=mesh, in_specs=(split, whole), out_specs=(split, whole))
    graph = read(mapped, X, jnp.float32(2.0))
    assert graph.region(1).kind == "shard_map"
    assert bindings(graph) == [
        ("slice", "x.0", "shard_map argument 0"),
        ("enter", "factor.0", "shard_map argument 1"),
        ("stack", "shard_map result 0", "shard_map.0"),
        ("leave", "shard_map result 1", "shard_map.1"),
    ]


@pytest.mark.smoke
def test_what_is_given_to_the_body_of_a_pmap_has_no_name_of_jax():
    graph = read_jaxpr(jax.make_jaxpr(jax.pmap(lambda p, x: p * x))(jnp.ones((1, 2)), jnp.ones((1, 2))))
    assert not [name for name in graph.tables.strings if "flat_args" in name]


def test_a_kernel_gives_what_its_outputs_hold_at_the_end():
    pallas = pytest.importorskip("jax.experimental.pallas")

    def add_one(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1.0

    def f(x):
        return pallas.pallas_call(add_one, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=True)(x)

    graph = read(f, X)
    (region,) = [graph.region(n) for n in range(len(graph.regions.owner)) if graph.region(n).kind == "pallas_call"]
    assert region.name == "add_one"
    names = [node.name for node in graph if node.region == region.index and node.kind == "argument"]
    assert names == ["x_ref", "o_ref"]
    assert ("enter", "x.0", "pallas_call argument 0") in bindings(graph)
    assert ("leave", "pallas_call result 0", "pallas_call.0") in bindings(graph)


def test_the_index_maps_of_a_kernel_are_regions_too():
    pallas = pytest.importorskip("jax.experimental.pallas")

    def double(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2.0

    def f(x):
        return pallas.pallas_call(
            double,
            out_shape=jax.ShapeDtypeStruct((16,), jnp.float32),
            grid=(4,),
            in_specs=[pallas.BlockSpec((4,), lambda i: (3 - i,))],
            out_specs=pallas.BlockSpec((4,), lambda i: (i,)),
            interpret=True,
        )(x)

    graph = read(f, jnp.ones(16))
    regions = [graph.region(number) for number in range(1, len(graph.regions.owner))]
    assert [region.kind for region in regions] == ["pallas_call", "index map", "index map"]
    assert [node.op for node in graph if node.region == regions[1].index and node.kind == "operation"] == ["sub"]
    # They say which block a turn works on, and are no part of what is computed.
    outline = make_outline(graph)
    assert [row.name for row in outline if row.kind == "body"] == ["double"]


def test_constants_are_nodes_with_the_value_of_scalars():
    big = jnp.arange(1000.0)
    graph = read_jaxpr(jax.make_jaxpr(lambda x: x + big)(jnp.ones(1000)))
    constants = [node for node in graph if node.kind == "constant"]
    for node in constants:
        assert node.types == ("f32[1000]",)
        assert "value" not in node.attributes


def test_the_gradient_of_an_integer_is_called_by_its_type():
    def scaled(x, i):
        return x * i

    graph = read(jax.grad(scaled, argnums=1, allow_int=True), 2.0, 3)
    assert [graph.tables.strings[text] for text in graph.literals.text.tolist()][-1] == "float0"


def test_parameters_that_say_nothing_are_left_out():
    graph = read(lambda x: jnp.sum(x), X)
    (total,) = graph.find("reduce_sum")
    assert total.attributes == {"axes": "(0,)"}


def test_types_of_keys_and_weak_scalars():
    graph = read(lambda key, x: jax.random.split(key)[0], jax.random.key(0), 2.0)
    types = graph.tables.types
    key, weak = graph.node(0), graph.node(1)
    assert key.types == ("key<fry>[]",)
    assert weak.types == ("f32[]",)
    row = int(graph.values.type[weak.values[0]])
    assert (types.weak[row], types.bytes[row], types.rank[row]) == (1, 4, 0)
