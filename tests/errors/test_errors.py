"""Errors of JAX, each provoked for real: told by case, at the line, with what it is about, and with what cures it."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import textwrap

import jax
import jax.numpy as jnp
import jsonschema
import numpy as np
import pytest
from errors.failing import CASES, X
from test_document import SCHEMA

try:
    from jax import enable_x64
except ImportError:  # until 0.7
    from jax.experimental import enable_x64

import jaxviz as jv
from jaxviz.document import Document
from jaxviz.graph import ENTER, INIT, SLICE
from jaxviz.join import joined


def failed(name):
    """The error of a case, and what explains it."""
    one = CASES[name]
    try:
        jv.explore(one.fn, *one.args)
    except Exception as error:
        return error, error.jaxviz
    raise AssertionError(f"{name} could be traced")


# Cases of which nothing is sure to help, and programs for which what helps others does not.
WITHOUT_CURES = ("choice", "recursion", "numpy", "carry structure", "range", "reshape", "result", "undefined")
WITHOUT_CURES += ("scan lengths", "stack", "dot")
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
        "rows_that_do_not_fit",
        "a_backward_of_another_shape",
        "a_backward_of_two",
        "a_solution_that_is_cut",
        "a_matrix_in_a_row",
        "a_power_that_is_computed",
        "halves_until_one_is_small",
        "a_set_that_is_filled",
        "as_many_as_a_function_counts",
        "calls_until_it_is_large",
    ),
}


def all_words(told) -> str:
    return "\n".join([told.title, told.reason, *(f"{cure.text}\n{cure.code}" for cure in told.cures)])


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


def mended(fn, line, code, instead=""):
    """A function in which a cure stands in place of the statement on a line, or of what `instead` says."""
    source, first = inspect.getsourcelines(fn)
    text = textwrap.dedent("".join(source))
    tree = ast.parse(text)
    (function,) = tree.body
    function.decorator_list = []
    (body, first_place), last_place = _place(function, line - first + 1, instead)
    body[first_place : last_place + 1] = ast.parse(code).body
    names = {"jax": jax, "jnp": jnp, **fn.__globals__}
    exec(compile(ast.fix_missing_locations(tree), "<mended>", "exec"), names)
    return names[fn.__name__]


def _place(function, line, instead):
    """The list of statements in which a cure goes, and the first and the last that it stands for."""
    blocks = [getattr(node, "body", None) for node in ast.walk(function)]
    places = [
        (block, place)
        for block in blocks
        if isinstance(block, list)
        for place, statement in enumerate(block)
        if isinstance(statement, ast.stmt) and statement.lineno <= line <= statement.end_lineno
    ]
    if not instead:
        # The statement of the function itself; a cure speaks of all of it.
        return places[0], places[0][1]
    if instead == "rest":
        block, place = next(one for one in reversed(places) if isinstance(one[0][one[1]], ast.If))
        return (block, place), len(block) - 1
    if instead in ("loop", "loop and rest"):
        block, place = next(one for one in reversed(places) if isinstance(one[0][one[1]], (ast.For, ast.While)))
        return (block, place), place if instead == "loop" else len(block) - 1
    (inner,) = [node for node in ast.walk(function) if isinstance(node, ast.FunctionDef) and node.name == instead]
    return (inner.body, len(inner.body) - 1), len(inner.body) - 1


def test_static_arguments_are_offered_only_where_they_can_be():
    told = failed("a_mask")[1].explanation
    assert not any("static" in cure.text for cure in told.cures)
    told = failed("a_length")[1].explanation
    assert "%jaxviz --static 0 a_length(5)" in told.cures[0].code


def test_static_arguments_are_not_offered_where_one_of_them_is_an_array():
    def fn(x, limit):
        return x if jnp.sum(x) > limit else -x

    with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
        jv.explore(fn, X, 2.0)
    assert "--static" not in all_words(caught.value.jaxviz.explanation)


def test_several_arguments_are_static_together():
    def fn(n, m):
        return jnp.zeros((n * m,))

    with pytest.raises(TypeError) as caught:
        jv.explore(fn, 2, 3)
    assert "%jaxviz --static 0,1 fn(2, 3)" in all_words(caught.value.jaxviz.explanation)


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
    error, _ = failed("an_if")
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


# What is made static, and what is not code.


def cures_of(fn, *args):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        jv.explore(fn, *args)
    return caught.value.jaxviz.explanation.cures


def test_a_function_that_is_jitted_is_made_static_as_it_was_before():
    @jax.jit
    def chosen(x, mode):
        return jnp.sin(x) if mode == "sin" else jnp.cos(x)

    (cure,) = cures_of(chosen, X, "sin")
    names = {"jax": jax, "chosen": chosen}
    exec(cure.code, names)
    assert jnp.array_equal(names["fast"](X, "sin"), jnp.sin(X))


class Halved:
    @jax.jit
    def __call__(self, x):
        return x / 2

    @jax.jit
    def again(self, x):
        return self(x) / 2


def test_a_jitted_method_that_is_explored_is_given_with_its_object_static():
    for explored, name in ((Halved(), "__call__"), (Halved().again, "again")):
        (cure,) = cures_of(explored, X)
        assert cure.code.startswith(f"@functools.partial(jax.jit, static_argnums=0)\ndef {name}(self, x):")


doubled_by_entry = jax.pmap(lambda one, by: one * by, in_axes=(0, None))


@jax.pmap
def halved_by_entry(one):
    return one / 2


@functools.partial(jax.pmap, axis_name="i")
def shared_by_entry(one):
    return one / jax.lax.psum(one, "i")


@pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="before JAX 0.10 the error comes when it runs")
def test_more_entries_than_devices_are_mapped_on_each_of_them():
    entries = jnp.ones(2 * jax.local_device_count())

    @functools.partial(jax.pmap, axis_name="i", donate_argnums=0)
    def donated(one):
        return one / 2

    def at_once(x):
        return jax.pmap(lambda one: one + 1)(x)

    def given_beside(x):
        return doubled_by_entry(x, 3)

    def decorated(x):
        return halved_by_entry(x)

    def summed_up(x):
        return shared_by_entry(x)

    def in_place(x):
        return donated(x)

    share = 0.5 / jax.local_device_count()
    for fn, gives in ((at_once, 2), (given_beside, 3), (decorated, 0.5), (summed_up, share)):
        (cure,) = cures_of(fn, entries)
        result = eval(cure.code.removeprefix("return "), {**globals(), "x": entries})
        assert jnp.allclose(result, gives)
    assert not cures_of(in_place, entries)


def test_a_switch_of_python_that_is_turned_by_bits_is_not_made_static():
    told = failed("a_switch_that_is_turned")[1].explanation
    assert not any("static" in cure.text for cure in told.cures)


def test_a_function_that_calls_itself_is_not_called_on_both_ways():
    told = failed("a_sum_of_the_two_before")[1].explanation
    assert not any("jnp.where" in cure.code for cure in told.cures)


def test_a_number_that_is_a_size_is_not_kept_as_an_array():
    def sized(n):
        count = int(n)
        return jnp.zeros(count)

    def doubled(n):
        count = int(n)
        return jnp.zeros(3) + count

    assert [cure.text.split()[0] for cure in cures_of(sized, 3)] == ["Make"]
    assert [cure.text.split()[0] for cure in cures_of(doubled, 3)] == ["Keep", "Make"]


def as_many_as_the_largest(x, scale):
    y = jnp.sin(x)
    n = int(x.max() * scale)
    return jnp.zeros(n) + y.sum()


def as_many_as_one_more(x):
    x = x + 1
    n = int(x.max())
    return jnp.zeros(n)


def test_a_size_that_is_computed_of_arguments_is_computed_before():
    (cure,) = cures_of(as_many_as_the_largest, X, jnp.float32(2))
    names = {"jax": jax, "jnp": jnp, "x": X, "scale": 2.0}
    exec(cure.code, names)
    assert names["n"] == 6
    np.testing.assert_allclose(names["result"], np.full(6, jnp.sin(X).sum()), rtol=1e-6)
    assert not cures_of(as_many_as_one_more, X)


def with_a_list_of_sums(x):
    out = []

    def turn(i, total):
        out.append(total)
        return total + x[i]

    last = jax.lax.fori_loop(0, 3, turn, 0.0)
    return jnp.stack([*out, last])


def test_turns_that_store_what_is_used_later_are_made_by_python():
    with pytest.raises(jax.errors.UnexpectedTracerError) as caught:
        jv.explore(with_a_list_of_sums, X)
    (cure,) = caught.value.jaxviz.explanation.cures
    (line,) = [
        node.lineno
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(with_a_list_of_sums))))
        if isinstance(node, ast.Assign) and "fori_loop" in ast.unparse(node)
    ]
    fn = mended(with_a_list_of_sums, line + with_a_list_of_sums.__code__.co_firstlineno - 1, cure.code)
    np.testing.assert_allclose(jax.jit(fn)(X), [0, 1, 3, 6])


def test_what_checking_leaks_finds_is_told_with_the_line_that_stores():
    with jax.checking_leaks():
        (cure,) = cures_of(storing, X)
    names = {"jnp": jnp, "x": X}
    exec(cure.code, names)
    np.testing.assert_allclose(names["kept"], 2 * X)


def test_what_leaked_in_a_cell_is_told_by_its_line_alone():
    path = "/tmp/ipykernel_1/2.py"
    names = {"jnp": jnp, "jax": jax, "stored": []}
    exec(compile(textwrap.dedent(inspect.getsource(storing)), path, "exec"), names)
    with jax.checking_leaks(), pytest.raises(Exception, match="Leaked trace") as caught:
        jv.explore(names["storing"], X)
    told = caught.value.jaxviz.explanation
    assert "`storing` (line 1)" in told.reason


stored = []


def storing(x):
    stored.append(2 * x)
    return x + 1


def drawn_twice(key):
    one = jax.random.normal(key)
    return one + jax.random.uniform(key)


def test_a_key_that_jax_sees_used_twice_is_split():
    jax.config.update("jax_debug_key_reuse", True)
    try:
        (cure,) = cures_of(drawn_twice, jax.random.key(0))
    finally:
        jax.config.update("jax_debug_key_reuse", False)
    assert cure.code == (
        "keys = jax.random.split(key, 2)\none = jax.random.normal(keys[0])\nreturn one + jax.random.uniform(keys[1])"
    )


def test_axes_that_are_not_to_be_added_unasked_are_added_in_the_code():
    jax.config.update("jax_numpy_rank_promotion", "raise")
    try:
        (cure,) = cures_of(stretched, jnp.ones((2, 3)), X)
    finally:
        jax.config.update("jax_numpy_rank_promotion", "allow")
    assert cure.code == "return rows * x[None]"


def stretched(rows, x):
    return rows * x


def test_what_cannot_be_known_has_no_code():
    assert not cures_of(lambda x: jax.lax.fori_loop(0, x, lambda count, i: count + i, 10), X)
    assert not cures_of(lambda x: jax.lax.top_k(x, x.argmax()), X)


# What is tried before it is told.


def test_what_reaches_out_of_itself_is_not_run_to_try_a_cure():
    seen = []

    def noted(x):
        seen.append(x.shape)
        return x

    def fn(x):
        if x.sum() > 0:
            return noted(x)
        return -x

    assert next(cure.code for cure in cures_of(fn, X)) == "return jnp.where(x.sum() > 0, noted(x), -x)"
    assert not seen


def test_a_function_without_an_end_is_not_run_to_try_a_cure():
    def endless(x):
        while True:
            x = x + 1
        return x

    assert cures_of(lambda x: endless(x) if x.sum() > 0 else -x, X)


def test_a_cure_that_fails_for_these_shapes_is_not_told():
    assert not cures_of(lambda x: jnp.ones(2) if x.sum() > 0 else x, X)
    assert cures_of(lambda x: jnp.ones(1) if x.sum() > 0 else x, X)


def test_a_half_that_bounds_a_loop_is_told_where_64_bits_are_enabled_too():
    with enable_x64(True):
        _, shown = failed("half_as_many_turns")
    assert shown.explanation.case == "whole size"


@jax.jit
def layer(x, w):
    s = jnp.tanh(x)
    return s @ w @ w


def in_jit(x, w):
    return layer(x + 1, w * 2)


def in_a_scan(x, w):
    def body(carry, _):
        return jnp.sin(carry) @ w @ w, None

    return jax.lax.scan(body, x * 2, None, length=3)[0]


def in_a_while_loop(x, w):
    return jax.lax.while_loop(lambda state: state.sum() < 3, lambda state: jnp.sin(state) @ w @ w, x * 2)


def in_a_branch(x, w):
    y = x * 2
    return jax.lax.cond(y.sum() > 0, lambda y: jnp.sin(y) @ w @ w, lambda y: y, y)


def in_jit_in_jit(x, w):
    @jax.jit
    def inner(x):
        return layer(jnp.sin(x), w)

    return inner(x * 2)


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("fn", "owners"),
    [
        (in_jit, ["jit"]),
        (in_a_scan, ["scan"]),
        (in_a_while_loop, ["while"]),
        (in_a_branch, ["cond"]),
        (in_jit_in_jit, ["jit", "jit"]),
    ],
)
def test_what_has_an_unfinished_body_stands_where_it_was_called(fn, owners):
    with pytest.raises(TypeError) as caught:
        jv.explore(fn, jnp.ones((4, 8)), jnp.ones((8, 3)))
    document = caught.value.jaxviz.document()
    graph = document.graphs[0]
    (failed,) = document.programs[0].error.nodes
    around = [int(graph.regions.owner[region]) for region in _regions_around(graph, int(failed))]
    assert [graph.node(node).op for node in around] == owners
    calls = [document.tables.frames_of(int(graph.nodes.stack[node])) for node in (*around, failed)]
    # The call of a body leads to all that is inside of it.
    for depth, call in enumerate(calls):
        assert [frame.function for frame in call] == [frame.function for frame in calls[-1]][: depth + 1]
    assert calls[0][-1].line > fn.__code__.co_firstlineno
    # Both sides of the product, be they made inside or outside of the body.
    types = [document.tables.type_text(graph.values.type[value]) for value in graph.node(int(failed)).operands]
    assert types == ["f32[4,3]", "f32[8,3]"]


@jax.jit
def product(x, w):
    return jnp.dot(x, w)


def fails_first_in_jit(x, w):
    return product(jnp.tanh(x), w)


def is_only_a_call(x, w):
    return product(x, w)


def fails_first_in_a_scan(x, w):
    return jax.lax.scan(lambda carry, _: (carry @ w @ w, None), x, None, length=3)[0]


def fails_in_a_function_of_jax(x, w):
    return jnp.dot(jnp.tanh(x), w) @ w


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("fn", "owners", "before"),
    [
        (fails_first_in_jit, ["jit"], ["tanh"]),
        (is_only_a_call, ["jit"], []),
        (fails_first_in_a_scan, ["scan"], []),
        (fails_in_a_function_of_jax, [], ["tanh"]),
    ],
)
def test_a_function_that_fails_on_its_first_operation_is_a_body_too(fn, owners, before):
    with pytest.raises(TypeError) as caught:
        jv.explore(fn, jnp.ones((4, 8)), jnp.ones((8, 3) if fn is fails_first_in_a_scan else (9, 3)))
    document = caught.value.jaxviz.document()
    graph = document.graphs[0]
    (failed,) = document.programs[0].error.nodes
    around = [int(graph.regions.owner[region]) for region in _regions_around(graph, int(failed))]
    assert [graph.node(node).op for node in around] == owners
    outermost = [
        node for node in np.flatnonzero(graph.nodes.region == 0).tolist() if node not in (*around, int(failed))
    ]
    assert [graph.node(node).op for node in outermost if graph.node(node).kind == "operation"] == before
    # Its arguments are those of the function that failed.
    assert len(graph.node(int(failed)).operands) == 2


def in_a_scan_over_rows(x, w):
    def body(carry, row):
        return carry @ w + row @ w @ w, None

    return jax.lax.scan(body, x[0] * 2, jnp.tanh(x))[0]


def in_a_scan_of_each(x, w):
    return jax.vmap(lambda row: in_a_scan(row, w))(jnp.tanh(x))


def in_a_fori_loop(x, w):
    return jax.lax.fori_loop(0, 3, lambda turn, state: state @ w @ w, x * 2)


def in_jit_of_each(x, w):
    return jax.vmap(lambda row: layer(row * 2, w))(jnp.tanh(x))


def in_jit_of_a_gradient(x, w):
    return jax.grad(lambda x: layer(jnp.tanh(x), w).sum())(x)


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("fn", "joins"),
    [
        (in_jit, [(ENTER, "add", 0), (ENTER, "mul", 1)]),
        (in_a_branch, [(ENTER, "mul", 0)]),
        (in_a_scan, [(INIT, "mul", 0)]),
        (in_a_while_loop, [(INIT, "mul", 0)]),
        (in_a_fori_loop, [(INIT, "mul", 1)]),
        (in_a_scan_over_rows, [(INIT, "mul", 0), (SLICE, "tanh", 1)]),
        (in_a_scan_of_each, [(INIT, "mul", 0)]),
        (in_jit_of_each, [(ENTER, "mul", 0), (ENTER, "argument", 1)]),
        (in_jit_of_a_gradient, [(ENTER, "tanh", 0), (ENTER, "argument", 1)]),
    ],
)
def test_what_goes_into_an_unfinished_body_is_joined_to_its_arguments(fn, joins):
    with pytest.raises(TypeError) as caught:
        jv.explore(fn, jnp.ones((4, 8)), jnp.ones((8, 3)))
    graph = caught.value.jaxviz.document().graphs[0]
    arguments = [node.index for node in graph if graph.nodes.region[node.index] == 1 and node.kind == "argument"]
    bound = graph.bindings
    found = [
        (kind, graph.node(graph.value_node[start]).op, arguments.index(end))
        for kind, start, end in zip(bound.kind.tolist(), bound.start.tolist(), bound.end.tolist(), strict=True)
    ]
    assert found == joins


def _regions_around(graph, node):
    """The regions that a node lies in, outermost first, without the program itself."""
    regions, region = [], int(graph.nodes.region[node])
    while region:
        regions.append(region)
        region = int(graph.region_parent[region])
    return regions[::-1]
