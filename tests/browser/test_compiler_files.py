"""Files that a compiler wrote are opened on double click."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

HLO = Path(__file__).parents[1] / "data" / "hlo" / "mlp_fwd.v5e.txt"


def mlir():
    return jax.jit(lambda x: jnp.sin(x) @ x).lower(jnp.ones((4, 4))).as_text().encode()


@pytest.mark.parametrize(
    ("name", "content", "label"),
    [("net.hlo.txt", HLO.read_bytes, None), ("program.mlir", mlir, "dot_general")],
)
def test_compiler_files_open_in_the_explorer(lab, open_page, name, content, label):
    (lab.folder / "dumps").mkdir(exist_ok=True)
    (lab.folder / "dumps" / name).write_bytes(content())
    before = len(lab.sessions())
    page = open_page()
    page.goto(f"{lab.url}/lab/tree/dumps?reset")
    row = page.locator(".jp-DirListing-item", has_text=name)
    row.dblclick()
    root = page.locator(".jv-tab .jv-root[data-boxes]")
    root.wait_for()
    assert len(root.evaluate("root => root.explorer.labels")) > 2
    if label:
        assert label in root.evaluate("root => root.explorer.labels")
    page.screenshot(path=str(Path(__file__).parents[2] / "test-results" / "screens" / f"opened-{name}.png"))
    # The kernel that read it is gone again.
    page.wait_for_function(
        "([url, count]) => fetch(url).then(answer => answer.json()).then(list => list.length <= count)",
        arg=[f"{lab.url}/api/sessions", before],
    )


def test_a_damaged_file_says_what_is_wrong_in_one_line(lab, open_page):
    (lab.folder / "bad.hlo").write_text("HloModule broken\n\nENTRY main {\n  ROOT x = f32[2 add(\n}\n")
    page = open_page()
    page.goto(f"{lab.url}/lab/tree/bad.hlo?reset")
    error = page.locator(".jv-tab-error")
    error.wait_for()
    assert "bad.hlo" in error.inner_text()
    assert "\n" not in error.inner_text()
