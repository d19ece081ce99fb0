"""What a module of a dump was made of: its StableHLO, and what a partitioner made of that step by step."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv


@pytest.fixture
def dump_with_what_was_given(tmp_path):
    """As the newest XLA leaves it: beside the files about a module a folder with what it was made of."""

    @jax.jit
    def scaled(x):
        return jnp.sin(x) / jnp.cos(x)

    def twice(x):
        return scaled(x).sum() + scaled(2 * x).sum()

    lowered = jax.jit(twice).lower(jnp.ones((4, 3)))
    folder = tmp_path / "module_0003.jit_twice"
    folder.mkdir()
    (folder / "module.mlir").write_text(lowered.as_text(debug_info=True))
    for name in ("compile_options.textproto", "topology.pb"):
        (folder / name).write_text("executable_build_options {")
    compiled = lowered.compile().as_text()
    (tmp_path / "module_0003.jit_twice.cpu_after_optimizations.txt").write_text(compiled)
    steps = tmp_path / "shardy" / folder.name
    steps.mkdir(parents=True)
    (steps / "01.before_propagation.mlir").write_text(lowered.as_text())
    return tmp_path


@pytest.mark.smoke
def test_what_a_module_was_made_of_is_a_stage_of_the_same_program(dump_with_what_was_given):
    opened = jv.open(dump_with_what_was_given)
    assert opened.kinds == ("stablehlo", "hlo")
    assert opened.stage == "hlo"
    assert opened.names == ("jit_twice", "twice (Shardy)")
    assert opened.left_out == (f"{dump_with_what_was_given}: 2 other files of the dump (.pb, .textproto)",)
    again = jv.Document.from_json(opened.document().to_json())
    assert [stage.kind for stage in again.programs[0].stages] == ["stablehlo", "hlo"]
    assert "<svg" in opened.to_svg(stage="stablehlo")


@pytest.mark.smoke
def test_operations_and_the_instructions_made_of_them_are_linked_by_their_names(dump_with_what_was_given):
    opened = jv.open(dump_with_what_was_given)
    lowered, compiled = opened.stablehlo, opened.hlo
    (entry,) = opened.document().links
    made_of = {
        (lowered.node(source).op, compiled.node(target).op)
        for source, target in zip(entry.links.source.tolist(), entry.links.target.tolist(), strict=True)
        if compiled.node(target).op in ("sine", "cosine", "reduce")
    }
    assert made_of == {("sine", "sine"), ("cosine", "cosine"), ("reduce", "reduce")}
    # Every argument and result, and all that computes something, is somebody's.
    assert entry.shares["none"] == 0


def test_what_a_module_was_made_of_opens_alone_where_there_is_no_more(dump_with_what_was_given):
    next(dump_with_what_was_given.glob("*after_optimizations.txt")).unlink()
    opened = jv.open(dump_with_what_was_given)
    assert opened.names == ("twice", "twice (Shardy)")
    assert opened.kinds == ("stablehlo",)


STEP = """module @jit_step {{
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {{
    %0 = stablehlo.sine %x {sharding}: tensor<8xf32>
    %1 = {last} : tensor<8xf32>
    return %1 : tensor<8xf32>
  }}
}}
"""


def test_the_steps_of_a_partitioner_are_one_program_that_can_be_stepped_through(tmp_path):
    spread = '<@mesh, [{"x"}]>'
    constraint = f"sdy.sharding_constraint %0 {spread}"
    steps = {
        "00.input_module": STEP.format(sharding="", last=constraint),
        "01.before_propagation": STEP.format(sharding="", last=constraint),
        "02.after_propagation": STEP.format(
            sharding=f"{{sdy.sharding = #sdy.sharding_per_value<[{spread}]>}} ", last=constraint
        ),
        "03.output_module": STEP.format(sharding="", last="stablehlo.cosine %0"),
    }
    for module in ("module_0001.jit_step", "module_0002.jit_step"):
        (tmp_path / "shardy" / module).mkdir(parents=True)
        for name, text in steps.items():
            (tmp_path / "shardy" / module / f"{name}.mlir").write_text(text)
    opened = jv.open(tmp_path)
    assert opened.names == ("step (Shardy)", "step (Shardy) (2)")
    assert opened.stablehlo.find("cosine")
    assert [step.name for step in opened.passes] == ["after propagation", "output module"]
    assert opened.unchanged == 1
    (entry,) = opened.document().passes
    first, last = entry.passes
    assert [change.kind for change in first.changes] == ["changed"]
    assert first.changes[0].node.attributes == {"sharding": "dimension 0 in 4 parts along x"}
    assert [change.node.op for change in last.added] == ["cosine"]
    assert [change.node.op for change in last.removed] == ["sdy.sharding_constraint"]
    assert not opened.document().programs[0].missing
    # A step that cannot be read leaves those before it.
    broken = tmp_path / "shardy" / "module_0001.jit_step" / "03.output_module.mlir"
    broken.write_text("module @jit_step {")
    opened = jv.open(tmp_path)
    assert sorted(bool(opened[name].stablehlo.find("cosine")) for name in opened.names) == [False, True]
    assert len(opened.left_out) == 1


def test_what_cannot_be_read_of_what_a_module_was_made_of_is_told(dump_with_what_was_given):
    (dump_with_what_was_given / "module_0003.jit_twice" / "module.mlir").write_text("module @m {")
    opened = jv.open(dump_with_what_was_given)
    assert opened["jit_twice"].kinds == ("hlo",)
    assert any("module.mlir: line 1" in reason for reason in opened.left_out)


@pytest.mark.smoke
def test_the_folder_of_one_module_of_a_dump_is_opened_alone(tmp_path):
    folder = tmp_path / "module_0004.jit_step"
    folder.mkdir()
    (folder / "module.mlir").write_text(jax.jit(jnp.sin).lower(jnp.ones(3)).as_text())
    opened = jv.open(folder)
    assert opened.stablehlo.find("sine")
    assert opened.left_out == ()
