"""The notebooks in `examples/` run from top to bottom, and each of them shows what it tells of."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from notebook_runs import Notebook, running

EXAMPLES = Path(__file__).parents[1] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.ipynb"))

# It says how many devices there are, which can be said only before JAX is used.
ALONE = {"several-devices"}
# Bytes of an output that a repository of notebooks can bear; a whole training step takes more.
SMALL = 30_000
LARGE = {"transformer", "learning-xor"}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A notebook by its name, run once for all tests of it."""
    known: dict[str, Notebook] = {}
    with running(tmp_path_factory.mktemp("kernel")) as shared:

        def run(name: str) -> Notebook:
            if name not in known:
                folder = tmp_path_factory.mktemp(name)
                notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
                if name in ALONE:
                    with running(folder) as own:
                        known[name] = own.run(notebook, folder)
                else:
                    known[name] = shared.run(notebook, folder)
            return known[name]

        yield run


@pytest.mark.parametrize("name", NAMES)
def test_every_magic_of_an_example_shows_a_picture(name, ran):
    notebook = ran(name)
    assert len(notebook.shown) >= max(1, notebook.magics)
    for data, shown in zip(notebook.bundles, notebook.shown, strict=True):
        assert len(shown.document.graphs[0]) > 0
        assert "\n<svg" in data["image/svg+xml"]
        assert name in LARGE or len(json.dumps(data)) <= SMALL


def test_the_readme_of_the_examples_lists_all_of_them():
    listed = re.findall(r"\(([\w-]+)\.ipynb\)", (EXAMPLES / "README.md").read_text())
    assert sorted(listed) == NAMES


def test_the_tour_leads_to_all_others():
    cells = json.loads((EXAMPLES / "tour.ipynb").read_text())["cells"]
    listed = re.findall(r"\(([\w-]+)\.ipynb\)", "".join(cells[-1]["source"]))
    assert sorted([*listed, "tour"]) == NAMES


def test_no_outputs_are_stored():
    for name in NAMES:
        cells = json.loads((EXAMPLES / f"{name}.ipynb").read_text())["cells"]
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells), name


# The tour.


def test_lines_of_a_notebook_are_named_by_their_cell(ran):
    document = ran("tour").shown[0].document
    tanh = next(node for node in document.graphs[0] if node.op == "tanh")
    assert (tanh.frames[0].label, tanh.frames[0].line) == ("In [2]", 2)
    assert any("jnp.tanh(w @ x + b)" in text for text in document.to_json(packed=False)["strings"])


def test_nbconvert_shows_the_picture(ran):
    body, _ = HTMLExporter().from_notebook_node(ran("tour").node)
    # The page has icons of its own among its pictures.
    pictures = [
        base64.b64decode(data).decode() for data in re.findall(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)", body)
    ]
    assert sum("with 3 operations: w, b, x, matmul, add, tanh, result</desc>" in picture for picture in pictures) == 2
    assert sum(">matmul</text>" in picture for picture in pictures) >= 2


# The lessons, in the order of examples/README.md.


def test_each_line_is_followed_through_all_stages(ran):
    notebook = ran("from-python-to-kernels")
    lines = notebook.texts[2].splitlines()
    assert [line.split(" -> ")[:2] for line in lines] == [
        ["line 2: dot_general", "dot_general"],
        ["line 3: add", "add"],
        ["line 4: tanh", "tanh"],
    ]
    assert all(line.split(" -> ")[2] for line in lines)
    (passes,) = notebook.shown[1].document.passes
    assert len(passes.passes) > 1
    told = notebook.texts[4]
    assert "cpu runs" in told
    # Compiled for, or told what is missing.
    assert re.search(r"cuda:h100 runs|pip install jax-cuda", told)
    assert re.search(r"tpu:v5e runs|pip install .*libtpu", told)


def test_a_loop_that_nothing_needs_is_a_stack_of_ghosts(ran):
    notebook = ran("unrolled-loop")
    shown = notebook.shown[0]
    assert shown.stacks == {"multiply": 1000}
    assert {"unrolled", "dead"} <= set(shown.findings)
    assert shown.findings["unrolled"].figures["copies"] == 1000
    assert len(shown.operations("hlo")) == 1
    assert "the fate of each multiplication: dead\nwhat runs: copy\n" in notebook.texts[2]
    assert shown.operations("stablehlo") == []
    assert re.search(r"equations +1,001 +3\n", notebook.text)
    assert "The results are equal." in notebook.text
    assert "unrolled from line 3: 1,000 copies" in notebook.texts[-1]


def test_loops_of_jax_are_traced_once(ran):
    notebook = ran("loops")
    assert "198 folded into a loop" in notebook.texts[1]
    assert "('walk', 'scan', {'length': '100'})" in notebook.text
    assert "('settle', 'while', {})" in notebook.text
    assert re.findall(r"^ +(\d+) .* [mµ]?s +[\d.]+ [mµ]?s$", notebook.texts[5], re.MULTILINE) == [
        "1",
        "3",
        "10",
        "30",
        "100",
    ]
    assert "with 100 turns it is ready in" in notebook.texts[5]
    assert notebook.shown[-1].stacks


def test_few_turns_are_one_kernel(ran):
    notebook = ran("when-unrolling-wins")
    compared = notebook.shown[0]
    assert "while" not in compared.operations("hlo")
    assert "while" in compared.operations("hlo", 1)
    assert len(re.findall(r"^ *\d+ +[\d.]+ s +[\d.]+ s +\d+ us +\d+ us$", notebook.texts[2], re.MULTILINE)) == 4
    assert len(re.findall(r"turns: unrolling (pays after [\d,]+ calls|never pays)", notebook.texts[3])) == 4
    assert "unrolled from line 2: 32 copies" in notebook.texts[4]


def test_thirty_operations_are_one_kernel(ran):
    notebook = ran("fusion")
    shown = notebook.shown[0]
    assert len(shown.operations("jaxpr")) == 30
    assert shown.document.measures
    assert re.search(r"each by itself: +48\.0 MB moved", notebook.texts[2])
    assert re.search(r"fused: +1\.6 MB moved", notebook.texts[2])
    assert "dot" in notebook.shown[1].operations("hlo")
    assert notebook.texts[4].count("<Kernel") == 2


def test_dispatch_is_told_apart_from_computing(ran):
    notebook = ran("dispatch")
    assert notebook.shown[0].document.measures
    for name in ("NumPy", "JAX, eager", "JAX, jitted"):
        assert re.search(rf"{name} +\d+ us", notebook.texts[2])
    returned, done = map(float, re.findall(r"after ([\d.]+) ms", notebook.texts[3])[:2])
    assert returned <= done
    assert "Python goes on after" in notebook.texts[3]


def test_a_shape_that_is_not_known_is_explained_and_cured(ran):
    notebook = ran("static-shapes")
    errors = [shown.document.programs[0].error for shown in notebook.shown]
    assert [error and error.kind for error in errors] == [
        "ConcretizationTypeError",
        None,
        "NonConcreteBooleanIndexError",
        None,
    ]
    assert "Make `n` static" in notebook.texts[1]
    assert "jnp.where(scaled > 0, scaled, 0)" in notebook.texts[3]
    # What was traced until the error, and what failed.
    assert notebook.shown[2].operations("jaxpr") == ["mul", "gt", "scaled[scaled > 0]"]
    first, second = re.findall(r"Array\(([\d.]+)", notebook.texts[-1])
    assert float(first) == pytest.approx(float(second), rel=1e-5)


def test_the_lesson_about_compilations_tells_each_reason(ran):
    told = ran("compiled-again").texts
    (lengths,) = [text for text in told if "jaxviz session" in text]
    assert lengths.count(": the shape of `x` was") == 3
    assert "Bring axis 0 of `x` to a few fixed sizes" in lengths
    # Padded, one program is enough for all lengths.
    assert any("['padded_total(f32[16], 10)']" in text for text in told)
    assert any("the static argument `n` was 5, before 4" in text for text in told)
    assert any("this lambda is a new function object" in text for text in told)


def test_what_is_baked_in_is_found(ran):
    notebook = ran("impure-functions")
    found = [entry.finding.title for entry in notebook.shown[0].document.findings]
    assert any("`table` (f32[1000000], 4 MB) is baked in" in title for title in found)
    assert any("`rate` = 0.5 is baked in" in title for title in found)
    assert any("`print` prints only while JAX traces" in title for title in found)
    before, after = re.findall(r"Array\((\S+),", notebook.texts[2])
    assert before == after
    assert notebook.shown[1].operations("jaxpr") == ["mul"]
    assert notebook.texts[4].startswith("()\n")


def test_branches_are_traced_alone_or_all(ran):
    notebook = ran("conditionals")
    only, error, cond, switch, batched = notebook.shown
    assert only.operations("jaxpr") == ["sin", "mul"]
    assert error.document.programs[0].error.kind == "TracerBoolConversionError"
    assert [region.kind for region in _regions(cond)] == ["branch"] * 2
    assert [region.kind for region in _regions(switch)] == ["branch"] * 3
    assert "cond" not in batched.operations("jaxpr")
    assert {"sin", "cos", "select_n"} <= set(batched.operations("jaxpr"))


def test_leaves_are_named_by_their_path(ran):
    notebook = ran("pytrees")
    names = notebook.shown[0].named()
    assert names["params[0]['w']"] == "f32[784,64]"
    assert names["params[1]['b']"] == "f32[10]"
    assert {"result['logits']", "result['features']"} <= set(names)
    assert "the structure of `params` differed" in notebook.texts[-1]
    assert "`params[0]['scale']` and `params[1]['scale']` were new" in notebook.texts[-1]


def test_each_derivative_adds_to_the_program(ran):
    notebook = ran("derivatives")
    first = notebook.shown[0]
    assert {"forward", "backward"} <= {row.name for row in first.rows()}
    assert re.search(r"65\.5 kB +%\d+:f32\[256,64\] = tanh", notebook.texts[2])
    assert "nothing_saveable: 0 B kept" in notebook.texts[2]
    # The mean is not asked for, and dead.
    assert "dead" in notebook.bundles[1]["image/svg+xml"]
    counts = [int(count) for count in re.findall(r"derivative \d: +(\d+) equations", notebook.text)]
    assert counts == sorted(counts)
    assert len(set(counts)) == 5


def test_a_batch_is_one_product(ran):
    notebook = ran("batching")
    one, batch = (notebook.shown[0].operations("jaxpr", program) for program in (0, 1))
    assert sorted(one) == sorted(batch)
    assert re.search(r"tanh +f32\[32\] +-> f32\[32,12\]", notebook.texts[2])
    assert re.search(r"score_loop: 36 products", notebook.text)
    assert re.search(r"score_all: 3 products", notebook.text)
    assert "jax.vmap over them" in notebook.shown[1].findings["unrolled"].remedy
    assert any("f32[5,7]" in node.types for node in notebook.shown[2].graph("jaxpr"))


def test_a_small_network_learns(ran):
    notebook = ran("learning-xor")
    step, unrolled = notebook.shown
    assert {"forward", "backward"} <= {row.name for row in step.rows()}
    assert unrolled.findings["unrolled"].figures["copies"] == 20
    assert "fori_loop(0, 20" in unrolled.findings["unrolled"].remedy
    losses = [float(loss) for loss in re.findall(r"^ *\d+ (0\.\d+)", notebook.texts[-1], re.MULTILINE)]
    assert len(losses) == 10
    assert losses[0] > 0.5
    assert losses[-1] < 0.05
    assert "Array([0., 1., 1., 0.]" in notebook.texts[-1]


def test_a_key_that_is_used_twice_is_found(ran):
    notebook = ran("random-keys")
    twice, well, loop = notebook.shown
    assert "used 2 times (lines 2 to 3)" in twice.findings["key"].title
    assert not well.findings
    assert "each turn of a loop uses the same random key" in loop.findings["key"].title
    # The mask is where the noise is negative, every time.
    noise = [float(number) for number in re.findall(r"-?\d+\.\d*", notebook.texts[2])]
    assert all(number <= 0 for number in noise)
    assert any(number < 0 for number in noise)


def test_a_donated_argument_is_not_copied(ran):
    notebook = ran("updates-in-place")
    kept, donated = (notebook.shown[1].operations("hlo", program) for program in (0, 1))
    assert kept.count("copy") == 1
    assert "copy" not in donated
    assert re.findall(r"(\d+) MB in all, (\d+) MB", notebook.text) == [("8", "0"), ("4", "4")]
    assert "x: its memory becomes that of the result" in notebook.text
    assert "deleted" in notebook.texts[5]
    assert "`state` (72 MB) could be donated" in notebook.texts[6]


def test_what_happens_out_of_bounds_is_told(ran):
    notebook = ran("out-of-bounds")
    read, write, traced = (shown.findings["indexing"] for shown in notebook.shown[:3])
    assert "reads the nearest entry" in read.text
    assert "changes nothing" in write.text
    assert "reads the nearest entry" in traced.text
    # Who says what should happen is not told.
    assert "indexing" not in notebook.shown[3].findings
    assert read.severity == write.severity == "warning"
    assert traced.severity == "note"


def test_what_devices_tell_one_another_is_found(ran):
    notebook = ran("several-devices")
    normalise, product, by_hand = notebook.shown
    assert "all-reduce of 4 B" in normalise.findings["collective"].title
    assert "line 6" in normalise.findings["collective"].title
    assert "XLA put it in" in normalise.findings["collective"].text
    assert "all-reduce of 1.05 MB" in product.findings["collective"].title
    assert "The program asks for it" in by_hand.findings["collective"].text
    assert notebook.texts[4].startswith("[]\n")
    assert notebook.texts[-1].strip() == "True"


def test_time_and_memory_are_told_by_line(ran):
    notebook = ran("profiling")
    assert notebook.shown[0].document.measures
    assert {int(line) for line in re.findall(r"In \[2\]:(\d): ", notebook.texts[2])} == {2, 3, 4}
    assert re.search(r"(compute|memory)-bound", notebook.texts[2])
    assert notebook.shown[1].document.memory
    # As pprof reads it.
    assert gzip.decompress((notebook.folder / "memory.prof").read_bytes())
    kept, again = map(int, re.findall(r"(\d+) MB at the peak, with jax.checkpoint (\d+) MB", notebook.text)[0])
    assert again < kept / 2


def test_a_training_step_opens_as_its_modules(ran):
    notebook = ran("transformer")
    equations, boxes = re.findall(r"([\d,]+) equations, (\d+) boxes", notebook.texts[2])[0]
    assert int(equations.replace(",", "")) > 1000
    assert int(boxes) <= 25
    assert "Block" in notebook.texts[2]
    assert "optimizer.update" in notebook.texts[2]
    assert notebook.shown[0].stacks["Block"] == 3
    assert re.search(r"line \d+: [\d.]+ MB", notebook.texts[3])
    assert "`params` and `state` (3.35 MB) could be donated" in notebook.texts[3]


def test_a_transformed_program_is_compared_with_what_it_was(ran):
    notebook = ran("low-rank-adapter")
    assert [tuple(one) for one in re.findall(r"\('(\w+)', '(f32\[[\d,]+\])'\)", notebook.texts[3])] == [
        (op, f"f32[32,{columns}]")
        for width in (256, 128, 10)
        for op, columns in (("dot_general", 4), ("dot_general", width), ("add", width))
    ]
    assert notebook.texts[4].startswith("True\n6248 numbers learned, 235146 left alone")
    results = [name for name in notebook.shown[1].named() if name.startswith("result")]
    assert len(results) == 6


def test_an_exported_program_is_opened(ran):
    notebook = ran("handing-over")
    shown = notebook.shown[0]
    assert "dot_general" in shown.operations("stablehlo")
    assert "exported for: cuda" in notebook.texts[2]
    assert "calling convention: " in notebook.texts[2]
    assert notebook.texts[3].startswith("(\"params['b1']\", 'f32[32]')\n(\"params['b2']\", 'f32[10]')\n")
    assert "('x', 'f32[?,64]')\n" in notebook.texts[3]
    assert "[(3, 10), (5, 10)]" in notebook.texts[4]
    assert "<jaxviz classify.mlir: classify, stablehlo" in notebook.texts[5]


def test_calls_of_numpy_are_counted(ran):
    notebook = ran("numpy-calls")
    counts = {
        call: int(count) for call, count in re.findall(r"^(\S.*?) +(\d+) equations", notebook.texts[2], re.MULTILINE)
    }
    assert counts["jnp.sin(x)"] == 1
    assert counts["jnp.mean(x)"] < counts["jnp.std(x)"] < counts["jnp.interp(x, x, x)"]
    assert {"std", "mean"} <= {row.name for row in notebook.shown[0].rows()}
    assert "sqrt" in notebook.shown[2].operations("jaxpr")
    assert "sqrt" not in notebook.shown[2].operations("jaxpr", 1)


def test_the_first_nan_is_found_with_its_line(ran):
    notebook = ran("nan-hunting")
    forward, backward = notebook.texts[1], notebook.texts[3]
    assert re.match(r"first: log f32\[8\] \(line 4\): .* 4 of 8 NaN", forward)
    assert re.match(r"first: mul f32\[3\] \(line 3\): 3 of 3 NaN", backward)
    assert all(shown.document.values for shown in notebook.shown)
    told = notebook.texts[-1].splitlines()
    assert told[0].startswith("distance [] mul")
    assert "the gradient is NaN where `where` masks sqrt" in told[1]
    assert told[2] == "distance_safe [] None"


def _regions(shown):
    graph = shown.graph("jaxpr")
    return [graph.region(index) for index in range(1, len(graph.regions.owner))]
