"""Changed files of every kind are opened or refused in one line; the bench `fuzz` does the same at length."""

from __future__ import annotations

import threading

import pytest

from bench.fuzz import run, sources
from jaxviz.read.bytecode import BytecodeError, text_of_bytecode


@pytest.fixture(scope="module")
def sound():
    return sources()


@pytest.mark.parametrize(
    "kind",
    [
        "hlo text",
        "hlo proto",
        "snapshot",
        "profile",
        "mlir text",
        "mlir lines",
        "document",
        "gzip",
        "bzip2",
        "xz",
        "zstd",
        "dump",
        "mlir bytecode",
        "export",
    ],
)
def test_changed_files_are_opened_or_refused(sound, kind, tmp_path):
    # Damaged bytecode may end the process that reads it, which has to be started anew.
    # A dump is many files.
    count = {"mlir bytecode": 10, "export": 10, "dump": 20}.get(kind, 60)
    assert f"{count} changed: " in run(kind, sound[kind], count, tmp_path / "input", lambda number: None)


def test_bytecode_that_ends_its_reader_is_refused_and_the_next_is_read(sound, monkeypatch):
    data = sound["mlir bytecode"]
    assert "func.func public @main" in text_of_bytecode(data)

    class AtOnce(threading.Timer):
        def start(self):
            self.function()

    monkeypatch.setattr("jaxviz.read.bytecode.threading.Timer", AtOnce)
    with pytest.raises(BytecodeError, match="reading it ended the parser"):
        text_of_bytecode(data)
    monkeypatch.undo()
    assert "func.func public @main" in text_of_bytecode(data)


def test_names_that_are_no_text_are_opened(tmp_path):
    import jaxviz as jv

    (tmp_path / "m").write_text(
        'func.func @main(%x: f32 loc("\\FF")) -> f32 { return %x : f32 } loc("\\C3\\A9\\\\FE")', encoding="utf-8"
    )
    (argument, _) = jv.open(tmp_path / "m").stablehlo
    assert argument.name == "?"
