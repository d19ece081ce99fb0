"""Joins what several processes of one program recorded into one folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from jaxviz.document import Document, FindingEntry, ProcessEntry
from jaxviz.graph import Graph
from jaxviz.join import joined
from jaxviz.measure.processes import Process
from jaxviz.measure.stragglers import compared
from jaxviz.opening.opened import OpenedProgram


def joined_processes(
    documents: Sequence[Document], left_out: list[str], begun: Sequence[Process] = ()
) -> OpenedProgram:
    """One program of the documents that processes wrote; what differs between them is among the findings.

    Those that have only `begun` wrote none.
    """
    newest = _newest(documents, left_out)
    newest.sort(key=lambda document: document.processes[0].process.index)
    parts: list[Document] = []
    seen: set[tuple[object, ...]] = set()
    names: set[str] = set()
    for document in newest:
        index = document.processes[0].process.index
        for number in range(len(document.programs)):
            part = document.of_program(number)
            program = part.programs[0]
            key = (program.call, *(len(graph) for graph in part.graphs))
            if key in seen:
                continue
            seen.add(key)
            if program.name in names:
                program = replace(program, name=f"{program.name} (process {index})")
            names.add(program.name)
            parts.append(replace(part, programs=(program,)))
    whole = joined(parts) if len(parts) > 1 else parts[0]
    processes = _with_begun([document.processes[0].process for document in newest], begun)
    graphs: dict[str, Graph] = {}
    places: dict[str, int] = {}
    for program in whole.programs:
        for stage in program.stages:
            places.setdefault(program.name, stage.graph)
            if stage.kind == "hlo":
                graphs[program.name] = whole.graphs[stage.graph]
                places[program.name] = stage.graph
    found = [
        FindingEntry(places.get(name, 0), finding)
        for name, findings in compared(processes, graphs).items()
        for finding in findings
    ]
    whole = replace(
        whole,
        findings=(*found, *whole.findings),
        processes=tuple(ProcessEntry(process) for process in processes),
    )
    return OpenedProgram(whole.programs[0].name, document=whole)


def _with_begun(processes: Sequence[Process], begun: Sequence[Process]) -> list[Process]:
    """All processes of a recording. What one wrote in an earlier recording is not what it did in this one."""
    count = processes[0].count
    found = {process.index: process for process in processes}
    for process in begun:
        written = found.get(process.index)
        if process.count == count and (written is None or written.began < process.began):
            found[process.index] = process
    return [found[index] for index in sorted(found)]


def _newest(documents: Sequence[Document], left_out: list[str]) -> list[Document]:
    """Of recordings of several numbers of processes in one folder, the newest."""
    groups: dict[int, list[Document]] = defaultdict(list)
    for document in documents:
        groups[document.processes[0].process.count].append(document)
    newest = max(groups, key=lambda count: max(one.processes[0].process.began for one in groups[count]))
    left_out += [f"an older recording of {count} processes" for count in groups if count != newest]
    return groups[newest]
