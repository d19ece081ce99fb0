"""Shardings and groups of devices in words, from every way in which compilers write them."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import MagicMock

import jax
import numpy as np
import pytest
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxviz.read.communication import devices_words, groups_of, is_collective
from jaxviz.read.hlo.graph import read_hlo
from jaxviz.read.hlo.text import parse_hlo_text
from jaxviz.read.parameters import parameter_text
from jaxviz.read.sharding import mesh_of, sharding_words

MESHES = {"mesh": {"x": 4, "y": 2}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{replicated}", "whole on every device"),
        ("{maximal device=3}", "on device 3 alone"),
        ('{replicated metadata={op_name="x"}}', "whole on every device"),
        ("{manual}", "one part for each device, as the program says"),
        ("{devices=[4,2]<=[8]}", "dimension 0 in 4 parts, dimension 1 in 2 parts"),
        ("{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}", "dimension 1 in 2 parts, each on 4 devices"),
        ("{devices=[2,2]0,2,1,3}", "dimension 0 in 2 parts, dimension 1 in 2 parts"),
        ("{devices=[2,1,4]<=[8] last_tile_dims={manual}}", "dimension 0 in 2 parts"),
        ("{devices=[2,2,2]<=[8] last_tile_dims={manual, replicated}}", "dimension 0 in 2 parts, each on 2 devices"),
        ("{{replicated}, {devices=[2]<=[2]}}", "0: whole on every device; 1: dimension 0 in 2 parts"),
        ("{{replicated}, {replicated}}", "whole on every device"),
        ("{mesh['x'=4,'y'=2], [{'x'}, {}]}", "dimension 0 in 4 parts along x, each on 2 devices"),
        ("{mesh['x'=4,'y'=2], [{'x', 'y'}]}", "dimension 0 in 8 parts along x and y"),
        ("{mesh['x'=4,'y'=2], [{}], unreduced={'y'}}", "whole on each of 8 devices, still to be summed over devices"),
        ("{mesh['x'=4,'y'=2], manual}", "one part for each device, as the program says"),
        ("{mesh['x'=4,'y'=2], replicated}", "whole on each of 8 devices"),
        ("{mesh['x'=4,'y'=2], [{'x'}], manual={'y'}}", "dimension 0 in 4 parts along x"),
        ("{{single_device[device_id=3]}}", "on device 3 alone"),
        ("{unreduced}", "whole on every device, still to be summed over devices"),
        ('#sdy.sharding<@mesh, [{}, {"y"}]>', "dimension 1 in 2 parts along y, each on 4 devices"),
        ('#sdy.sharding<@mesh, [{"x", ?}p1, {?}]>', "dimension 0 in 4 parts along x, each on 2 devices"),
        ('#sdy.sharding<@mesh, [{"x":(1)2}]>', "dimension 0 in 2 parts along x, each on 4 devices"),
        ('#sdy.sharding<mesh<["z"=3]>, [{"z"}]>', "dimension 0 in 3 parts along z"),
        ('#sdy.sharding<@other, [{"z"}]>', "dimension 0 split along z"),
        ("#sdy.sharding<@mesh, []>", "whole on each of 8 devices"),
        (
            '#sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{}]>]>',
            "0: dimension 0 in 4 parts along x, each on 2 devices; 1: whole on each of 8 devices",
        ),
        ("something new", "something new"),
        ("{" * 2000, "{" * 2000),
    ],
)
def test_a_sharding_in_words(text, words):
    assert sharding_words(text, MESHES) == words


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (P("x"), "dimension 0 in 4 parts along x, each on 2 devices"),
        (P(None, ("x", "y")), "dimension 1 in 8 parts along x and y"),
        (P("y", "x"), "dimension 0 in 2 parts along y, dimension 1 in 4 parts along x"),
        (P(None), "whole on each of 8 devices"),
        (P(), "whole on each of 8 devices"),
    ],
)
def test_a_sharding_of_jax_in_words(spec, words):
    sharding = NamedSharding(AbstractMesh((4, 2), ("x", "y")), spec)
    assert parameter_text("sharding", sharding) == words


@pytest.mark.smoke
def test_a_mesh_of_jax_in_words():
    mesh = Mesh(np.array(jax.devices()[:1]), ("batch",))
    assert parameter_text("mesh", mesh) == "1 along batch"
    assert parameter_text("mesh", AbstractMesh((4, 2), ("x", "y"))) == "4 along x, 2 along y"


def test_devices_of_a_mesh_are_told_where_they_are_in_another_order():
    mesh = MagicMock(spec=Mesh, shape={"x": 2, "y": 2})
    mesh.devices = np.array([SimpleNamespace(id=number) for number in (3, 1, 2, 0)]).reshape(2, 2)
    assert parameter_text("mesh", mesh) == "2 along x, 2 along y: devices 3 1 2 0"


def test_a_mesh_is_read():
    assert mesh_of('#sdy.mesh<["x"=4, "y"=2]>') == {"x": 4, "y": 2}


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("{{0,1},{2,3}}", [[0, 1], [2, 3]]),
        ("[[0, 1], [2, 3]]", [[0, 1], [2, 3]]),
        ("[2,4]<=[8]", [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ("[2,4]<=[4,2]T(1,0)", [[0, 2, 4, 6], [1, 3, 5, 7]]),
        ("mesh['a'=4,'b'=2] {'a'}", [[0, 2, 4, 6], [1, 3, 5, 7]]),
        ("mesh['a'=4,'b'=2] {'b'}", [[0, 1], [2, 3], [4, 5], [6, 7]]),
        ("mesh['a'=4] {'a':(1)2}", [[0, 2], [1, 3]]),
        ("mesh['a'=2,'b'=2], device_ids=(3,2,1,0) {'b'}", [[3, 2], [1, 0]]),
        ("mesh['a'=4,'b'=2], device_ids=([2,4]T(1,0)) {'b'}", [[0, 4], [1, 5], [2, 6], [3, 7]]),
        ("mesh['a'=4,'b'=2], device_ids=([2,2,2]T(0,2,1)) {'a':(2)2}", [[0, 1], [2, 3], [4, 5], [6, 7]]),
        ("mesh['a'=4,'b'=2], device_ids=([2,3]T(1,0)) {'b'}", None),
        ("mesh['a'=4,'b'=2], device_ids=([2,4]T(1,1)) {'b'}", None),
        ("{}", []),
        ("[2,4]<=[9]", None),
        ("mesh['a'=999999,'b'=999999] {'a'}", None),
        ("new", None),
    ],
)
def test_groups_of_devices(text, groups):
    assert groups_of(text) == groups


def test_devices_in_words():
    assert devices_words("{{0,1},{2,3}}") == "2 groups of 2: 0 1, 2 3"
    assert devices_words("{{0,1,2}}") == "all 3: 0 1 2"
    assert devices_words("{}") == "all"
    assert devices_words("mesh['x'=2,'y'=2] {'y'}") == "2 groups of 2 along y: 0 1, 2 3"
    assert devices_words("[512,2]<=[1024]") == "512 groups of 2"
    assert devices_words("{{0,1},{1,0}}", pairs=True) == "0 to 1, 1 to 0"


def test_collectives_have_one_name_in_both_dialects():
    assert is_collective("all-reduce")
    assert is_collective("all_reduce")
    assert is_collective("all-gather-start")
    assert not is_collective("all-gather-done")
    assert not is_collective("reduce")


def test_what_the_program_itself_spreads_is_not_whole_on_every_device():
    manual, automatic = AxisType.Manual, AxisType.Auto
    both = AbstractMesh((4, 2), ("x", "y"), axis_types=(manual, manual))
    one = AbstractMesh((4, 2), ("x", "y"), axis_types=(manual, automatic))
    words = [parameter_text("sharding", NamedSharding(mesh, P(None))) for mesh in (both, one)]
    assert words == ["one part for each device, as the program says", "whole on each of 2 devices"]


def test_of_parts_of_any_length_a_device_sends_at_most_what_it_has():
    text = """HloModule m, num_partitions=4
ENTRY e {
  given = f32[8]{0} parameter(0)
  taken = f32[16]{0} parameter(1)
  places = s32[4]{0} parameter(2)
  ROOT sent = f32[16]{0} ragged-all-to-all(given, taken, places, places, places, places), replica_groups={{0,1,2,3}}
}
"""
    (node,) = read_hlo(parse_hlo_text(text)).graph.find("ragged-all-to-all")
    assert node.attributes["devices"] == "all 4: 0 1 2 3"
    assert node.attributes["sends"] == "at most 32 B from each device"
