"""Arrays that are cut over devices: specs that do not fit the mesh or the arrays. The meshes have no devices."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from errors.failing.registry import failing
from jax import lax
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

MESH = AbstractMesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))
ROWS = jnp.ones((8, 4))


@failing(jnp.ones((6, 4)), case="mesh size", place="shard_map", words=["6 entries, which 4 devices cannot share"])
def rows_that_cannot_be_shared(x):
    return jax.shard_map(lambda v: v * 2, mesh=MESH, in_specs=P("data"), out_specs=P("data"))(x)


@failing(ROWS, case="mesh axis", place="shard_map", words=["no axis `batch`"], mends=[0])
def an_axis_that_the_mesh_lacks(x):
    return jax.shard_map(lambda v: v * 2, mesh=MESH, in_specs=P("batch"), out_specs=P("batch"))(x)


@failing(ROWS, case="spec rank", place="shard_map", words=["has 3, and the array [8,4] has 2 axes"])
def a_spec_that_is_too_long(x):
    return jax.shard_map(lambda v: v, mesh=MESH, in_specs=P("data", None, "model"), out_specs=P("data"))(x)


@failing(ROWS, case="replicated result", place="shard_map", words=["jax.lax.psum"])
def parts_that_are_said_to_be_equal(x):
    return jax.shard_map(lambda v: v.sum(), mesh=MESH, in_specs=P("data"), out_specs=P())(x)


@failing(
    ROWS,
    case="no mesh",
    place="with_sharding_constraint",
    words=['jax.sharding.Mesh(jax.devices(), ("data",))'],
    mends=[0],
    gives=ROWS,
)
def a_spec_without_a_mesh(x):
    return lax.with_sharding_constraint(x, P("data"))


EXPLICIT = jax.make_mesh((1, 1), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))
BY_DATA, BY_MODEL = (jax.device_put(ROWS, NamedSharding(EXPLICIT, P(axis, None))) for axis in ("data", "model"))
SQUARE = jax.device_put(2 * jnp.eye(2), NamedSharding(EXPLICIT, P(None, "model")))


# Before, the result of a gather lies somewhere, and what `reshard` is asked for here cannot be traced.
if jax.__version_info__ >= (0, 9):

    @failing(
        BY_DATA,
        BY_MODEL,
        case="explicit sharding",
        place="x * 2 + y",
        words=["`y` lies as", "Move `y` to where `x` lies"],
        mends=[0],
        gives=3 * ROWS,
    )
    def rows_that_lie_differently(x, y):
        return x * 2 + y

    @failing(
        SQUARE, SQUARE, case="explicit sharding", place="x @ y", words=["out_sharding="], mends=[0], gives=SQUARE * 2
    )
    def a_product_along_what_is_cut(x, y):
        return x @ y.T

    @failing(BY_DATA, case="explicit sharding", place="x[places]", words=["out_sharding="], mends=[0], gives=ROWS[:2])
    def rows_that_are_gathered(x):
        places = jnp.array([1, 0])
        return x[places]


if hasattr(jax, "set_mesh"):

    @failing(
        BY_DATA,
        case="mesh set inside",
        place="jax.set_mesh",
        words=["with jax.set_mesh(EXPLICIT):"],
        mends=[0],
        gives=2 * ROWS,
        instead="outside",
    )
    def a_mesh_that_is_set_inside(x):
        with jax.set_mesh(EXPLICIT):
            return x * 2

    @failing(BY_DATA, case="mesh set inside", place="jax.set_mesh", mends=[0], gives=3 * ROWS, instead="outside")
    def a_mesh_that_is_set_before_all(x):
        jax.set_mesh(EXPLICIT)
        y = x * 2
        return x + y


if hasattr(jax.sharding, "reshard"):
    UNEVEN = NamedSharding(AbstractMesh((4,), ("data",), axis_types=(AxisType.Explicit,)), P("data"))

    @failing(jnp.ones(6), case="mesh size", place="reshard", words=["jnp.pad(x * 2, (0, 2))"], mends=[0])
    def rows_that_cannot_be_moved_evenly(x):
        return jax.sharding.reshard(x * 2, UNEVEN)
