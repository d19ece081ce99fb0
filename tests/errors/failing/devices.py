"""Arrays that are cut over devices: specs that do not fit the mesh or the arrays. The meshes have no devices."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from errors.failing.registry import failing
from jax import lax
from jax.sharding import AbstractMesh, AxisType
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
