"""Files that a compiler wrote are opened on double click."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
from playwright.sync_api import Locator, Page

HLO = Path(__file__).parents[1] / "data" / "hlo" / "mlp_fwd.v5e.txt"


def mlir():
    return jax.jit(lambda x: jnp.sin(x) @ x).lower(jnp.ones((4, 4))).as_text().encode()


def open_file(page: Page, name: str) -> Locator:
    """The picture of a file that is opened as people do it."""
    page.locator(".jp-DirListing-item", has_text=name).dblclick()
    root = page.locator(".jv-tab .jv-root[data-boxes]:visible")
    root.wait_for()
    return root


def close_tab(page: Page, name: str) -> None:
    page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab", has_text=name).locator(".lm-TabBar-tabCloseIcon").click()


def wait_for_sessions(page: Page, lab, count: int) -> None:
    page.wait_for_function(
        "([url, count]) => fetch(url).then(answer => answer.json()).then(list => list.length === count)",
        arg=[f"{lab.url}/api/sessions", count],
    )


def test_compiler_files_open_in_the_explorer_and_share_one_kernel(lab, open_page):
    (lab.folder / "dumps").mkdir(exist_ok=True)
    (lab.folder / "dumps" / "net.hlo.txt").write_bytes(HLO.read_bytes())
    (lab.folder / "dumps" / "program.mlir").write_bytes(mlir())
    before = len(lab.sessions())
    page = open_page()
    page.goto(f"{lab.url}/lab/tree/dumps?reset")
    root = open_file(page, "net.hlo.txt")
    assert len(root.evaluate("root => root.explorer.labels")) > 2
    page.screenshot(path=str(Path(__file__).parents[2] / "test-results" / "screens" / "opened-net.hlo.txt.png"))
    root = open_file(page, "program.mlir")
    assert "dot_general" in root.evaluate("root => root.explorer.labels")
    wait_for_sessions(page, lab, before + 1)
    close_tab(page, "program.mlir")
    # Somebody shuts it down: the next file starts another.
    lab.stop_kernels()
    wait_for_sessions(page, lab, 0)
    open_file(page, "program.mlir")
    wait_for_sessions(page, lab, 1)
    close_tab(page, "program.mlir")
    close_tab(page, "net.hlo.txt")
    wait_for_sessions(page, lab, 0)


def programs_in(page: Page) -> list[str]:
    """The programs that one can choose from in the tab that is seen."""
    return page.locator(".jv-tab .jv-root:visible .jv-program option").all_inner_texts()


def test_a_folder_opens_from_its_menu_with_all_programs_and_what_xla_dumped_on_double_click(lab, open_page):
    folder = lab.folder / "xla"
    folder.mkdir(exist_ok=True)
    options = {"xla_dump_to": str(folder), "xla_dump_hlo_as_text": True}
    for function in (jnp.sin, jnp.cos):
        jax.jit(function).lower(jnp.ones((4, 4))).compile(compiler_options=options)
    page = open_page()
    page.goto(f"{lab.url}/lab?reset")
    page.locator(".jp-DirListing-item", has_text="xla").click(button="right")
    page.locator(".lm-Menu-item", has_text="Show JAX Programs").click()
    page.locator(".jv-tab .jv-root[data-boxes]:visible").wait_for()
    assert sorted(programs_in(page)) == ["jit_cos", "jit_sin"]
    # It is there again with the page.
    page.reload()
    page.locator(".jv-tab .jv-root[data-boxes]:visible").wait_for()
    assert sorted(programs_in(page)) == ["jit_cos", "jit_sin"]
    close_tab(page, "xla")
    page.locator(".jp-DirListing-item", has_text="xla").dblclick()
    root = open_file(page, "jit_sin.cpu_after_optimizations.txt")
    assert "sin" in root.evaluate("root => root.explorer.labels")


def test_a_damaged_file_says_what_is_wrong_in_one_line(lab, open_page):
    (lab.folder / "bad.hlo").write_text("HloModule broken\n\nENTRY main {\n  ROOT x = f32[2 add(\n}\n")
    page = open_page()
    page.goto(f"{lab.url}/lab/tree/bad.hlo?reset")
    error = page.locator(".jv-tab .jv-error-why")
    error.wait_for()
    assert "bad.hlo" in error.inner_text()
    assert "\n" not in error.inner_text()
