"""Notebooks that were run, and what a person sees of them: texts, and the documents behind the pictures."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from jaxviz.document import Document
from jaxviz.find import Finding
from jaxviz.graph import Graph
from jaxviz.notebook.display import MIME_TYPE

# As if the kernel had just been started, but for what JAX keeps.
_AFRESH = """
%reset -f
import os
os.chdir({folder!r})
get_ipython().execution_count = 1
import jaxviz
jaxviz.session().clear()
"""


@dataclass(frozen=True, eq=False)
class Notebook:
    """A notebook with its outputs, and the folder that it ran in."""

    node: nbformat.NotebookNode
    folder: Path

    @cached_property
    def magics(self) -> int:
        return sum(len(re.findall(r"^%jaxviz ", source, re.MULTILINE)) for source in self.sources)

    @property
    def sources(self) -> list[str]:
        return [cell.source for cell in self._code]

    @cached_property
    def texts(self) -> list[str]:
        """What each code cell says: what it prints, and its last value in words."""
        return ["".join(map(_text, cell.outputs)) for cell in self._code]

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    @cached_property
    def bundles(self) -> list[dict[str, Any]]:
        return [
            output.data
            for cell in self._code
            for output in cell.outputs
            if output.output_type in ("execute_result", "display_data") and MIME_TYPE in output.data
        ]

    @cached_property
    def shown(self) -> list[Shown]:
        """The documents behind the pictures, from the first one on."""
        return [Shown(Document.from_json(data[MIME_TYPE])) for data in self.bundles]

    @property
    def _code(self) -> list[nbformat.NotebookNode]:
        return [cell for cell in self.node.cells if cell.cell_type == "code"]


@dataclass(frozen=True, eq=False)
class Shown:
    """A document, in the words of tests."""

    document: Document

    def graph(self, stage: str, program: int = 0) -> Graph:
        entry = self.document.programs[program]
        return self.document.graphs[next(one.graph for one in entry.stages if one.kind == stage)]

    def operations(self, stage: str, program: int = 0) -> list[str]:
        return [node.op for node in self.graph(stage, program) if node.kind == "operation"]

    def named(self, stage: str = "jaxpr", program: int = 0) -> dict[str, str]:
        """The arguments and results of the program itself, and their types."""
        return {
            node.name: "".join(node.types or node.operand_texts)
            for node in self.graph(stage, program)
            if node.kind in ("argument", "result") and node.region == 0
        }

    @property
    def findings(self) -> dict[str, Finding]:
        return {entry.finding.kind: entry.finding for entry in self.document.findings}

    def rows(self, program: int = 0) -> list[Any]:
        """The rows of the outline of the jaxpr."""
        graph = self.graph("jaxpr", program)
        return [
            row
            for entry in self.document.outlines
            if self.document.graphs[entry.graph] is graph
            for row in entry.outline
        ]

    @property
    def stacks(self) -> dict[str, int]:
        """How often each stack of the first jaxpr is there, by its name."""
        return {row.name: row.count for row in self.rows() if row.count > 1}


def _text(output: nbformat.NotebookNode) -> str:
    if output.output_type == "stream":
        # Words of progress come where a machine is slow.
        return "" if output.name == "stderr" else output.text
    return output.get("data", {}).get("text/plain", "") + "\n"


class Runner:
    """A kernel that runs one notebook after the other."""

    def __init__(self, client: NotebookClient) -> None:
        self._client = client

    def run(self, notebook: nbformat.NotebookNode, folder: Path) -> Notebook:
        afresh = nbformat.v4.new_code_cell(_AFRESH.format(folder=os.fspath(folder)))
        self._client.nb = nbformat.v4.new_notebook(cells=[afresh])
        self._client.execute_cell(afresh, 0)
        self._client.nb = notebook
        for number, cell in enumerate(notebook.cells):
            self._client.execute_cell(cell, number)
        return Notebook(notebook, folder)


@contextmanager
def running(folder: Path) -> Iterator[Runner]:
    """A kernel of its own; no notebook begins before the one before it has ended."""
    client = NotebookClient(
        nbformat.v4.new_notebook(), timeout=240, resources={"metadata": {"path": str(folder)}}, kernel_name="python3"
    )
    with client.setup_kernel():
        yield Runner(client)
