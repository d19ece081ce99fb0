"""A line on how far it is passes: what waited for is done, nothing of it is left."""

import io
import sys
import time
from types import SimpleNamespace

import IPython.display
import pytest

from jaxviz.measure import progress, told


def run_in_cell(monkeypatch, name):
    """From now on, what is shown is the output of this execution of a cell."""
    shell = SimpleNamespace(display_pub=SimpleNamespace(parent_header={"msg_id": name}))
    monkeypatch.setattr(told, "kernel_shell", lambda: shell)


def wait_for(outputs):
    """Work that goes on until something is told of it."""
    while not outputs:
        time.sleep(0.01)


@pytest.fixture
def displayed(monkeypatch):
    """What each output of a notebook shows, as it is displayed and updated."""
    outputs = []

    class Output:
        def __init__(self, data):
            self.history = [data]

        def update(self, data, raw, metadata=None):
            assert raw
            self.history.append(data)
            self.metadata = metadata

    def display(data, raw, display_id=False):
        assert raw
        outputs.append(Output(data))
        return outputs[-1]

    run_in_cell(monkeypatch, "first")
    monkeypatch.setattr(told, "_left", ("", None))
    monkeypatch.setattr(IPython.display, "display", display)
    return outputs


def test_in_a_notebook_how_far_it_is_passes_with_the_wait(displayed, monkeypatch, capsys):
    monkeypatch.setattr(progress, "_SILENCE", 0.0)
    progress.waited_for("f(x)", "compiling again", lambda _: wait_for(displayed), told.print_line)
    assert "f(x): compiling again, after 0 s; interrupt to stop." in displayed[0].history[0]["text/plain"]
    assert displayed[0].history[-1] == {}
    assert len(displayed) == 1
    assert capsys.readouterr().err == ""


def test_it_passes_too_where_the_wait_ends_in_an_error(displayed, monkeypatch):
    monkeypatch.setattr(progress, "_SILENCE", 0.0)

    def fail(_):
        wait_for(displayed)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        progress.waited_for("f(x)", "compiling again", fail, told.print_line)
    assert displayed[0].history[-1] == {}


def test_the_steps_of_a_work_pass_with_it(displayed, monkeypatch):
    monkeypatch.setattr(progress, "_SILENCE", 0.0)
    steps = progress.Steps("f(x)", told.print_line)
    with steps.heard():
        steps.begin("building")
        steps.begin("compiling")
    shown = [output.history for output in displayed]
    assert "f(x): building" in shown[0][0]["text/plain"]
    assert shown[0][-1] == {}
    assert len(shown) == 1


def test_who_is_done_soon_has_no_output(displayed):
    progress.waited_for("f(x)", "compiling again", lambda _: None, told.print_line)
    assert displayed == []


def passed_line():
    line = told.PassingLine()
    line.show("3 of 20 runs")
    line.end()


def test_what_a_cell_shows_next_takes_the_place_of_a_line_that_has_passed(displayed):
    passed_line()
    passed_line()
    assert len(displayed) == 1
    told.display_in_place({"text/plain": "the result"})
    assert displayed[0].history[-1] == {"text/plain": "the result"}
    assert displayed[0].metadata is None
    told.display_in_place({"text/plain": "more"})
    assert displayed[1].history == [{"text/plain": "more"}]


def test_a_line_whose_place_nothing_takes_is_marked(displayed, monkeypatch):
    passed_line()
    assert displayed[0].metadata == {"jaxviz": "passed"}
    run_in_cell(monkeypatch, "second")
    told.display_in_place({"text/plain": "of another cell"})
    assert displayed[0].history[-1] == {}
    assert displayed[1].history == [{"text/plain": "of another cell"}]


def test_in_a_terminal_a_line_takes_the_place_of_the_last(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    line = told.PassingLine()
    line.show("3 of 20 runs")
    line.show("9 of 20 runs")
    line.end()
    assert terminal.getvalue() == "\r\x1b[K3 of 20 runs\r\x1b[K9 of 20 runs\r\x1b[K"


def test_in_a_file_each_line_stays(capsys):
    line = told.PassingLine()
    line.show("3 of 20 runs")
    line.end()
    assert capsys.readouterr().err == "3 of 20 runs\n"
