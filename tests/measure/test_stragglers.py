"""What is said of several processes, by the numbers that they recorded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jaxviz.measure.processes import CompiledThere, DeviceRuns, Process, device_runs
from jaxviz.measure.profile import Row, events_of
from jaxviz.measure.stragglers import compared
from jaxviz.opening.processes import _with_begun


def process(index, count=3, *, ran=(), compiled=(), **change):
    made = Process(
        index=index,
        count=count,
        host="host",
        device="CPU",
        devices=1,
        began=100.0,
        seconds=1.0,
        versions={"jax": "0.10.2"},
        compiled=tuple(CompiledThere(name, f"{name}()", text, 0.1, 0.1, 0.1) for name, text in compiled),
        runs=tuple(DeviceRuns("step", 0, 9, *seconds) for seconds in ran),
    )
    return replace(made, **change)


def said(*processes):
    return [finding.title for findings in compared(processes, {}).values() for finding in findings]


def test_a_process_with_more_to_compute_is_told_from_one_that_begins_late():
    slow = [process(0, ran=[(1.0, 1.0, 0.0)]), process(1, ran=[(2.0, 0.0, 0.0)]), process(2, ran=[(1.0, 1.0, 0.0)])]
    (finding,) = compared(slow, {})["step"]
    assert finding.figures["process"] == 1.0
    assert finding.text.startswith("Its own operations take 2 s in a run, those of the others 1 s")
    late = [process(0, ran=[(1.0, 1.0, 0.0)]), process(1, ran=[(1.0, 0.0, 1.0)]), process(2, ran=[(1.0, 1.0, 0.0)])]
    (finding,) = compared(late, {})["step"]
    assert finding.text.startswith("It begins late: 1 s pass between its runs, 0 ns in the others")


def test_processes_that_wait_alike_are_not_told():
    assert not said(*(process(index, ran=[(1.0, 0.1 + 0.05 * index, 0.0)]) for index in range(3)))


def test_without_collectives_the_one_that_computes_longest_is_told():
    alone = [process(index, ran=[(1.0 + (index == 2), 0.0, 0.0)]) for index in range(3)]
    assert said(*alone) == ["process 2 takes 1 s longer than the others for each run of step"]


def test_the_devices_of_a_process_count_as_their_mean():
    two_devices = process(0, ran=[(1.0, 0.0, 0.0), (3.0, 0.0, 0.0)])
    assert two_devices.of("step").computing == 2.0
    assert two_devices.of("nothing") is None


def test_what_only_some_compiled_is_a_note():
    titles = said(
        process(0, compiled=[("step", "a"), ("log", "b")]),
        process(1, compiled=[("step", "a")]),
        process(2, compiled=[("step", "a")]),
    )
    assert titles == ["only process 0 compiled log"]


def test_another_number_of_programs_of_one_function_is_a_difference():
    again = said(
        process(0, 2, compiled=[("step", "a")]),
        process(1, 2, compiled=[("step", "a"), ("step", "b")]),
    )
    assert again == ["step is not the same program in process 1 as in process 0"]


def test_programs_that_are_called_alike_and_compute_something_else_are_said_to_be():
    ((finding,),) = [
        findings
        for findings in compared(
            [process(0, 2, compiled=[("step", "a")]), process(1, 2, compiled=[("step", "b")])], {}
        ).values()
        if findings
    ]
    said_of = "Compiled were, in process 0: step(); in process 1: step()."
    assert finding.text == f"{said_of} The calls look alike, and what they compute differs."


def test_processes_that_are_missing_or_older_are_told():
    assert said(process(0, 4), process(1, 4)) == ["2 of 4 processes recorded; missing: processes 2, 3"]
    assert said(process(0, 2), process(1, 2, began=100_000.0)) == ["the processes began up to 1,665 minutes apart"]


def test_other_versions_are_told():
    other = process(1, 2, versions={"jax": "0.9.1"})
    assert said(process(0, 2), other) == ["jax differs: 0.10.2 in process 0; 0.9.1 in process 1"]


def test_what_a_process_wrote_in_an_earlier_recording_is_not_taken_for_this_one(tmp_path):
    began = [process(0, 2), process(1, 2, began=50.0)]
    gone = process(1, 2, began=99.0, compiled=[], seen=101.0)
    assert _with_begun(began, [gone]) == [began[0], gone]
    assert _with_begun([began[0]], [gone]) == [began[0], gone]
    assert _with_begun(began, [process(1, 2, began=49.0, seen=60.0)]) == began
    assert _with_begun(began, [process(1, 3, began=99.0, seen=101.0)]) == began


def test_the_first_of_several_that_did_not_finish_is_told():
    gone = [process(0, seen=190.0), process(1), process(2, seen=134.0)]
    (finding,) = [one for one in compared(gone, {})[""] if one.kind == "unfinished"]
    assert finding.title.startswith("processes 0, 2 did not finish; process 2 was the first to be gone, last seen at ")
    assert finding.title.endswith(", 34 s after it began")


def test_times_of_a_device_are_medians_without_the_first_run():
    rows = []
    for run, (start, wait) in enumerate([(0, 900), (2000, 10), (3000, 30), (5000, 20)]):
        rows.append(Row("dot", start, start + 100, 0, 3, run))
        rows.append(Row("all-reduce", start + 100, start + 100 + wait, 0, 3, run))
    events = events_of(rows, 4)
    own = (events.end - events.start).tolist()
    waits = [events.names[number] == "all-reduce" for number in events.name.tolist()]
    (found,) = device_runs("step", events, own, waits)
    assert (found.device, found.runs) == (3, 4)
    assert found.computing == pytest.approx(100e-9)
    assert found.waiting == pytest.approx(20e-9)
    # From the end of one run to the beginning of the next: 1000, 890 and 1870.
    assert found.between == pytest.approx(1000e-9)
