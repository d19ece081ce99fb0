"""Errors of JAX, each provoked for real: told by case, at the line, with what it is about, and with what cures it."""

from __future__ import annotations

import functools
import html
import inspect
import re

import jax
import jax.numpy as jnp
import jsonschema
import numpy as np
import pytest
from errors.failing import CASES, X
from errors.failing.telling import all_words, failed, failed_anew, mended
from test_document import SCHEMA

import jaxviz as jv
from jaxviz.document import Document
from jaxviz.graph import OPERATION
from jaxviz.join import joined

# Cases of which nothing is sure to help, and programs for which what helps others does not.
WITHOUT_CURES = ("choice", "recursion", "numpy", "carry structure", "range", "reshape", "result", "undefined")
WITHOUT_CURES += ("scan lengths", "stack", "dot", "traced nondiff")
NOT_CURED = {
    *(
        "mapped_with_too_few",
        "an_einsum_with_a_new_letter",
        "a_derivative_of_a_count",
        "a_list_that_is_static",
    ),
    *(
        "as_many_as_the_sum",
        "gradients_of_another_tree",
        "a_dictionary_that_is_filled",
        "turns_over_what_is_different",
        "rows_that_do_not_fit",
        "a_backward_of_another_shape",
        "a_backward_of_two",
        "a_solution_that_is_cut",
        "a_matrix_in_a_row",
        "a_power_that_is_computed",
        "a_set_that_is_filled",
        "as_many_as_a_function_counts",
        "calls_until_it_is_large",
    ),
}


@pytest.mark.smoke
@pytest.mark.parametrize("name", CASES)
def test_an_error_is_told_by_its_case_and_in_the_names_of_the_person(name):
    error, shown = failed(name)
    one, told = CASES[name], shown.explanation
    assert told.case == one.case
    for word in one.words:
        assert word in all_words(told)
    if one.case != "unknown":
        # Where nothing is sure to help, there is a reason and no code.
        assert told.cures or one.case in WITHOUT_CURES or name in NOT_CURED
        assert told.title[-1] != "."
        assert told.reason.count(". ") >= 1
        assert told.reason.endswith(".")
    # No advice is given twice in the same words.
    advice = [re.split("[;:]", cure.text)[0] for cure in told.cures]
    assert len(set(advice)) == len(advice)
    # The error is JAX's own, with its words, and ours below them.
    assert told.title in error.__notes__[-1]
    entry = shown.document().programs[0].error
    assert entry.kind == type(error).__name__
    assert entry.message in str(error)


@pytest.mark.smoke
@pytest.mark.parametrize("name", CASES)
def test_an_error_is_told_at_its_line_with_what_was_traced_until_then(name):
    one = CASES[name]
    document = failed(name)[1].document()
    (program,), (graph, *_) = document.programs, document.graphs
    graph.check()
    # What failed stands in the picture, made of what it could not be made of.
    made_of = graph.operands.source[np.isin(graph.operand_node, program.error.nodes)]
    ops = [graph.node(int(node)).op for node in graph.value_node[made_of]]
    for op in one.culprits:
        assert op in ops
    frames = document.tables.frames_of(program.error.stack)
    if one.place:
        lines, _ = inspect.getsourcelines(inspect.getmodule(one.fn))
        assert one.place in lines[frames[-1].line - 1]
        assert one.fn.__code__.co_filename == frames[-1].file
        own = inspect.getsourcelines(one.fn)
        assert own[1] <= frames[-1].line < own[1] + len(own[0])
    texts = [document.tables.files.text[file] for file in range(len(document.tables.files.path))]
    assert any(one.fn.__name__ in text for text in texts)


@pytest.mark.parametrize(("name", "number"), [(name, number) for name, one in CASES.items() for number in one.mends])
def test_a_function_with_the_cure_in_it_can_be_traced(name, number):
    one = CASES[name]
    shown = failed(name)[1]
    frame = shown.document().tables.frames_of(shown.document().programs[0].error.stack)[-1]
    code = shown.explanation.cures[number].code
    if one.instead == "outside":
        names = {"jax": jax, **vars(inspect.getmodule(one.fn)), **inspect.signature(one.fn).bind(*one.args).arguments}
        exec(code, names)
        np.testing.assert_allclose(names["result"], one.gives, rtol=1e-5)
        return
    fn = mended(one.fn, frame.line, code, one.instead)
    if one.gives is None:
        jax.jit(fn).trace(*one.args)
    else:
        near = functools.partial(np.testing.assert_allclose, rtol=1e-5)
        jax.tree.map(near, jax.jit(fn)(*one.args), one.gives)


kept = []


def keeping(x):
    kept.append(jnp.sin(x))
    return x


def using_what_was_kept(x):
    y = jnp.cos(x)
    return y + kept[0]


@pytest.mark.smoke
def test_a_value_that_leaked_is_an_error_though_tracing_says_nothing():
    kept.clear()
    jax.jit(keeping)(X)
    with pytest.raises(jax.errors.UnexpectedTracerError) as caught:
        jv.explore(using_what_was_kept, X)
    shown = caught.value.jaxviz
    assert shown.explanation.case == "leak"
    assert "test_errors.py" in shown.explanation.reason
    document = shown.document()
    (node,) = document.programs[0].error.nodes
    graph = document.graphs[0]
    assert graph.node(node).name == "leaked value"
    assert [user.op for user in graph if int(graph.first_value[node]) in user.operands] == ["add"]


def test_an_error_in_a_body_shows_the_body_inside_what_was_traced_around_it():
    graph = failed("an_if_in_a_scan")[1].document().graphs[0]
    assert [node.op for node in graph.find("cos") + graph.find("scan")] == ["cos", "scan"]
    (scan,) = graph.find("scan")
    inside = graph.region(scan.regions[0])
    assert [graph.node(node).op for node in range(inside.start, inside.end)][2:] == [
        "reduce_sum",
        "mul",
        "gt",
        "s > 0",
    ]


def test_what_failed_is_marked_and_not_what_it_reads():
    def product(x, w):
        kept = jnp.tanh(x @ w)
        return kept @ w @ w

    with pytest.raises(TypeError) as caught:
        jv.explore(product, jnp.ones((4, 8)), jnp.ones((8, 8))[:, :6])
    document = caught.value.jaxviz.document()
    graph = document.graphs[0]
    (node,) = document.programs[0].error.nodes
    failing = graph.node(int(node))
    assert failing.op == "kept @ w"
    assert [graph.node(graph.value_node[value]).op for value in failing.operands] == ["tanh", "argument"]
    assert document.tables.frames_of(int(graph.nodes.stack[node]))[-1].line == product.__code__.co_firstlineno + 2


def test_a_documents_error_is_as_it_was_when_it_is_opened_again(tmp_path):
    document = failed("an_if_in_a_scan")[1].document()
    jsonschema.validate(document.to_json(False), SCHEMA)
    opened = Document.load(document.save(tmp_path / "failed.jaxviz"))
    assert opened.to_json() == document.to_json()
    assert opened.programs[0].error.cures == document.programs[0].error.cures


def test_an_error_keeps_its_place_when_documents_are_joined():
    one, other = (failed(name)[1].document() for name in ("an_if", "a_mask"))
    whole = joined([one, other])
    for part, program in zip((one, other), whole.programs, strict=True):
        there = part.tables.frames_of(part.programs[0].error.stack)
        assert whole.tables.frames_of(program.error.stack) == there


@pytest.mark.parametrize(
    ("change", "position"),
    [
        ({"nodes": [10_000]}, "$.programs[0].error.nodes[0]"),
        ({"stack": 10_000}, "$.programs[0].error.stack"),
        ({"cures": [1]}, "$.programs[0].error.cures[0]"),
        ({"title": 1}, "$.programs[0].error.title"),
    ],
)
def test_what_is_wrong_with_an_error_in_a_file_is_told_by_its_place(change, position):
    value = failed("an_if")[1].document().to_json(False)
    value["programs"][0]["error"].update(change)
    with pytest.raises(jv.DocumentError) as caught:
        Document.from_json(value)
    assert position in str(caught.value)


@pytest.fixture
def without_frames_of_jax():
    """JAX leaves frames in where IPython hides them, and IPython may have been there before."""
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", "remove_frames")
    yield
    jax.config.update("jax_traceback_filtering", before)


def test_the_setting_of_tracebacks_is_as_it_was(without_frames_of_jax):
    error, _ = failed_anew("an_if")
    assert jax.config.jax_traceback_filtering == "remove_frames"
    files = []
    at = error.__traceback__
    while at is not None:
        files.append(at.tb_frame.f_code.co_filename)
        at = at.tb_next
    assert not any("/jax/_src/" in file for file in files)


def test_words_of_an_error_that_is_made_to_mislead_do_no_harm():
    def fn(x):
        raise TypeError("Shapes must be 1D sequences of concrete values; scan body output must be a pair, got ()")

    with pytest.raises(TypeError) as caught:
        jv.explore(fn, X)
    assert caught.value.jaxviz.explanation.title


def test_an_error_in_generated_code_is_told_without_its_source():
    names = {"jnp": jnp}
    exec("def made(x):\n    y = jnp.sin(x)\n    if y[0] > 0:\n        return y\n    return x", names)
    with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
        jv.explore(names["made"], X)
    told = caught.value.jaxviz.explanation
    assert told.case == "choice"
    assert "jnp.where" in told.reason


def test_an_argument_that_a_pmap_takes_as_static_is_to_be_said_static():
    mapped = jax.pmap(lambda x, turns: x * turns, static_broadcasted_argnums=(1,))
    with pytest.raises(ValueError, match="Non-hashable") as error:
        jv.explore(mapped, jnp.ones((1, 4)), 3)
    assert "argument 1 is traced" in str(error.value.jaxviz)
    assert "`static_argnums=1`" in str(error.value.jaxviz)
    ex = jv.explore(mapped, jnp.ones((1, 4)), 3, static_argnums=1)
    assert ex.jaxpr.find("mul")


def test_where_only_the_picture_is_shown_it_says_what_failed_and_what_helps():
    shown = failed("a_mask")[1]
    data, _ = shown._repr_mimebundle_()
    texts = [html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", data["image/svg+xml"])]
    assert [line for line in repr(shown).splitlines() if line.strip() not in ("", *texts)] == []


def test_what_failed_outside_of_the_function_is_no_box_or_what_the_function_gave():
    def scaled(x, scale):
        return x * scale

    def named(x):
        return {"sine": jnp.sin(x), "name": "sine"}

    for fn, ops in ((scaled, []), (named, ["sin", "{'sine': jnp.sin(x), 'name': 'sine'}"])):
        with pytest.raises(TypeError) as caught:
            jv.explore(fn, X)
        (graph,) = caught.value.jaxviz.document().graphs
        operations = np.flatnonzero(graph.nodes.kind == OPERATION)
        assert [graph.node(int(node)).op for node in operations] == ops
