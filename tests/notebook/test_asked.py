"""What a picture asks the kernel to do: to run, to rebuild a loop; how far it is, and what stops it."""

import json
import re
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxviz.document import Document
from jaxviz.exploration import Exploration
from jaxviz.measure import run as run_module
from jaxviz.measure import taken
from jaxviz.measure.progress import Progress
from jaxviz.notebook import asked
from jaxviz.notebook import session as session_module
from jaxviz.notebook.channel import Channel
from jaxviz.notebook.session import Session
from jaxviz.program.program import Program


class Line:
    """Stands for a comm."""

    def __init__(self):
        self.sent = []

    def send(self, message):
        self.sent.append(json.loads(json.dumps(message)))


@pytest.fixture
def channel(monkeypatch):
    session = Session()
    monkeypatch.setattr(session_module, "_session", session)
    made = Channel(session)
    made._comm = Line()
    session.told = made.tell
    return made


def explored(channel, fn, *args):
    exploration = Exploration(Program(fn, args))
    exploration.trace()
    channel._session.note_explored(exploration)
    return exploration


def ask(channel, **question):
    before = len(channel._comm.sent)
    channel._hear({"content": {"data": {"request": "r", **question}}})
    return [message for message in channel._comm.sent[before:] if message.get("request") == "r"]


def smooth(x):
    return jnp.tanh(x @ x).sum()


def settle(x):
    for _ in range(40):
        x = x * 1.01 + 0.1
    return x


def test_a_run_tells_how_far_it_is_and_gives_the_measured_document(channel):
    exploration = explored(channel, smooth, np.ones((32, 32), np.float32))
    *told, answer = ask(channel, type="run", id="1")
    assert {message["type"] for message in told} == {"progress"}
    words = [message["words"] for message in told]
    assert words[0] == "starting"
    assert words[-1] == "reading what was measured"
    document = Document.from_json(answer["document"])
    (measures,) = document.measures
    assert measures.measures.seconds["median"] == pytest.approx(exploration.measured.median, rel=1e-2)


@pytest.mark.smoke
def test_where_a_result_holds_a_nan_it_is_told_where_that_begins(channel, capsys):
    def lossy(x):
        distance = jnp.sqrt(x - 1.0)
        loss = (distance @ distance).sum()
        return x * 2.0, loss

    exploration = explored(channel, lossy, np.zeros((8, 8), np.float32))
    *told, answer = ask(channel, type="run", id="1")
    assert "a result holds a NaN: looking for where it begins" in [message["words"] for message in told]
    document = Document.from_json(answer["document"])
    assert "NaN in 1 of 2 results: loss" in document.measures[0].measures.words
    (values,) = document.values
    assert exploration.jaxpr.node(values.values.first_bad.node).op == "sqrt"


def test_a_nan_that_may_come_of_numbers_that_are_made_up_is_a_note(channel):
    exploration = explored(channel, jnp.sqrt, jax.ShapeDtypeStruct((64,), jnp.float32))
    *_, answer = ask(channel, type="run", id="1")
    document = Document.from_json(answer["document"])
    assert not document.values
    assert exploration.measured.nan == ""
    said = "NaN in 1 of 1 results: result, which may come of the numbers that are made up"
    assert said in document.measures[0].measures.words


def test_of_finite_results_no_values_are_looked_at(channel):
    explored(channel, smooth, np.ones((8, 8), np.float32))
    *_, answer = ask(channel, type="run", id="1")
    document = Document.from_json(answer["document"])
    assert not document.values
    assert not any("NaN" in words for words in document.measures[0].measures.words)


def test_what_calls_back_into_python_is_said_before_it_is_repeated(channel):
    seen = []

    def counted(x):
        jax.debug.callback(lambda: seen.append(len(channel._comm.sent)))
        return x + 1.0

    explored(channel, counted, jnp.ones(3))
    *told, _ = ask(channel, type="run", id="1")
    words = [message["words"] for message in told]
    first = next(place for place, text in enumerate(words) if "calls back into Python (line" in text)
    assert re.match(r"about 30 runs; each of them prints or calls back into Python \(line \d+\)$", words[first])
    assert len(seen) > 20
    assert all(" calls back into Python" in text and "; each run prints or" in text for text in words[first + 1 : -1])
    # All messages until then had been sent.
    assert min(seen) > first


def test_what_a_run_prints_is_told_with_it_because_no_cell_shows_it(channel, capsys):
    def told(x):
        jax.debug.print("sum {}", x.sum())
        return x + 1.0

    exploration = explored(channel, told, jnp.ones(3))
    *_, answer = ask(channel, type="run", id="1")
    (measures,) = Document.from_json(answer["document"]).measures
    (note,) = [words for words in measures.measures.words if "it printed" in words]
    assert re.match(r"it printed \d+ lines in all runs: sum 3\.0; sum 3\.0; sum 3\.0, and so on$", note)
    assert int(note.split()[2]) >= 20
    assert "sum 3.0" not in capsys.readouterr().out
    # In a cell it stands below the cell.
    exploration.run(repeat=1, profile=False)
    assert "sum 3.0" in capsys.readouterr().out
    assert not [words for words in exploration.measured.lines() if "it printed" in words]


def test_a_run_that_takes_long_says_what_was_stopped_and_holds_it_up(channel, monkeypatch):
    explored(channel, smooth, np.ones((8, 8), np.float32))
    monkeypatch.setattr(asked, "_LATE", 0.0)
    monkeypatch.setattr(asked, "_BETWEEN", 0.0)

    def heard(self, progress):
        progress(Progress("run", 0, 20, 5.0))

    monkeypatch.setattr(Exploration, "run", heard)
    for still, expected in ((0, "0 of 20 runs"), (2, "0 of 20 runs. 2 things that were stopped before go on all the")):
        monkeypatch.setattr(taken, "still_going", lambda still=still: still)
        words = [message["words"] for message in ask(channel, type="run", id="1") if message["type"] == "progress"]
        assert any(text.startswith(expected) for text in words)
        assert any("stopped before" in text for text in words) == bool(still)


def test_the_answer_is_of_the_program_that_was_shown(channel):
    first = explored(channel, smooth, np.ones((8, 8), np.float32))
    second = explored(channel, settle, np.ones(4, np.float32))
    key = channel._session.key
    assert (first.listed, second.listed) == (f"{key}:1", f"{key}:2")
    assert first._repr_mimebundle_()[1]["application/vnd.jaxviz.v1+json"]["program"] == f"{key}:1"
    assert ask(channel, type="list")[-1]["session"] == key
    *_, answer = ask(channel, type="run", id="2")
    assert Document.from_json(answer["document"]).programs[0].name == "settle"
    # Explored once more, it is the same program on the list.
    assert explored(channel, smooth, np.ones((8, 8), np.float32)).listed == f"{key}:1"


def test_a_run_that_is_interrupted_is_said_to_be_stopped_and_can_be_asked_again(channel, monkeypatch):
    explored(channel, smooth, np.ones((8, 8), np.float32))
    real = run_module.run_program

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module, "run_program", interrupted)
    (started, stopped) = ask(channel, type="run", id="1")
    assert started["words"] == "starting"
    assert (stopped["error"], stopped["stopped"]) == ("stopped", True)
    monkeypatch.setattr(run_module, "run_program", real)
    assert ask(channel, type="run", id="1")[-1]["type"] == "document"


def test_an_unrolled_loop_is_rebuilt_and_both_are_compared(channel):
    explored(channel, settle, np.ones(16, np.float32))
    *told, answer = ask(channel, type="rebuild", id="1", loop=0)
    # With the seconds of what takes long.
    words = list(dict.fromkeys(re.sub(r", \d+ s$", "", message["words"]) for message in told))
    assert words == [
        "starting",
        "writing the loop",
        "tracing it unrolled",
        "compiling it unrolled, 80 equations",
        "running it unrolled",
        "tracing it as jax.lax.fori_loop",
        "compiling it as jax.lax.fori_loop, 3 equations",
        "running it as jax.lax.fori_loop",
    ]
    assert answer["rows"][0] == ["", "unrolled", "fori_loop"]
    assert [row[0] for row in answer["rows"][1:]] == ["equations", "trace", "compile", "run"]
    assert any("results are equal" in text for text in answer["said"])
    # Their picture is made when it is asked for.
    assert answer["both"]
    *told, opened = ask(channel, type="beside", id="1", loop=0)
    assert [message["words"] for message in told if "through" in message["words"]] == [
        "following it unrolled through the compiler",
        "following the loop through the compiler",
    ]
    assert told[-1]["words"] == "putting both side by side"
    unrolled, rebuilt = Document.from_json(opened["document"]).programs
    assert unrolled.name == "settle"
    assert rebuilt.name != ""


def test_what_is_not_there_is_said_in_one_line(channel):
    explored(channel, smooth, np.ones((8, 8), np.float32))
    assert "0 unrolled loops" in ask(channel, type="rebuild", id="1", loop=0)[-1]["error"]
    assert "no longer on the list" in ask(channel, type="run", id="7")[-1]["error"]


def test_an_error_of_the_run_is_said_in_its_own_words(channel, monkeypatch):
    explored(channel, smooth, np.ones((8, 8), np.float32))

    def fails(*args, **kwargs):
        raise run_module.RunError("smooth needs 80 GB, and the device has 40 GB\nmore of it")

    monkeypatch.setattr(run_module, "run_program", fails)
    assert ask(channel, type="run", id="1")[-1]["error"] == "smooth needs 80 GB, and the device has 40 GB"


SLOW = """
import jax, jax.numpy as jnp, jaxviz as jv
def slow(x):
    return jax.lax.fori_loop(0, 400, lambda _, y: jnp.tanh(y @ x), x)
ex = jv.explore(slow, jnp.ones((500, 500)))
"""


def test_a_real_kernel_is_stopped_at_a_run_by_an_interrupt_and_goes_on():
    """As the stop button does: a message of the comm, an interrupt while it is answered, and the next cell."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=120)
    try:
        opened = []

        def hear(message):
            if message["msg_type"] == "comm_open":
                opened.append(message["content"]["comm_id"])

        client.execute_interactive(SLOW, timeout=120, output_hook=hear)
        question = {"type": "run", "id": "1", "request": "r"}
        message = client.session.msg("comm_msg", {"comm_id": opened[0], "data": question})
        client.shell_channel.send(message)

        def heard(wanted):
            while True:
                message = client.get_iopub_msg(timeout=120)
                data = message["content"].get("data", {})
                if message["msg_type"] == "comm_msg" and wanted(data):
                    return data

        heard(lambda data: "of 20 runs" in data.get("words", ""))
        manager.interrupt_kernel()
        answer = heard(lambda data: data["type"] != "progress")
        assert (answer["error"], answer.get("stopped")) == ("stopped", True)
        said = []
        reply = client.execute_interactive(
            "print(6 * 7)", timeout=120, output_hook=lambda message: said.append(message["content"].get("text", ""))
        )
        assert reply["content"]["status"] == "ok"
        assert "42\n" in said
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_one_thing_is_done_at_a_time(channel):
    explored(channel, smooth, np.ones((8, 8), np.float32))
    with channel._making:
        other = threading.Thread(target=ask, args=(channel,), kwargs={"type": "run", "id": "1"}, daemon=True)
        other.start()
        while other.is_alive() and channel._comm.sent[-1]["type"] != "progress":
            other.join(0.01)
        assert channel._comm.sent[-1]["type"] == "progress"
    other.join(60)
    assert channel._comm.sent[-1]["type"] == "document"
