"""The notebooks in `examples/` run from top to bottom and their outputs are what the explorer needs."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from jaxviz.document import Document
from jaxviz.notebook.display import MIME_TYPE

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(path: Path, folder: Path) -> nbformat.NotebookNode:
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(folder)}}).execute()
    return notebook


def bundles(notebook: nbformat.NotebookNode) -> list[dict]:
    return [
        output.data
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type in ("execute_result", "display_data") and MIME_TYPE in output.data
    ]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_every_magic_of_an_example_shows_a_document(path, tmp_path):
    notebook = run(path, tmp_path)
    magics = sum(
        cell.source.count("\n%jaxviz ") + cell.source.startswith("%jaxviz ")
        for cell in notebook.cells
        if cell.cell_type == "code"
    )
    shown = bundles(notebook)
    assert magics > 0
    assert len(shown) >= magics
    for data in shown:
        assert len(Document.from_json(data[MIME_TYPE]).graphs[0]) > 0
        assert data["image/svg+xml"].startswith("<svg")


def test_outputs_of_the_tour_are_small(tmp_path):
    for data in bundles(run(EXAMPLES / "tour.ipynb", tmp_path)):
        assert len(json.dumps(data)) <= 30_000


def test_lines_of_a_notebook_are_named_by_their_cell(tmp_path):
    first = bundles(run(EXAMPLES / "tour.ipynb", tmp_path))[0]
    document = Document.from_json(first[MIME_TYPE])
    tanh = next(node for node in document.graphs[0] if node.op == "tanh")
    assert (tanh.frames[0].label, tanh.frames[0].line) == ("In [2]", 2)
    assert any("jnp.tanh(w @ x + b)" in text for text in document.to_json(packed=False)["strings"])


def test_nbconvert_shows_the_picture(tmp_path):
    body, _ = HTMLExporter().from_notebook_node(run(EXAMPLES / "tour.ipynb", tmp_path))
    # The page has icons of its own among its pictures.
    pictures = [
        base64.b64decode(data).decode() for data in re.findall(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)", body)
    ]
    assert sum("with 3 operations</desc>" in picture for picture in pictures) == 2
    assert sum(">matmul</text>" in picture for picture in pictures) >= 2


def test_the_lesson_about_compilations_tells_each_reason(tmp_path):
    notebook = run(EXAMPLES / "compiled-again.ipynb", tmp_path)
    told = [
        "".join(
            output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in cell.get("outputs", [])
        )
        for cell in notebook.cells
    ]
    (lengths,) = [text for text in told if "jaxviz session" in text]
    assert lengths.count(": the shape of `x` is") == 3
    assert "Bring axis 0 of `x` to a few fixed sizes" in lengths
    # Padded, one program is enough for all lengths.
    assert "['padded_total(f32[16], 10)']" in told
    assert any("the static argument `n` is 5, before 4" in text for text in told)
    assert any("this lambda is a new function object" in text for text in told)
