"""What the manual says is so."""

from __future__ import annotations

import ast
import linecache
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxviz as jv
from jaxviz.link.fates import FATE_KINDS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
# A program, whose last line is the call, and the titles that stand below it.
EXAMPLE = re.compile(r"^```python\n((?:(?!^```).*\n)+)^```\n((?:\n> .*\n)+)", re.MULTILINE)
EXAMPLES = [
    pytest.param(code, re.findall(r"^> (.*)$", titles, re.MULTILINE), id=str(code.strip().splitlines()[-1]))
    for code, titles in EXAMPLE.findall((DOCS / "findings.md").read_text("utf-8"))
]


def alike(titles):
    """Without what differs from version to version of JAX."""
    return [re.sub(r"[\d.]+(?= (?:equations|MB for))", "some", title) for title in titles]


@pytest.mark.smoke
@pytest.mark.filterwarnings("ignore:.*float64")
@pytest.mark.parametrize(("code", "titles"), EXAMPLES)
def test_an_example_has_the_findings_that_stand_below_it(code, titles, capsys):
    file = f"<{code.strip().splitlines()[-1]}>"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    names = {"jax": jax, "jnp": jnp, "np": np, "__name__": "manual"}
    *program, last = ast.parse(code).body
    exec(compile(ast.Module(program, []), file, "exec"), names)
    function, *arguments = [
        eval(compile(ast.Expression(part), file, "eval"), names) for part in (last.value.func, *last.value.args)
    ]
    found = [finding.title for finding in jv.explore(function, *arguments).findings]
    assert alike(found[: len(titles)]) == alike(titles)


def test_there_are_examples():
    assert len(EXAMPLES) >= 20


@pytest.mark.smoke
@pytest.mark.parametrize("page", ["stages", "files"])
def test_what_a_page_calls_works(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": page}
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / f"{page}.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    for number, code in enumerate(blocks):
        file = f"<{page} {number}>"
        linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
        *program, last = ast.parse(code).body
        exec(compile(ast.Module(program, []), file, "exec"), names)
        assert eval(compile(ast.Expression(last.value), file, "eval"), names), code


def test_the_table_of_fates_is_whole():
    table = (DOCS / "stages.md").read_text("utf-8").split("| fate |")[1].split("```")[0]
    assert re.findall(r"`(\w+)`", table) == list(FATE_KINDS[1:])


def test_each_room_is_named():
    told = (DOCS / "contributing.md").read_text("utf-8")
    for top, built in ((ROOT / "jaxviz", {"static", "labextension"}), (ROOT / "labextension" / "src", set())):
        rooms = {path.name for path in top.iterdir() if path.is_dir() and not path.name.startswith("__")} - built
        assert [room for room in sorted(rooms) if f"`{room}/`" not in told] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_to_files(page):
    linked = re.findall(r"\]\(([^)#:]+)[)#]", page.read_text("utf-8"))
    assert [name for name in linked if not (page.parent / name).exists()] == []
