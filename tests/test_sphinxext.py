"""The directive of Sphinx: a frame on the web, a picture in print, an error at its line."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

from jaxviz.document import Document

MODULE = """
import jax.numpy as jnp

def power(x, n):
    return jnp.sin(x) ** n
"""
PAGE = """
Title
=====

.. jaxviz:: powers:power
   :args: f32[8] 3
   :static: 1
   :stage: {stage}
   :passes:
   :height: 321
"""


def build(folder, builder, page="", module=MODULE):
    conf = "extensions = ['jaxviz.sphinxext']\n"
    texts = {"powers.py": module, "conf.py": conf, "index.rst": page or PAGE.format(stage="jaxpr")}
    for name, text in texts.items():
        # Sphinx reads again what was written again.
        if not (folder / name).exists() or (folder / name).read_text() != text:
            (folder / name).write_text(text)
    command = [sys.executable, "-m", "sphinx", "-q", "-b", builder, "-d", "read", ".", "out"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def document_of(page):
    (data,) = re.findall(r'id="jv-document">(.*?)</script>', page.read_text("utf-8"), re.DOTALL)
    return Document.from_json(json.loads(data))


def test_on_the_web_it_is_a_frame_with_the_explorer(tmp_path):
    built = build(tmp_path, "html")
    assert (built.returncode, built.stderr) == (0, "")
    frame = re.search(r'<iframe src="(_jaxviz/\w+\.html)" title="([^"]*)"[^>]*height:321px', _index(tmp_path, "html"))
    assert frame is not None
    assert frame[2] == "what JAX makes of power(f32[8], 3)"
    shown = document_of(tmp_path / "out" / frame[1])
    assert "sin" in [node.op for node in shown.graphs[0]]
    assert len(shown.passes) == 1
    # A page is made again where the function has changed, and it has not.
    assert build(tmp_path, "html", module=MODULE.replace("sin", "cos")).returncode == 0
    (again,) = re.findall(r'<iframe src="(_jaxviz/[0-9a-f]+[.]html)"', _index(tmp_path, "html"))
    assert "cos" in [node.op for node in document_of(tmp_path / "out" / again).graphs[0]]
    assert again == frame[1], "in the same place"


def test_it_is_there_where_another_builder_has_read_the_pages(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "page.rst").write_text(PAGE.format(stage="jaxpr"))
    contents = "Contents\n========\n\n.. toctree::\n\n   deep/page\n"
    assert build(tmp_path, "text", contents).returncode == 0
    shutil.rmtree(tmp_path / "out")
    assert build(tmp_path, "dirhtml", contents).returncode == 0
    place = tmp_path / "out" / "deep" / "page"
    frame = re.search(r'<iframe src="([^"]*)"', (place / "index.html").read_text("utf-8"))
    assert 'id="jv-document"' in (place / frame[1]).read_text("utf-8")
    shutil.rmtree(tmp_path / "out")
    built = build(tmp_path, "epub", contents)
    assert (built.returncode, "mimetype" in built.stderr) == (0, False)
    place = tmp_path / "out" / "deep"
    image = re.search(r'<img src="([^"]*svg)"', (place / "page.xhtml").read_text("utf-8"))
    assert (place / image[1]).read_text("utf-8").startswith("<svg")


def test_in_print_it_is_a_picture(tmp_path):
    assert build(tmp_path, "latex").returncode == 0
    (source,) = [path for path in (tmp_path / "out").glob("*.tex") if "includegraphics" in path.read_text("utf-8")]
    picture = re.search(r"\\includegraphics\[[^]]*\]\{(jaxviz-\w+\.png)\}", source.read_text("utf-8"))
    assert picture is not None
    assert (tmp_path / "out" / picture[1]).read_bytes().startswith(b"\x89PNG")


def test_as_text_it_is_its_title(tmp_path):
    assert build(tmp_path, "text").returncode == 0
    assert "[what JAX makes of power(f32[8], 3)]" in _index(tmp_path, "txt")


def test_what_is_wrong_is_told_at_its_line(tmp_path):
    wrong = [".. jaxviz:: powers:nothing", ".. jaxviz:: powers:power\n   :args: f32["]
    built = build(tmp_path, "html", "\n\n".join([*wrong, PAGE.format(stage="nonsense")]))
    told = built.stderr.split("index.rst:")[1:]
    expected = [(1, "has no nothing"), (3, "cannot read the argument"), (10, "nonsense")]
    for (line, words), text in zip(expected, told, strict=True):
        assert text.startswith(f"{line}: ")
        assert words in text
    assert "Traceback" not in built.stderr


def _index(folder, suffix):
    return (folder / "out" / f"index.{suffix}").read_text("utf-8")
