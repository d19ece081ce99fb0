"""A real JupyterLab on a free port and a real Chromium to look at it.

Server logs and screenshots are kept in `test-results/`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nbformat
import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, expect, sync_playwright

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "test-results"
# Each process of a parallel run has a server of its own.
SERVER_LOG = RESULTS / f"server-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}.log"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# ms. A kernel that imports JAX on a busy machine takes its time.
PATIENCE = 90_000
# Whatever is waited for comes sooner or later; how soon, is a matter of the machine.
expect.set_options(timeout=PATIENCE)
# Seconds that the server may take to answer, and to end.
ANSWER = 60
# Ports that systems do not give away by themselves, as to the kernels of another server.
PORTS = range(20_000, 30_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Remembers failures, so that the page can be photographed before it is closed."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@dataclass(frozen=True)
class Lab:
    """A running Jupyter server and the folder that it serves."""

    url: str
    folder: Path

    def sessions(self) -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{self.url}/api/sessions", timeout=ANSWER) as answer:
            return list(json.load(answer))

    def wait_for_kernel(self, name: str) -> None:
        """Returns when the kernel of a notebook has answered the page; before, what the page asks may get lost."""
        deadline = time.monotonic() + PATIENCE / 1000
        while time.monotonic() < deadline:
            kernels = [session["kernel"] for session in self.sessions() if session["path"] == name]
            if any(kernel["execution_state"] == "idle" and kernel["connections"] > 0 for kernel in kernels):
                return
            time.sleep(0.1)
        raise RuntimeError(f"the kernel of {name} did not start: see {SERVER_LOG}")

    def stop_kernels(self) -> None:
        """Ends every kernel, so that each notebook starts with its own and memory stays free."""
        for session in self.sessions():
            request = urllib.request.Request(f"{self.url}/api/sessions/{session['id']}", method="DELETE")
            try:
                urllib.request.urlopen(request, timeout=ANSWER).close()
            except urllib.error.HTTPError as error:
                # Its page may have ended it just before.
                if error.code != 404:
                    raise


def free_port() -> int:
    """A port that nobody has, and that nobody gets before the server listens on it."""
    for port in random.SystemRandom().sample(PORTS, 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no port is free")


@pytest.fixture(autouse=True)
def _no_kernel_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """The kernels of a test end once its pages are closed."""
    yield
    if "lab" in request.fixturenames:
        request.getfixturevalue("lab").stop_kernels()


def server_environment(root: Path) -> dict[str, str]:
    """An environment that neither reads nor changes the settings of the person who runs the tests."""
    places = {f"JUPYTER_{name}_DIR": str(root / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    return {
        **os.environ,
        **places,
        "JUPYTERLAB_SETTINGS_DIR": str(root / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(root / "workspaces"),
        "IPYTHONDIR": str(root / "ipython"),
        "JAX_PLATFORMS": "cpu",
    }


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab; the same server has Notebook 7 at /notebooks."""
    root = tmp_path_factory.mktemp("lab")
    folder = root / "work"
    folder.mkdir()
    RESULTS.mkdir(exist_ok=True)
    port = free_port()
    # The server may be of another version, in an environment of its own (`tools/oldest_lab.py`).
    python = os.environ.get("JAXVIZ_LAB_PYTHON", sys.executable)
    command = [python, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"]
    command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token="]
    # Without a check of cookies, the tests can talk to the server themselves.
    command += [f"--ServerApp.root_dir={folder}", "--LabApp.news_url=None", "--ServerApp.disable_check_xsrf=True"]
    url = f"http://127.0.0.1:{port}"
    with SERVER_LOG.open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env=server_environment(root), cwd=folder)
        try:
            wait_for(f"{url}/api", server)
            yield Lab(url, folder)
        finally:
            server.terminate()
            try:
                server.wait(ANSWER)
            except subprocess.TimeoutExpired:
                server.kill()


def wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    """Returns when the server answers."""
    for _ in range(900):
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with status {server.returncode}: see {SERVER_LOG}")
        try:
            urllib.request.urlopen(url, timeout=ANSWER).close()
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"{url} did not answer: see {SERVER_LOG}")


@pytest.fixture(scope="session")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """Chromium as a person has it: it keeps JupyterLab's scripts, and what it made of them, for the next page.

    Found as `tools/browser.py` finds it.
    """
    spec = importlib.util.spec_from_file_location("browser_finder", ROOT / "tools" / "browser.py")
    assert spec is not None
    assert spec.loader is not None
    finder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(finder)
    with sync_playwright() as playwright:
        path = finder.find()
        assert path is not None, "no Chromium: run make test, which gets one"
        folder = tmp_path_factory.mktemp("profile")
        profile = playwright.chromium.launch_persistent_context(folder, executable_path=path, args=FLAGS)
        yield profile
        profile.close()


class Graph:
    """An explorer on the page, used with the mouse and the keys; with all that comes, unless it is taken `early`."""

    def __init__(self, root: Locator, *, early: bool = False) -> None:
        self.root = root
        if not early:
            expect(root.first).to_be_visible()
            expect(root.first).not_to_have_attribute("data-coming", re.compile("."))
            # What was there before has gone.
            expect(root).to_have_count(1)
        # The picture at the left, where two stand side by side.
        self.stage = root.locator(".jv-stage-area").first
        self.pane = root.locator(".jv-inspector")
        self.stage.wait_for()
        self.page.wait_for_function("root => root.dataset.boxes > 0", arg=root.element_handle())

    @property
    def page(self) -> Page:
        return self.root.page

    @property
    def labels(self) -> list[str]:
        self.settle()
        return list(self.root.evaluate("root => root.explorer.labels"))

    def settle(self) -> None:
        """Until all that was asked for is on the screen and nothing moves."""
        # Two frames in which nothing is under way: what a key asks for may begin with the next one. The end is by a
        # clock, because a page that draws no frames would never get there.
        script = """root => new Promise((done, fail) => {
          const late = setTimeout(() => fail(new Error('the picture does not come to rest')), 30000);
          let still = 0;
          const look = () => {
            still = root.explorer.atRest ? still + 1 : 0;
            if (still > 2) {
              clearTimeout(late);
              done();
            } else {
              requestAnimationFrame(look);
            }
          };
          requestAnimationFrame(look);
        })"""
        self.root.evaluate(script)

    def place(self, label: str) -> dict[str, float]:
        """Where a box stands, from the corner of the picture."""
        self.settle()
        place = self.root.evaluate("(root, label) => root.explorer.locate(label)", label)
        assert place is not None, f"no box {label!r} among {self.labels}"
        return dict(place)

    def click(self, label: str) -> None:
        self.stage.click(position=self.place(label))

    def double_click(self, label: str) -> None:
        self.stage.dblclick(position=self.place(label))

    def slow_double_click(self, label: str, pause: float) -> None:
        """A double click as a hand does it, with `pause` ms between the clicks."""
        place, box = self.place(label), self.stage.bounding_box()
        assert box is not None
        mouse = self.page.mouse
        mouse.move(box["x"] + place["x"], box["y"] + place["y"])
        for count in (1, 2):
            mouse.down(click_count=count)
            mouse.up(click_count=count)
            self.page.wait_for_timeout(pause if count == 1 else 0)

    def wait_for_box(self, label: str) -> None:
        self.page.wait_for_function(
            "([root, label]) => root.explorer.labels.includes(label)", arg=[self.root.element_handle(), label]
        )

    def wait_without_box(self, label: str) -> None:
        self.page.wait_for_function(
            "([root, label]) => !root.explorer.labels.includes(label)", arg=[self.root.element_handle(), label]
        )

    def colours(self) -> int:
        """How many different colours the picture has: one means that nothing is drawn."""
        script = """canvas => {
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          return new Set(new Uint32Array(data.buffer)).size;
        }"""
        self.settle()
        return int(self.root.locator(".jv-canvas").first.evaluate(script))

    def wait_for_other_colours(self, before: int) -> None:
        """Until the picture has more colours than before, or fewer."""
        deadline = time.monotonic() + PATIENCE / 1000
        while self.colours() == before:
            assert time.monotonic() < deadline, f"the picture still has {before} colours"

    def wait_for_paint(self, role: str, *, there: bool = True) -> None:
        """Until something is painted, or nothing is any more, in the colour that a role of the palette has."""
        script = """([root, role, there]) => {
          const hex = getComputedStyle(root).getPropertyValue(`--jv-${role}`).trim();
          const [r, g, b] = [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));
          const canvas = root.querySelector('.jv-canvas');
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          let pixels = 0;
          for (let i = 0; i < data.length; i += 4) {
            pixels += data[i] === r && data[i + 1] === g && data[i + 2] === b;
          }
          return pixels > 50 === there;
        }"""
        self.page.wait_for_function(script, arg=[self.root.element_handle(), role, there])


@pytest.fixture
def graph_of() -> Callable[[Locator], Graph]:
    """An explorer on any page."""
    return Graph


@dataclass
class Notebook:
    """An open notebook, driven as a person would."""

    page: Page
    path: Path
    name: str

    def run(self, index: int) -> Locator:
        """Runs a cell and gives its output area."""
        cell = self.page.locator(".jp-Notebook .jp-CodeCell").nth(index)
        cell.locator(".jp-InputArea-editor").click()
        prompt = cell.locator(".jp-InputArea-prompt")
        # Not the number of an earlier run.
        prompt.evaluate("prompt => { prompt.textContent = '' }")
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_function("prompt => /\\[\\d+\\]/.test(prompt.textContent)", arg=prompt.element_handle())
        output = cell.locator(".jp-OutputArea").first
        output.scroll_into_view_if_needed()
        return output

    def write(self, index: int, text: str) -> None:
        """Puts other code into a cell."""
        self.page.locator(".jp-Notebook .jp-CodeCell").nth(index).locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def explore(self, index: int) -> Graph:
        """Runs a cell that ends in %jaxviz and gives its graph."""
        return Graph(self.run(index).locator(".jv-root:not(.jv-coming)"))

    @staticmethod
    def graph_of(root: Locator) -> Graph:
        """An explorer that is on a page already."""
        return Graph(root)

    def save(self, is_there: Callable[[dict[str, Any]], bool] = lambda cells: True) -> dict[str, Any]:
        """Saves until the notebook in the file has what it should have; gives that notebook."""
        deadline = time.monotonic() + PATIENCE / 1000
        while time.monotonic() < deadline:
            before = self.path.stat().st_mtime_ns
            self.page.keyboard.press("Control+s")
            # JupyterLab forgets the key where it has not yet heard that the last save is done.
            again = time.monotonic() + 2
            while time.monotonic() < again:
                self.page.wait_for_timeout(100)
                if self.path.stat().st_mtime_ns != before and (saved := self._saved()) is not None:
                    if is_there(saved):
                        return saved
                    break
        raise AssertionError("the notebook was not saved, or not with what it should have")

    def _saved(self) -> dict[str, Any] | None:
        """What is in the file; None while it is being written."""
        try:
            return dict(json.loads(self.path.read_text("utf-8")))
        except json.JSONDecodeError:
            return None

    def shot(self, name: str, what: Locator | None = None) -> None:
        """Keeps a screenshot in test-results/screens."""
        folder = RESULTS / "screens"
        folder.mkdir(parents=True, exist_ok=True)
        (what or self.page).screenshot(path=folder / f"{name}.png")


def told(message: ConsoleMessage) -> str:
    """What a page logged, and the script that did: the text alone seldom says whether it was ours."""
    return f"{message.text}\n{message.location['url']}"


@pytest.fixture
def open_page(profile: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Callable[..., Page]]:
    """Opens pages, none of which knows anything of another; at the end no error of ours may have been logged."""
    pages: list[Page] = []
    faults: list[str] = []

    def context_of(options: dict[str, Any]) -> BrowserContext:
        # The pages of a context share what they store, and its options.
        if not options and not pages:
            return profile
        assert profile.browser is not None
        return profile.browser.new_context(**options)

    def open_(size: tuple[int, int] = (1280, 800), *, newcomer: bool = False, **options: Any) -> Page:
        page = context_of(options).new_page()
        pages.append(page)
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.set_default_timeout(PATIENCE)
        if not newcomer:
            page.add_init_script("localStorage.setItem('jaxviz.tour', 'seen')")
        page.on("pageerror", lambda error: faults.append(f"{error}\n{error.stack or ''}"))
        page.on("console", lambda message: faults.append(told(message)) if message.type == "error" else None)
        return page

    yield open_
    for number, page in enumerate(pages):
        if request.node.stash.get(FAILED, False) and not page.is_closed():
            name = re.sub(r"\W+", "-", request.node.name).strip("-")
            page.screenshot(path=RESULTS / "failed" / f"{name}-{number}.png")
        if page.context is not profile:
            page.context.close()
    clear(profile, pages[:1])
    ours = [fault for fault in faults if "jaxviz" in fault]
    assert not ours, ours


def clear(profile: BrowserContext, pages: list[Page]) -> None:
    """Closes all pages of the profile but the one that it began with; it forgets what these were allowed and stored."""
    first, *others = profile.pages
    for other in others:
        other.close()
    for page in pages:
        place = urlsplit(page.url)
        stored = {"origin": f"{place.scheme}://{place.netloc}", "storageTypes": "cookies,local_storage,indexeddb"}
        profile.new_cdp_session(first).send("Storage.clearDataForOrigin", stored)
    profile.clear_permissions()


@pytest.fixture
def notebook(lab: Lab, open_page: Callable[..., Page], request: pytest.FixtureRequest) -> Callable[..., Notebook]:
    """Opens a notebook of the given cells, its kernel ready."""

    def open_(
        *cells: str,
        front_end: str = "lab/tree",
        theme: str = "Light",
        size: tuple[int, int] = (1280, 800),
        newcomer: bool = False,
    ) -> Notebook:
        metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        name = re.sub(r"\W+", "-", request.node.name).strip("-") + ".ipynb"
        path = lab.folder / name
        nbformat.write(
            nbformat.v4.new_notebook(metadata=metadata, cells=[nbformat.v4.new_code_cell(cell) for cell in cells]), path
        )
        page = open_page(size, newcomer=newcomer)
        set_theme(page, lab, theme)
        page.goto(f"{lab.url}/{front_end}/{name}" + ("?reset" if front_end == "lab/tree" else ""))
        page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        page.locator(".jp-Notebook .jp-Cell").first.click()
        if front_end == "lab/tree":
            idle = ".jp-Notebook-ExecutionIndicator[data-status='idle']"
        else:
            idle = ".jp-NotebookKernelStatus:not(.jp-NotebookKernelStatus-warn)"
        page.locator(idle).first.wait_for(state="attached")
        lab.wait_for_kernel(name)
        dismiss_news(page)
        return Notebook(page, path, name)

    return open_


def set_theme(page: Page, lab: Lab, theme: str) -> None:
    """Chooses JupyterLab's theme the way its settings do."""
    page.request.put(
        f"{lab.url}/lab/api/settings/@jupyterlab/apputils-extension:themes",
        data={"raw": json.dumps({"theme": f"JupyterLab {theme}"})},
    )


def dismiss_news(page: Page) -> None:
    """JupyterLab asks once whether it may fetch news."""
    button = page.get_by_role("button", name="No", exact=True)
    if button.count():
        button.first.click()
