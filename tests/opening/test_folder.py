"""A folder opens with what can be opened in it; what XLA dumped for a module is one program."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
from itertools import pairwise

import jax
import jax.numpy as jnp
import pytest
from opening.dumps import dump_into, program

import jaxviz as jv
from jaxviz.opening.buffers import read_buffers


@pytest.fixture(scope="module")
def dump(tmp_path_factory):
    return dump_into(tmp_path_factory.mktemp("dump"))


def test_a_dump_is_one_program_in_its_last_state(dump):
    opened = jv.open(dump)
    assert opened.names == ("jit_program",)
    assert [node.op for node in opened.hlo if node.kind == "operation" and node.op in ("dot", "fusion")]
    assert len(opened.left_out) == 1
    assert "other files of the dump (" in opened.left_out[0]


def test_the_states_between_passes_are_read_when_they_are_asked_for(dump):
    passes = jv.open(dump).passes
    # One pass alone changes this program in JAX 0.6.
    assert len(passes) > (0 if jax.__version_info__ < (0, 7) else 1)
    assert f" {len(passes)} state{'s' * (len(passes) > 1)} between passes" in f" {jv.open(dump)!r}".replace("\n", " ")
    assert all(step.name and step.pipeline for step in passes)
    first, last = passes[0].graph, passes[-1].graph
    assert any(node.op == "tanh" for node in first)
    assert any(node.op == "fusion" for node in last) or any(node.op == "dot" for node in last)


def test_passes_that_changed_nothing_are_counted_alone(dump):
    opened = jv.open(dump)
    texts = [step.path.read_text() for step in opened.passes]
    assert all(before != after for before, after in pairwise(texts))
    written = [path for path in dump.iterdir() if ".after_" in path.name and path.suffix == ".txt"]
    real = [path for path in written if ".after_pipeline-start." not in path.name]
    assert opened.unchanged == len(real) - sum(step.name != "pipeline-start" for step in opened.passes) > 0
    assert f"passes that changed nothing: {opened.unchanged}" in repr(opened)
    # All that can be stepped through are among them.
    (entry,) = opened.document().passes
    assert {step.name for step in entry.passes} <= {step.name for step in opened.passes}


def test_values_say_where_they_lie(dump):
    graph = jv.open(dump).hlo
    buffers = {node.name: node.attributes["buffer"] for node in graph if "buffer" in node.attributes}
    assert buffers["x"].endswith(", argument 0")
    assert "bytes 0 to 48 of 48" in buffers["x"]


def test_of_a_state_that_is_there_in_two_ways_that_is_read_which_has_call_stacks(tmp_path):
    """Text of JAX before 0.8 names one line for each instruction, its protocol buffer all that led there."""
    module = jax.jit(program).lower(jnp.ones((4, 3)), jnp.ones((3, 2))).compile().runtime_executable().hlo_modules()[0]
    text = re.sub(r"\nFileNames\n.*?\n\n(?=\n|%|ENTRY)", "\n", module.to_string(), flags=re.DOTALL)
    text = re.sub(r" stack_frame_id=\d+", ' source_file="/f.py" source_line=3', text)
    assert "FileNames" not in text
    states = ["before_optimizations", "0001.one.after_a.before_b", "0002.one.after_b", "cpu_after_optimizations"]
    data = module.as_serialized_hlo_module_proto()
    for state in states:
        changed = state > "0001" and state[0] == "0"
        name = tmp_path / f"module_0001.jit_program.{state}"
        name.with_name(name.name + ".txt").write_text(text + "\n" * changed)
        # A field that no module has.
        name.with_name(name.name + ".hlo.pb").write_bytes(data + b"\xc0\x3e\x01" * changed)
    opened = jv.open(tmp_path)
    assert opened.left_out == ()
    assert max(len(node.frames) for node in opened.hlo) > 1
    (step,) = opened.passes
    assert step.name == "a"
    assert max(len(node.frames) for node in step.graph) > 1
    # Where the text has them too, it is read.
    both = tmp_path / "both"
    both.mkdir()
    name = both / "module_0001.jit_program.cpu_after_optimizations"
    text = re.sub(r"HloModule \w+", "HloModule jit_text", module.to_string())
    name.with_name(name.name + ".txt").write_text(text)
    name.with_name(name.name + ".hlo.pb").write_bytes(data)
    has_tables = "FileNames" in text
    assert jv.open(both).names == ("jit_text" if has_tables else "jit_program",)


def test_a_dump_of_a_compiler_for_tpu_which_adds_its_version_to_names_is_one_program(dump, tmp_path):
    for path in (path for path in dump.rglob("*") if path.is_file()):
        name = str(path.relative_to(dump)).replace("cpu_after", "after")
        target = tmp_path / re.sub(r"jit_program(?=[./])", "jit_program.cl_933746096", name)
        target.parent.mkdir(exist_ok=True)
        shutil.copy(path, target)
    ours, theirs = jv.open(dump), jv.open(tmp_path)
    assert theirs.names == ours.names == ("jit_program",)
    assert theirs.kinds == ours.kinds
    assert [step.name for step in theirs.passes] == [step.name for step in ours.passes]
    assert any("buffer" in node.attributes for node in theirs.hlo)
    (last,) = tmp_path.glob("*.after_optimizations.txt")
    assert "['jit_program'] opens all of it" in repr(jv.open(last))


def test_a_file_of_a_dump_that_somebody_gave_another_name_opens(dump, tmp_path):
    (last,) = dump.glob("*.cpu_after_optimizations.txt")
    shutil.copy(last, tmp_path / "module_0007.jit_program.hlo.txt")
    (tmp_path / "module_0007.jit_program.thunk_sequence.txt").write_text("000: kKernel\n")
    opened = jv.open(tmp_path)
    assert list(map(str, opened.hlo)) == list(map(str, jv.open(last).hlo))
    assert opened.left_out == (f"{tmp_path}: 1 other file of the dump (.txt)",)


def test_passes_that_changed_nothing_are_told_where_each_file_is_compressed(dump, tmp_path):
    for number, path in enumerate(path for path in dump.glob("*.txt")):
        (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=number))
    opened, plain = jv.open(tmp_path), jv.open(dump)
    assert opened.unchanged == plain.unchanged > 0
    assert [step.name for step in opened.passes] == [step.name for step in plain.passes]


def test_two_dumps_in_one_folder_are_not_mixed(tmp_path):
    """As two processes leave them each in a folder of its own, and as two runs with times in front of the names."""
    module = "HloModule jit_f\n\nENTRY e {{\n  p = f32[2] parameter(0)\n  ROOT r = f32[2] {}(p)\n}}\n"
    states = {"before_optimizations": "{}", "0001.simplify.after_one": "{}", "cpu_after_optimizations": "{}"}
    runs = {"one/module_0001": "sine", "two/module_0001": "cosine", "17.module_0001": "tanh", "18.module_0001": "sqrt"}
    for run, operation in runs.items():
        for state in states:
            path = tmp_path / f"{run}.jit_f.{state}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(module.format("negate" if state.startswith("before") else operation))
    given = tmp_path / "module_0001.jit_f" / "module.mlir"
    given.parent.mkdir()
    given.write_text(jax.jit(jnp.sqrt).lower(jnp.ones(2)).as_text())
    opened = [jv.open(tmp_path)[name] for name in jv.open(tmp_path).names]
    assert len(opened) == 4
    found = {}
    for one in opened:
        (last,) = (node.op for node in one.hlo if node.kind == "operation")
        assert [[node.op for node in step.graph if node.kind == "operation"] for step in one.passes] == [[last]]
        found[one._program.where] = last
    assert found == runs
    # The last run was given what lies there.
    assert [one._program.where for one in opened if "stablehlo" in one.kinds] == ["18.module_0001"]


def test_a_folder_of_mixed_rubbish_opens_what_it_can_and_lists_the_rest(dump, tmp_path):
    (tmp_path / "good.txt").write_text("HloModule good\n\nENTRY e {\n  ROOT p = f32[2] parameter(0)\n}\n")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "same.txt").write_text("HloModule good\n\nENTRY e {\n  ROOT p = f32[2] parameter(0)\n}\n")
    (tmp_path / "bad.txt").write_text("HloModule bad\n\nENTRY e {\n")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(5000))
    (tmp_path / "module_0001.jit_g.cpu_after_optimizations.txt").write_text("HloModule g\n\nENTRY")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
    opened = jv.open(tmp_path)
    assert opened.names == ("good", "good (2)")
    assert opened["good (2)"].hlo.check() is None
    left_out = "\n".join(opened.left_out)
    for name in ("bad.txt: line 4:1: expected }", "empty: line 1:1", "picture.png: byte 0", "jit_g.cpu_after"):
        assert name in left_out
    assert "left out: " in repr(opened)
    with pytest.raises(KeyError, match="it has: good"):
        opened["none"]


def _init(key):
    return {name: jax.random.normal(jax.random.fold_in(key, size), (size, size)) for name, size in (("w", 3), ("v", 4))}


def _train_step(params, x):
    def loss(params):
        return jnp.tanh(x @ params["w"]).sum()

    return jax.tree.map(lambda param, grad: param - 0.1 * grad, params, jax.grad(loss)(params))


@pytest.fixture(scope="module")
def dump_of_a_script(tmp_path_factory):
    """As a script leaves it that draws its numbers in one program, trains in another, and has operations around."""
    folder = tmp_path_factory.mktemp("script")
    options = {"xla_dump_to": str(folder), "xla_dump_hlo_as_text": True}
    params, key = {"w": jnp.ones((3, 3)), "v": jnp.ones((4, 4))}, jax.random.key(0)

    @jax.jit
    def normal(key, like):
        return jax.random.normal(key, like.shape)

    for lowered in (
        jax.jit(_init).lower(key),
        normal.lower(key, jnp.ones(5)),
        jax.jit(_train_step).lower(params, jnp.ones((2, 3))),
        normal.lower(key, jnp.ones(7)),
    ):
        lowered.compile(compiler_options=options)
    return folder


@pytest.mark.smoke
def test_of_a_folder_that_program_is_first_of_which_most_was_written(dump_of_a_script):
    opened = jv.open(dump_of_a_script)
    assert opened.names == ("jit__train_step", "jit__init", "jit_normal", "jit_normal (2)")
    # What draws numbers takes more operations.
    assert len(opened.hlo) < len(opened["jit_normal"].hlo) < len(opened["jit__init"].hlo)


def test_the_programs_of_a_folder_are_listed_with_what_they_are_and_where(dump_of_a_script):
    lines = repr(jv.open(dump_of_a_script)).splitlines()
    (head,) = [number for number, line in enumerate(lines) if line.startswith("4 programs")]
    assert "opened['jit__init']" in lines[head]
    step, init, normal = lines[head + 1 : head + 4]
    assert step.split()[0] == "jit__train_step"
    assert re.search(r" \d+ operations  from \d+ places in the source  +module_\d{4}$", step)
    assert init.split()[0] == "jit__init"
    # What takes one place, as all that JAX compiles for itself does, is told without it.
    assert re.search(r"^  jit_normal  +\d+ operations  +module_\d{4} and 1 more of this name$", normal)
    # All files that are no modules are one line.
    assert len(lines) - head <= 5


def test_a_name_that_no_program_has_is_told_with_those_like_it(dump_of_a_script):
    with pytest.raises(KeyError, match="has no program 'train'; it has: jit__train_step, "):
        jv.open(dump_of_a_script)["train"]


def test_a_page_has_all_programs_of_a_folder(dump_of_a_script):
    opened = jv.open(dump_of_a_script)["jit__init"]
    assert [program.name for program in opened.with_others().programs][:2] == ["jit__init", "jit__train_step"]
    (data,) = re.findall(r'id="jv-document">(.*?)</script>', opened.to_html(), re.DOTALL)
    assert jv.Document.from_json(json.loads(data)).to_json() == opened.with_others().to_json()


def test_a_folder_with_nothing_to_open_says_why(tmp_path):
    with pytest.raises(jv.OpenError, match="expected a folder with a file that can be opened, but it is empty"):
        jv.open(tmp_path)
    (tmp_path / "a").write_text("nothing")
    with pytest.raises(jv.OpenError, match=r"but .*line 1:1: expected HLO"):
        jv.open(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system here")
@pytest.mark.skipif(os.name == "nt", reason="Windows asks for a right to make links")
def test_links_that_lead_nowhere_or_to_folders_are_told(dump, tmp_path):
    (tmp_path / "m.hlo").symlink_to(next(dump.glob("*after_optimizations.txt")))
    (tmp_path / "gone.hlo").symlink_to("elsewhere/gone.hlo")
    (tmp_path / "itself").symlink_to("itself")
    (tmp_path / "latest").symlink_to(dump)
    opened = jv.open(tmp_path)
    assert opened.names == ("jit_program",)
    assert sorted(opened.left_out) == [
        f"{tmp_path}/gone.hlo: a link to elsewhere/gone.hlo, which is not there",
        f"{tmp_path}/itself: a link to itself, which is not there",
        f"{tmp_path}/latest: a link to a folder, which is opened by itself",
    ]


def test_a_folder_in_which_nobody_may_look_is_told(dump, tmp_path, monkeypatch):
    shutil.copy(next(dump.glob("*after_optimizations.txt")), tmp_path / "m.hlo")
    (tmp_path / "secret").mkdir()
    scan = os.scandir

    def refused(path):
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refused)
    assert jv.open(tmp_path).left_out == (f"{tmp_path}/secret: Permission denied",)


def test_a_dump_without_hlo_says_what_writes_it(tmp_path):
    (tmp_path / "module_0001.jit_f.before_optimizations.url").write_text("https://example.org/graph")
    (tmp_path / "module_0001.jit_f.debug_options").write_text("")
    with pytest.raises(
        jv.OpenError, match=r"2 other files of the dump .*, which has no HLO: --xla_dump_hlo_as_text or"
    ):
        jv.open(tmp_path)


def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(jv.OpenError, match="expected a file or a folder"):
        jv.open(tmp_path / "pipe")


def test_buffers_of_tuples_are_told_by_element():
    text = (
        b"BufferAssignment:\nallocation 0: size 96, preallocated-temp:\n"
        b" value: <3 while.1{0} @0> (size=32,offset=64): f32[8]{0}\n"
        b"allocation 1: size 4, thread-local:\n value: <4 add @0> (size=4,offset=0): f32[]\n"
    )
    buffers = read_buffers(text, "b")
    (element,) = buffers["while.1"]
    assert (element.element, str(element)) == ("0", "allocation 0, bytes 64 to 96 of 96, temporary")
    assert buffers["add"][0].kind == "of one thread"


def test_a_cell_shows_all_programs_of_a_folder_the_chosen_one_first(tmp_path):
    for name in ("one", "two", "three"):
        parameters = "\n".join(f"  p{number} = f32[2] parameter({number})" for number in range(len(name)))
        (tmp_path / f"{name}.txt").write_text(
            f"HloModule {name}\n\nENTRY e {{\n{parameters}\n  ROOT r = f32[2] add(p0, p1)\n}}\n"
        )
    opened = jv.open(tmp_path)
    data, _ = opened["two"]._repr_mimebundle_()
    shown = jv.Document.from_json(next(value for kind, value in data.items() if "jaxviz" in kind))
    assert [program.name for program in shown.programs] == ["two", "three", "one"]
    assert [stage.graph for program in shown.programs for stage in program.stages] == [0, 1, 2]
    assert shown.graphs[0].node(0).name == "p0"
    # Alone it is still one program.
    assert len(opened["two"].document().programs) == 1


def test_what_each_pass_of_a_dump_did_is_in_its_document(dump):
    opened = jv.open(dump)
    document = opened.document()
    (entry,) = document.passes
    passes = entry.passes
    assert document.graphs[entry.graph] is opened.hlo
    assert {node.op for node in passes.start if node.kind == "operation"} >= {"dot", "tanh", "reduce"}
    fused = [change.node.op for step in passes for change in step.fused]
    assert "tanh" in fused
    for number in range(len(passes.series)):
        state = passes.series.state(number)
        state.graph.check()
        state.outline.check()
    again = jv.Document.from_json(document.to_json())
    assert [step.name for step in again.passes[0].passes] == [step.name for step in passes]
    assert not opened.document(passes=False).passes


def test_states_that_were_dumped_as_protocol_buffers_are_stepped_through_as_those_of_text(dump, tmp_path):
    options = {"xla_dump_to": str(tmp_path), "xla_dump_hlo_pass_re": ".*", "xla_dump_hlo_as_proto": True}
    jax.jit(program).lower(jnp.ones((4, 3)), jnp.ones((3, 2))).compile(compiler_options=options)
    assert not list(tmp_path.glob("*.after_*.txt"))
    assert len(list(tmp_path.glob("*.after_*.hlo.pb"))) > 3
    (serialized,), (printed,) = (jv.open(folder).document().passes for folder in (tmp_path, dump))
    told = [
        [(step.name, step.pipeline, step.joined, len(step.added), len(step.removed), len(step.fused)) for step in each]
        for each in (serialized.passes, printed.passes)
    ]
    assert told[0] == told[1]
    graphs = [
        [list(map(str, passes.series.state(number).graph)) for number in range(len(passes.series))]
        for passes in (serialized.passes, printed.passes)
    ]
    assert graphs[0] == graphs[1]


def test_a_state_that_was_cut_off_in_a_protocol_buffer_is_told(tmp_path):
    options = {"xla_dump_to": str(tmp_path), "xla_dump_hlo_pass_re": ".*", "xla_dump_hlo_as_proto": True}
    jax.jit(program).lower(jnp.ones((4, 3)), jnp.ones((3, 2))).compile(compiler_options=options)
    state = sorted(tmp_path.glob("*.after_*.hlo.pb"))[3]
    state.write_bytes(state.read_bytes()[:-20])
    document = jv.open(tmp_path).document()
    assert not document.passes
    assert "the states between passes: byte " in document.programs[0].missing["passes"]


@pytest.fixture
def two_dumped(dump, tmp_path):
    """A folder with the dumps of a program, and those of the same one with another name before them."""
    shutil.copytree(dump, tmp_path, dirs_exist_ok=True)
    for file in dump.iterdir():
        if ".jit_program." in file.name and file.suffix == ".txt":
            name = file.name.replace("jit_program", "jit_other").replace("module_", "module_9")
            text = file.read_text().replace("jit_program", "jit_other").replace("module_", "module_9")
            (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.smoke
def test_a_cell_with_several_programs_of_a_dump_has_the_passes_of_each(two_dumped):
    opened = jv.open(two_dumped)
    shown = opened["jit_other"].with_others()
    assert [program.name for program in shown.programs] == ["jit_other", "jit_program"]
    firsts = [program.stages[0].graph for program in shown.programs]
    assert [entry.graph for entry in shown.passes] == firsts
    for name, entry in zip(("jit_other", "jit_program"), shown.passes, strict=True):
        (alone,) = opened[name].document().passes
        assert [step.name for step in entry.passes] == [step.name for step in alone.passes]
        # Each state says the same with the tables of all.
        for number in range(len(alone.passes.series)):
            state, own = entry.passes.series.state(number), alone.passes.series.state(number)
            assert state.graph.tables is shown.tables
            assert list(map(str, state.graph)) == list(map(str, own.graph))
            assert [part.name for part in state.outline] == [part.name for part in own.outline]


def test_passes_of_others_that_take_long_to_read_are_opened_by_name(two_dumped, monkeypatch):
    monkeypatch.setattr("jaxviz.opening.opened._MOST_STATE_BYTES", 100)
    shown = jv.open(two_dumped)["jit_other"].with_others()
    assert [entry.graph for entry in shown.passes] == [shown.programs[0].stages[0].graph]
    where = shown.programs[1].missing["passes"]
    assert where.endswith("['jit_program']")
    assert "passes" not in shown.programs[0].missing


def test_states_of_a_dump_that_cannot_be_read_are_told_and_the_rest_is_shown(dump, tmp_path):
    shutil.copytree(dump, tmp_path, dirs_exist_ok=True)
    state = sorted(path for path in tmp_path.iterdir() if ".after_" in path.name)[3]
    state.write_text(state.read_text() + "\ncut {\n")
    document = jv.open(tmp_path).document()
    assert not document.passes
    assert "the states between passes: line " in document.programs[0].missing["passes"]
    assert len(document.graphs[0])


def test_what_was_run_and_dumped_with_its_arguments_opens(dump, tmp_path):
    """Of a module that ran several times, one is enough."""
    state = next(path for path in dump.iterdir() if path.name.endswith("after_optimizations.txt"))
    text = state.read_text()
    for name in ("module_0001.jit_f.snapshot.-17.pb", "module_0001.jit_f.snapshot.5.pb"):
        (tmp_path / name).write_text(text)
    (tmp_path / "module_0002.jit_g.execution_0000.hlo_unoptimized_snapshot.pb").write_text(text)
    opened = jv.open(tmp_path)
    assert len(opened.names) == 2
    assert opened.left_out == ()
