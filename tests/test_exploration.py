"""`jv.explore` and what it gives, as a person uses it from Python."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv
from jaxviz.notebook.display import MIME_TYPE

NAMES = ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh")


def affine(w, b, x):
    return jnp.tanh(w @ x + b)


ARGUMENTS = (jnp.ones((4, 8)), jnp.ones(4), jnp.ones(8))


@pytest.mark.smoke
def test_the_jaxpr_is_a_graph_of_named_operations():
    graph = jv.explore(affine, *ARGUMENTS).jaxpr
    assert [(node.op, node.types[0]) for node in graph if node.kind == "operation"] == [
        ("dot_general", "f32[4]"),
        ("add", "f32[4]"),
        ("tanh", "f32[4]"),
    ]
    assert [node.name for node in graph if node.kind == "argument"] == ["w", "b", "x"]


def test_a_function_is_traced_at_once_and_only_once():
    traces = []

    def counted(x):
        traces.append(1)
        return x + 1

    exploration = jv.explore(counted, jnp.ones(3))
    assert traces == [1]
    exploration.document()
    exploration.to_svg()
    assert exploration.jaxpr is exploration.jaxpr
    assert traces == [1]


def test_shapes_are_enough():
    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in ARGUMENTS]
    assert repr(jv.explore(affine, *shapes)) == "<jaxviz affine(f32[4,8], f32[4], f32[8]): 3 equations>"


@pytest.mark.smoke
def test_the_picture_is_valid_xml_with_the_names_in_it():
    svg = jv.explore(affine, *ARGUMENTS).to_svg()
    words = {text for node in ElementTree.fromstring(svg).iter() for text in [node.text] if text}
    assert {"matmul", "add", "tanh"} <= words


def test_the_picture_is_the_same_every_time():
    assert jv.explore(affine, *ARGUMENTS).to_svg() == jv.explore(affine, *ARGUMENTS).to_svg()


def test_what_is_written_as_text_is_in_the_file_that_is_named(tmp_path):
    exploration = jv.explore(affine, *ARGUMENTS)
    for one in (exploration, jv.compare(exploration, exploration)):
        for write in (one.to_svg, one.to_html):
            assert write(tmp_path / "written") == write() == (tmp_path / "written").read_text("utf-8")


def test_the_first_view_opens_a_loop_that_fits():
    def loop(x):
        return jax.lax.fori_loop(0, 10, lambda i, c: jnp.sin(c) * 1.01 + i, x)

    seen = jv.explore(loop, jnp.ones(4)).view()
    [frame] = [box for box in seen.boxes if box.open]
    assert frame.equations >= 4
    assert seen.zoom == 1.0


def test_the_first_view_keeps_what_does_not_fit_closed():
    def body(carry, _):
        for _ in range(60):
            carry = jnp.sin(carry)
        return carry, None

    def loop(x):
        return jnp.cos(jax.lax.scan(body, x, None, length=5)[0])

    seen = jv.explore(loop, jnp.ones(4)).view(width=200, height=120)
    assert len(seen.boxes) < 10
    assert not any(box.open for box in seen.boxes)


def test_the_first_view_folds_a_loop_that_python_unrolled():
    def loop(x):
        for _ in range(60):
            x = jnp.sin(x) + 1.0
        return x

    seen = jv.explore(loop, jnp.ones(4)).view()
    assert [box.name for box in seen.boxes if box.equations == 120], seen
    assert len(seen.boxes) < 8


@pytest.mark.smoke
def test_a_saved_document_is_the_same_when_loaded(tmp_path):
    document = jv.explore(affine, *ARGUMENTS).document()
    document.save(tmp_path / "affine.jaxviz")
    assert jv.load(tmp_path / "affine.jaxviz").to_json() == document.to_json()


def test_a_notebook_without_the_bundle_still_gets_the_document(monkeypatch):
    from jaxviz.export import engine

    def missing(*_):
        raise engine.DrawingError("missing")

    monkeypatch.setattr(engine, "call", missing)
    data, _ = jv.explore(affine, *ARGUMENTS)._repr_mimebundle_()
    assert MIME_TYPE in data
    assert "image/svg+xml" not in data


def test_a_picture_of_many_copies_is_one_stack():
    def long(x):
        for _ in range(1500):
            x = x * 1.01
        return x

    data, _ = jv.explore(long, jnp.ones(2))._repr_mimebundle_()
    assert "x1500" in data["image/svg+xml"]
    assert len(data["image/svg+xml"]) < 4000
    assert "1,500 equations" in data["text/plain"]


def test_the_first_line_of_a_picture_tells_what_it_shows():
    data, _ = jv.explore(affine, *ARGUMENTS)._repr_mimebundle_()
    first, _, picture = data["image/svg+xml"].partition("\n")
    assert first == f"<!-- {data['text/plain'].strip('<>')} -->"
    assert picture.startswith("<svg")
    ElementTree.fromstring(data["image/svg+xml"])


def test_a_picture_whose_program_has_dashes_in_its_name_can_be_read():
    def named(x):
        return jnp.sin(x)

    named.__name__ = "a---b\x00-->"
    data, _ = jv.explore(named, 1.0)._repr_mimebundle_()
    ElementTree.fromstring(data["image/svg+xml"])


def test_a_picture_is_no_wider_than_a_page_that_shows_it():
    def wide(*values):
        return sum(getattr(jnp, name)(value) for name, value in zip(NAMES, values, strict=True))

    names = [f"{name}_of_what_is_measured" for name in NAMES]
    call = eval(f"lambda {', '.join(names)}: wide({', '.join(names)})", {"wide": wide})
    data, _ = jv.explore(call, *[jnp.ones(4)] * len(names))._repr_mimebundle_()
    root = ElementTree.fromstring(data["image/svg+xml"])
    assert float(root.get("viewBox").split()[2]) > 900
    assert float(root.get("width")) <= 900


def test_a_picture_that_would_take_too_long_is_left_out(monkeypatch):
    from jaxviz.notebook import display

    monkeypatch.setattr(display, "_MOST_NODES", 3)
    data, _ = jv.explore(affine, *ARGUMENTS)._repr_mimebundle_()
    assert "image/svg+xml" not in data
    assert MIME_TYPE in data


def test_an_error_of_the_function_comes_at_once_as_its_own():
    with pytest.raises(jax.errors.TracerBoolConversionError) as error:
        jv.explore(lambda x: 1 if x > 0 else 2, jnp.float32(1))
    # Of jaxviz, the call itself is the only frame.
    own = [frame for frame in error.traceback if Path(jv.__file__).parent in Path(frame.path).parents]
    assert [frame.name for frame in own] in ([], ["explore"], ["explore", "trace"])


def test_a_program_of_nothing_can_be_drawn():
    exploration = jv.explore(lambda: None)
    for stage in ("jaxpr", "stablehlo", "hlo"):
        ElementTree.fromstring(exploration.to_svg(stage=stage))


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: jax.lax.cond(x.sum() > 0, lambda: x.sum(), lambda: 0.0),
        lambda x: jax.lax.scan(lambda c, y: (jax.lax.cond(c > 0, lambda c: c + y, jnp.sin, c), c), 0.0, x),
        lambda x: jax.lax.fori_loop(0, 4, lambda i, c: jax.lax.cond(c[0] > 0, lambda c: c + i, jnp.cos, c), x),
        lambda x: jax.lax.switch(x[0].astype(int), [jnp.sin, jnp.cos, jnp.tan], x),
        lambda x: jnp.fft.fft(x) * 1j,
        lambda x: x * jnp.asarray([1 + 2j] * 16),
        lambda _: None,
    ],
)
def test_each_stage_can_be_drawn(fn):
    exploration = jv.explore(fn, jnp.ones(16))
    assert exploration.document().programs[0].missing == {}
    for stage in ("jaxpr", "stablehlo", "hlo"):
        ElementTree.fromstring(exploration.to_svg(stage=stage))


def test_a_program_of_nothing_has_its_stages():
    document = jv.explore(lambda: None).document()
    assert [stage.kind for stage in document.programs[0].stages] == ["jaxpr", "stablehlo", "hlo"]


def test_a_stage_that_cannot_be_read_costs_no_other(monkeypatch):
    def broken(*_, **_options):
        raise ValueError("cannot be read")

    monkeypatch.setattr("jaxviz.capture.read_stablehlo", broken)
    for stages in (("jaxpr", "stablehlo", "hlo"), ("jaxpr", "hlo")):
        document = jv.explore(affine, *ARGUMENTS).document(stages=stages)
        assert [stage.kind for stage in document.programs[0].stages] == ["jaxpr", "hlo"]
        assert "cannot be read" in document.programs[0].missing["stablehlo"]


def unrolled(x):
    for _ in range(1_100):
        x = x * 1.01 + 0.1
    return x


def test_a_picture_of_thousands_of_equations_waits_for_no_compiler_and_says_so():
    exploration = jv.explore(unrolled, jax.ShapeDtypeStruct((4,), jnp.float32))
    told = "2,200 equations, not compiled for this picture: what the compiler drops is not marked"
    assert f">{told}</text>" in exploration.to_svg()
    assert exploration.view().boxes
    assert not exploration._capture.made
    assert exploration.fates
    assert told not in exploration.to_svg()


def test_a_graph_for_other_tools_waits_for_no_compiler():
    exploration = jv.explore(affine, *ARGUMENTS)
    assert "dot_general" in exploration.to_dot()
    assert len(exploration.to_networkx(stage="jaxpr")) == len(exploration.jaxpr)
    assert not exploration._capture.made


def test_an_argument_may_be_called_target_as_the_device_is():
    def loss(w, target):
        return jnp.mean((w - target) ** 2)

    explored = jv.explore(loss, jnp.ones(4), target=jnp.zeros(4))
    assert explored.program.argument_names == ("w", "target")
    assert explored.program.target is None
