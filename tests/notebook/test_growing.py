"""The result of a cell that grows: what is shown when, and what stays where it is interrupted."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv
from jaxviz import capture as capture_module
from jaxviz.document import STAGE_KINDS, Document
from jaxviz.notebook import growing
from jaxviz.notebook.display import MIME_TYPE

LATER = ["stablehlo", "hlo"]
# With it, the compiler fuses nothing.
UNFUSED = {"xla_disable_hlo_passes": "fusion"}


def smooth(x):
    unused = jnp.sin(x)
    del unused
    return jnp.tanh(x @ x).sum()


@pytest.fixture
def shown(monkeypatch):
    """What a front end is told, each time: data, metadata, the display, and whether that is told something new."""
    told = []

    def publish(data, metadata, *, transient, update):
        told.append((data, metadata.get(MIME_TYPE, {}), transient["display_id"], update))

    monkeypatch.setattr(growing, "_publisher", lambda: publish)
    return told


def documents(shown):
    return [Document.from_json(data[MIME_TYPE]) for data, *_ in shown]


def stages(document):
    return [entry.kind for entry in document.programs[0].stages]


def test_the_jaxpr_is_shown_first_then_the_stages_then_the_fates(shown):
    exploration = jv.explore(smooth, jnp.ones((8, 8)))
    exploration._ipython_display_()
    first, second, last = documents(shown)
    assert [stages(one) for one in (first, second, last)] == [["jaxpr"], list(STAGE_KINDS), list(STAGE_KINDS)]
    assert (len(first.links), len(second.links)) == (0, 2)
    assert [len(one.fates) for one in (first, second, last)] == [0, 0, 1]
    assert [metadata.get("coming") for _, metadata, *_ in shown] == [LATER, ["fates"], None]
    assert [update for *_, update in shown] == [False, True, True]
    assert len({display for *_, display, _ in shown}) == 1
    # Those who cannot explore are shown the whole alone.
    assert ["image/svg+xml" in data for data, *_ in shown] == [False, False, True]
    whole = exploration.document()
    assert last.to_json(packed=False) == Document.from_json(whole.to_json()).to_json(packed=False)


def test_before_the_compiler_is_asked_the_jaxpr_is_shown(shown, monkeypatch):
    seen = []
    optimize = capture_module.optimize
    monkeypatch.setattr(
        capture_module, "optimize", lambda *args, **kw: seen.append(len(shown)) or optimize(*args, **kw)
    )
    jv.explore(smooth, jnp.ones((8, 8)))._ipython_display_()
    assert seen == [1, 2]


def test_a_picture_takes_the_place_of_the_line_that_told_how_far_its_run_is(shown, monkeypatch):
    exploration = jv.explore(smooth, jnp.ones((8, 8)))
    monkeypatch.setattr(growing, "place_left", lambda: SimpleNamespace(display_id="the line"))
    exploration._ipython_display_()
    assert [(display, update) for *_, display, update in shown] == [("the line", True)] * 3
    shown.clear()
    assert exploration.complete
    exploration._ipython_display_()
    [(data, _, display, update)] = shown
    assert (display, update) == ("the line", True)
    assert Document.from_json(data[MIME_TYPE]).fates


def test_passes_are_awaited_where_they_are_asked_for(shown):
    jv.explore(smooth, jnp.ones((8, 8)), passes=True)._ipython_display_()
    assert [metadata.get("coming") for _, metadata, *_ in shown] == [[*LATER, "passes"], ["fates", "passes"], None]
    assert [len(one.passes) for one in documents(shown)] == [0, 0, 1]


def test_an_interrupt_leaves_what_is_there_and_says_so(shown, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(capture_module, "optimize", interrupted)
    exploration = jv.explore(smooth, jnp.ones((8, 8)))
    with pytest.raises(KeyboardInterrupt, match="what was there until then is shown") as raised:
        exploration._ipython_display_()
    # Nothing of how jaxviz waits for the compiler.
    assert raised.traceback[-1].name == "show_growing"
    assert raised.value.__suppress_context__
    _, last = documents(shown)
    assert stages(last) == ["jaxpr"]
    assert last.programs[0].missing == {"stablehlo": "interrupted", "hlo": "interrupted"}
    data, metadata, _, update = shown[-1]
    assert update
    assert "coming" not in metadata
    assert "image/svg+xml" in data
    monkeypatch.undo()
    assert stages(exploration.document()) == list(STAGE_KINDS)


def pairs(document):
    """The stages of two programs that are linked with each other."""
    (one, other) = ({entry.graph: entry.kind for entry in program.stages} for program in document.programs)
    return [one[entry.start] for entry in document.links if entry.start in one and entry.end in other]


def test_two_programs_stand_side_by_side_before_the_compiler_is_done(shown, monkeypatch):
    seen = []
    optimize = capture_module.optimize
    monkeypatch.setattr(
        capture_module, "optimize", lambda *args, **kw: seen.append(len(shown)) or optimize(*args, **kw)
    )
    one, other = jv.explore(smooth, jnp.ones((8, 8))), jv.explore(lambda x: jnp.tanh(x @ x).sum(), jnp.ones((8, 8)))
    compared = jv.compare(one, other)
    assert not seen
    compared._ipython_display_()
    assert seen[0] == 1
    first, second, last = documents(shown)
    assert [pairs(document) for document in (first, second, last)] == [["jaxpr"], list(STAGE_KINDS), list(STAGE_KINDS)]
    assert [metadata.get("coming") for _, metadata, *_ in shown] == [LATER, ["fates"], None]
    assert [update for *_, update in shown] == [False, True, True]
    assert [len(document.fates) for document in (first, second, last)] == [0, 0, 2]
    assert "jaxpr: 1 only in the first, 3 the same" in shown[0][0]["text/plain"]
    assert "hlo" not in shown[0][0]["text/plain"]
    assert shown[-1][0]["text/plain"] == repr(compared)
    assert last.to_json(packed=False) == Document.from_json(compared.document().to_json()).to_json(packed=False)
    with pytest.raises(NotImplementedError):
        compared._ipython_display_()


def test_of_equal_jaxprs_the_stage_that_differs_is_shown_once_it_is_there(shown):
    def scaled(x):
        return jnp.tanh(x * 2) + jnp.sin(x)

    fused, unfused = (jax.jit(scaled, compiler_options=options) for options in (None, UNFUSED))
    compared = jv.compare(jv.explore(fused, jnp.ones(64)), jv.explore(unfused, jnp.ones(64)))
    compared._ipython_display_()
    assert not compared.differences["jaxpr"]
    stages_shown = [metadata.get("stage", "jaxpr") for _, metadata, *_ in shown]
    assert stages_shown == ["jaxpr", compared.first_stage, compared.first_stage]
    assert compared.first_stage == "hlo"


def test_an_interrupt_leaves_both_jaxprs_side_by_side(shown, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(capture_module, "optimize", interrupted)
    with pytest.raises(KeyboardInterrupt, match="what was there until then is shown"):
        jv.compare(jv.explore(smooth, jnp.ones((8, 8))), jv.explore(smooth, jnp.ones((4, 4))))._ipython_display_()
    _, last = documents(shown)
    assert pairs(last) == ["jaxpr"]
    assert [program.missing["hlo"] for program in last.programs] == ["interrupted", "interrupted"]


def test_after_a_run_that_was_stopped_what_is_made_is_shown_without_the_compiler(shown, monkeypatch):
    def refused(*args, **options):
        raise AssertionError("the compiler was asked")

    exploration = jv.explore(smooth, jnp.ones((8, 8)))
    exploration.stablehlo  # noqa: B018
    with monkeypatch.context() as patch:
        patch.setattr(capture_module, "optimize", refused)
        exploration.stopped = True
        exploration._ipython_display_()
    (only,) = documents(shown)
    assert stages(only) == ["jaxpr", "stablehlo"]
    assert only.programs[0].missing == {"hlo": "interrupted"}
    data, metadata, _, update = shown[0]
    assert not update
    assert "coming" not in metadata
    # To draw one takes as long as a person waits.
    assert "image/svg+xml" not in data
    # Shown again, it is shown whole.
    exploration._ipython_display_()
    assert stages(documents(shown)[-1]) == ["jaxpr", *LATER]


def test_what_is_there_already_is_shown_at_once(shown):
    exploration = jv.explore(smooth, jnp.ones((8, 8)))
    exploration.document()
    with pytest.raises(NotImplementedError):
        exploration._ipython_display_()
    assert not shown


def test_a_file_is_shown_at_once(shown, tmp_path):
    path = tmp_path / "smooth.jaxviz"
    jv.explore(smooth, jnp.ones((8, 8))).document().save(path)
    with pytest.raises(NotImplementedError):
        jv.open(path)._ipython_display_()
    assert not shown


def test_outside_of_a_kernel_nothing_grows():
    with pytest.raises(NotImplementedError):
        jv.explore(smooth, jax.ShapeDtypeStruct((4, 4), jnp.float32))._ipython_display_()
