"""Several processes record into one folder, and it says which of them the others wait for, and what differs."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxviz as jv
from jaxviz import compat
from jaxviz.document import Document, DocumentError
from jaxviz.opening import signs
from jaxviz.opening.contents import OpenError
from jaxviz.recorded import process_file
from jaxviz.recorded.process import ProfiledBlock

WORKER = """
import json, sys, time
import jax, jax.numpy as jnp, numpy as np
import jaxviz as jv

rank, count, port, folder, late, local = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:5], *map(int, sys.argv[5:7])
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(f"localhost:{port}", count, rank)
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

rows = NamedSharding(Mesh(jax.devices(), ("rows",)), P("rows"))
x = jax.make_array_from_process_local_data(rows, np.ones((8, 4), np.float32))

@jax.jit
def step(x):
    return jnp.tanh(x.T @ x), x * 2.0

@jax.jit
def evaluate(v):
    return jnp.sin(v) * 2.0

with jv.recording(folder):
    for _ in range(6):
        if rank == late:
            time.sleep(0.15)
        jax.block_until_ready(step(x))
    if local:
        evaluate(jnp.ones(3 + (rank == late)))

if local:
    ex = jv.explore(step, x)
    run = ex.run(repeat=2)
    try:
        said = repr(ex.values())
    except jv.RunError as error:
        said = str(error)
    figures = {"devices": run.devices, "median": run.median, "values": said}
    if run.profile is not None:
        figures |= {"bytes": run.profile.ceilings.bytes, "flops": run.profile.ceilings.flops}
    open(f"{folder}-run-{rank}.json", "w").write(json.dumps(figures))
"""


def record(folder, count, late, local):
    """Runs the worker in several processes; once more where the port was taken meanwhile."""
    environment = {**os.environ, "XLA_FLAGS": "", "JAX_PLATFORMS": "cpu"}
    for _ in range(3):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        arguments = [str(count), str(port), str(folder), str(late), str(int(local))]
        workers = [
            subprocess.Popen(
                [sys.executable, "-c", WORKER, str(rank), *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env=environment,
            )
            for rank in range(count)
        ]
        said = []
        for worker in workers:
            try:
                said.append(worker.communicate(timeout=120)[0])
            except subprocess.TimeoutExpired:
                worker.kill()
                said.append(worker.communicate()[0])
        if not any(worker.returncode for worker in workers):
            return jv.open(folder)
        if not any("address" in text.lower() or "bind" in text.lower() for text in said):
            break
    raise AssertionError("\n".join(said))


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    return record(tmp_path_factory.mktemp("two"), 2, late=1, local=True)


def test_two_processes_are_joined(two):
    assert [process.index for process in two.processes] == [0, 1]
    assert {process.count for process in two.processes} == {2}
    assert two.call == "step"
    names = [program.name for program in two.document().programs]
    assert names == ["step", "evaluate", "evaluate (process 1)"]
    kinds = [stage.kind for stage in two.document().programs[0].stages]
    if compat.profile_reader() is None:
        assert kinds == ["jaxpr"]
        return
    assert kinds == ["jaxpr", "hlo"]
    # The HLO is that of the device, with what the processes tell each other.
    assert any(node.op == "all-reduce" for node in two.hlo)
    for process in two.processes:
        ran = process.of("step")
        assert ran is not None
        assert ran.runs == 6
        assert ran.computing > 0


def test_the_one_that_the_others_wait_for_is_found_with_the_reason(two):
    if compat.profile_reader() is None:
        assert all("cannot read a profile" in " ".join(process.notes) for process in two.processes)
        return
    found = [finding for finding in two.findings if finding.kind == "straggler"]
    assert len(found) == 1
    assert found[0].title.startswith("process 1 keeps the others waiting for ")
    assert found[0].title.endswith("in each run of step")
    assert found[0].figures["seconds"] > 0.05
    assert "It begins late" in found[0].text
    assert [two.hlo.node(node).op for node in found[0].nodes.tolist()] == ["all-reduce"]
    waits = [process.of("step").waiting for process in two.processes]
    assert waits[0] > 2 * waits[1]
    assert "process 1 keeps the others waiting" in repr(two)


def test_programs_that_differ_are_found(two):
    found = [finding for finding in two.findings if finding.kind == "differing"]
    assert [finding.title for finding in found] == ["evaluate is not the same program in process 1 as in process 0"]
    assert "in process 0: evaluate(f32[3]); in process 1: evaluate(f32[4])" in found[0].text


def test_a_joined_recording_is_a_document_like_others(two, tmp_path):
    path = two.document().save(tmp_path / "two.jaxviz")
    again = Document.load(path)
    assert again.to_json(packed=False) == two.document().to_json(packed=False)
    assert [str(entry.process) for entry in again.processes] == [str(process) for process in two.processes]


def test_each_of_several_processes_can_run_what_they_compute_together(two):
    for rank in range(2):
        figures = json.loads(Path(f"{two.path}-run-{rank}.json").read_text())
        assert figures["devices"] == 2
        assert figures["median"] > 0
        assert "devices of several processes cannot be looked at from one of them" in figures["values"]
        if compat.profile_reader() is not None:
            # Of its own device: one of another process does nothing at all, at any speed.
            assert 1e8 < figures["bytes"] < 1e13
            assert 1e8 < figures["flops"] < 1e15


def test_four_processes_are_joined_and_their_straggler_is_found(tmp_path):
    four = record(tmp_path, 4, late=2, local=False)
    assert [process.index for process in four.processes] == [0, 1, 2, 3]
    assert not [finding for finding in four.findings if finding.kind == "differing"]
    if compat.profile_reader() is not None:
        assert [f.figures["process"] for f in four.findings if f.kind == "straggler"] == [2.0]
        assert {one.device for process in four.processes for one in process.runs} == {
            one.device for process in four.processes for one in process.runs[:1]
        }


@pytest.mark.smoke
def test_one_process_alone_records_too(tmp_path):
    @jax.jit
    def double(x):
        return jnp.sort(x) * 2.0

    x = jnp.ones((32, 32))
    with jv.recording(tmp_path / "new" / "folder") as found:
        for _ in range(3):
            double(x).block_until_ready()
    assert found.path == tmp_path / "new" / "folder" / "process-00000-of-00001.jaxviz"
    assert [program.call for program in found.programs] == ["double(f32[32,32])"]
    opened = jv.open(tmp_path / "new")
    (process,) = opened.processes
    assert [one.call for one in process.compiled] == ["double(f32[32,32])"]
    assert process.compiled[0].compile > 0
    if compat.profile_reader() is not None:
        assert process.of("double").runs == 3
        assert len(opened.document().measures) == 1
    assert not [finding for finding in opened.findings if finding.kind in ("straggler", "differing")]


def test_an_error_in_the_block_is_what_comes_out_and_what_was_seen_is_written(tmp_path):
    @jax.jit
    def half(x):
        return x / 2.0

    def fails():
        with jv.recording(tmp_path):
            half(jnp.ones(3))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert [one.name for one in jv.open(tmp_path).processes[0].compiled] == ["half"]
    # The profiler and the listener are free again.
    with jv.recording(tmp_path) as found:
        half(jnp.ones(4))
    assert len(found) == 1
    assert [one.call for one in jv.open(tmp_path).processes[0].compiled] == ["half(f32[4])"]


KILLED = """
import os, signal, sys, time
import jax, jax.numpy as jnp
import jaxviz as jv

@jax.jit
def step(x):
    return jnp.sort(x) * 2.0

@jax.jit
def last(x):
    return jax.pure_callback(lambda x: os.kill(os.getpid(), signal.SIGKILL), x, x)

x = jnp.ones((32, 32))
with jv.recording(sys.argv[1], seconds=float(sys.argv[2])):
    for _ in range(3):
        jax.block_until_ready(step(x))
    if float(sys.argv[2]) < 60:
        # The times are written once the profiler is done.
        path = os.path.join(sys.argv[1], "process-00000-of-00001.jaxviz")
        until = time.time() + 60
        while time.time() < until and not any(process.runs for process in jv.open(path).processes):
            jax.block_until_ready(step(x))
            time.sleep(0.1)
    last(jnp.ones(3))
"""


@pytest.mark.parametrize("seconds", [60.0, 1.5])
def test_a_process_that_is_killed_leaves_what_it_had(tmp_path, seconds):
    began = time.time()
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    arguments = [sys.executable, "-c", KILLED, str(tmp_path), str(seconds)]
    ended = subprocess.run(arguments, env=environment, timeout=180, capture_output=True, text=True)
    assert ended.returncode == -9, ended.stderr
    opened = jv.open(tmp_path)
    (process,) = opened.processes
    # What was to be run when it was killed is there too.
    assert [one.name for one in process.compiled] == ["step", "last"]
    assert {program.name for program in opened.document().programs} >= {"step", "last"}
    assert not process.finished
    assert began < process.seen < time.time()
    (finding,) = [finding for finding in opened.findings if finding.kind == "unfinished"]
    assert finding.title.startswith("process 0 did not finish, last seen at ")
    assert finding.title in repr(opened)
    assert not opened.left_out
    if compat.profile_reader() is not None:
        assert bool(process.of("step")) == (seconds < 60)
    # Whoever records there again has finished.
    with jv.recording(tmp_path):
        jax.jit(lambda x: x - np.float32(3.0))(jnp.ones(3))
    assert [one.finished for one in jv.open(tmp_path).processes] == [True]
    assert [file.name for file in tmp_path.iterdir()] == ["process-00000-of-00001.jaxviz"]


def test_what_is_being_compiled_is_no_time_that_is_recorded(monkeypatch):
    if compat.profile_reader() is None:
        return
    monkeypatch.setattr(compat, "start_trace", lambda folder: None)
    monkeypatch.setattr(jax.profiler, "stop_trace", lambda: None)
    block = ProfiledBlock(0.05)
    block.begins_to_compile()
    block.start()
    time.sleep(0.4)
    assert not block.ended
    block.compiled(0.4)
    until = time.time() + 60
    while not block.ended and time.time() < until:
        time.sleep(0.01)
    assert block.ended
    block.stop()
    assert block.profile() is None


def test_what_was_last_seen_of_a_process_lies_beside_its_file(tmp_path, monkeypatch):
    @jax.jit
    def double(x):
        return x * 2.0

    monkeypatch.setattr(process_file, "_BEAT", 0.01)
    with jv.recording(tmp_path):
        double(jnp.ones(3))
        beside = tmp_path / "process-00000-of-00001.seen"
        until = time.time() + 60
        while not beside.exists() and time.time() < until:
            time.sleep(0.01)
        first = jv.open(tmp_path).processes[0].seen
        while jv.open(tmp_path).processes[0].seen <= first and time.time() < until:
            time.sleep(0.01)
        going = jv.open(tmp_path)
        assert going.processes[0].seen > first
        assert "did not finish" in repr(going)
        again = Document.from_json(going.document().to_json())
        assert again.processes[0].process.seen == pytest.approx(going.processes[0].seen, abs=1e-3)
    assert not beside.exists()
    assert "did not finish" not in repr(jv.open(tmp_path))


BEGUN = """
import os, signal, sys, time
import jax
import jaxviz as jv

rank, port, folder = int(sys.argv[1]), *sys.argv[2:4]
jax.distributed.initialize(f"localhost:{port}", 2, rank)
with jv.recording(folder):
    until = time.time() + 60
    while not os.path.exists(os.path.join(folder, "process-00001-of-00002.seen")) and time.time() < until:
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_that_is_killed_before_it_compiled_anything_is_known_to_have_begun(tmp_path, monkeypatch):
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    folder = tmp_path / "both"
    # Once more where the port was taken meanwhile.
    for _ in range(3):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        workers = [
            subprocess.Popen([sys.executable, "-c", BEGUN, str(rank), str(port), str(folder)], env=environment)
            for rank in range(2)
        ]
        try:
            # Who hears of the other's end first is ended by JAX.
            assert all(worker.wait(120) < 0 or not folder.exists() for worker in workers)
        finally:
            for worker in workers:
                worker.kill()
        if folder.exists():
            break
    with pytest.raises(
        OpenError, match=r"2 of 2 processes began to record there and compiled nothing; process \d was last seen at "
    ):
        jv.open(folder)
    # Beside the part of one that did compile, it is one of the processes.
    monkeypatch.setattr(compat, "place_among_processes", lambda: (0, 2))
    monkeypatch.setattr(jax, "process_count", lambda: 2)
    with jv.recording(folder):
        assert (folder / "process-00000-of-00002.started").exists()
        jax.jit(lambda x: x - np.float32(5.0))(jnp.ones(3))
    assert not (folder / "process-00000-of-00002.started").exists()
    opened = jv.open(folder)
    first, second = opened.processes
    assert (first.finished, second.finished) == (True, False)
    assert (len(first.compiled), len(second.compiled)) == (1, 0)
    assert "nothing compiled; did not finish, last seen at " in str(second)
    titles = [finding.title for finding in opened.findings if finding.kind in ("unfinished", "differing")]
    assert titles[0].startswith("process 1 did not finish, last seen at ")
    assert not any("missing" in title or "only process" in title for title in titles)
    (finding,) = [finding for finding in opened.findings if finding.kind == "unfinished"]
    assert "process 1 had not compiled anything yet" in finding.text
    again = Document.from_json(opened.document().to_json())
    assert str(again.processes[1].process) == str(second)


def test_a_file_that_says_that_a_process_has_begun_and_is_broken_is_none(tmp_path):
    file = tmp_path / "process-00001-of-00002.started"
    for text in ("", "{", "[]", "{}", '{"index": 7}', "\x00"):
        file.write_text(text)
        assert signs.started(file) is None
    assert signs.is_beside(file)


def test_a_folder_that_cannot_be_written_is_told_before(tmp_path):
    (tmp_path / "file").write_text("")
    done = []
    with pytest.raises(OSError, match="file"), jv.recording(tmp_path / "file" / "inside"):
        done.append(1)
    assert not done


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda one: one.update(index=5), r"\$\.processes\[0\]\.index"),
        (lambda one: one.pop("host"), r"processes\[0\]\.host"),
        (lambda one: one.update(seconds=-1), r"processes\[0\]\.seconds"),
        (lambda one: one["compiled"]["print"].append("x"), r"compiled\.print"),
        (lambda one: one["runs"]["waiting"].append(1.0), r"runs\.waiting"),
        (lambda one: one["versions"].update(jax=3), r"versions\[jax\]"),
        (lambda one: one.update(notes=[1]), r"notes\[0\]"),
        (lambda one: one.update(seen="now"), r"processes\[0\]\.seen"),
    ],
)
def test_a_fault_in_a_file_is_told_by_its_place(two, change, where):
    value = json.loads(json.dumps(two.document().to_json(packed=False)))
    change(value["processes"][0])
    with pytest.raises(DocumentError, match=where):
        Document.from_json(value)


def test_an_older_recording_of_another_number_of_processes_is_left_out(two, tmp_path):
    alone = two.path / "process-00000-of-00002.jaxviz"
    (tmp_path / alone.name).write_bytes(alone.read_bytes())
    with jv.recording(tmp_path):
        jax.jit(lambda x: x + np.float32(1.0))(jnp.ones(3))
    opened = jv.open(tmp_path)
    assert [process.count for process in opened.processes] == [1]
    assert "an older recording of 2 processes" in opened.left_out
