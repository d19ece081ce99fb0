"""Files are told by their contents and opened without JAX compiling anything."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re

import jax
import jax.numpy as jnp
import pytest
from outline.outlines import check

import jaxviz as jv
from jaxviz import compat
from jaxviz.opening.contents import OpenError


def program(x, w):
    y = jnp.tanh(x @ w)
    return jax.lax.fori_loop(0, 3, lambda i, carry: carry * 2.0 + i, y).sum()


@pytest.fixture(scope="module")
def lowered():
    return jax.jit(program).lower(jnp.ones((4, 3)), jnp.ones((3, 2)))


@pytest.fixture(scope="module")
def module(lowered):
    return lowered.compile().runtime_executable().hlo_modules()[0]


def operations(opened: jv.Exploration, kind: str) -> list[str]:
    return sorted(node.op for node in getattr(opened, kind) if node.kind == "operation")


def test_hlo_text_and_proto_open_as_the_same_graph(module, tmp_path):
    (tmp_path / "a.json").write_text(module.to_string())
    (tmp_path / "b.txt").write_bytes(module.as_serialized_hlo_module_proto())
    text, proto = jv.open(tmp_path / "a.json"), jv.open(str(tmp_path / "b.txt"))
    assert operations(text, "hlo") == operations(proto, "hlo")
    assert "while" in operations(text, "hlo")
    assert text.names == proto.names == ("jit_program",)
    assert text.document().outlines[0].outline.row(0).name == "jit_program"


def bytecode(module) -> bytes:
    stream = io.BytesIO()
    module.operation.write_bytecode(stream)
    return stream.getvalue()


@pytest.mark.smoke
def test_an_artifact_of_the_first_stablehlo_opens_which_did_not_say_that_it_is_one(tmp_path):
    from jax import export

    exported = export.export(jax.jit(program))(jnp.ones((4, 3)), jnp.ones((3, 2)))
    data = exported.mlir_module_serialized
    name = data[data.index(b"StableHLO_v") : data.index(b"\0", data.index(b"StableHLO_v"))]
    (tmp_path / "first").write_bytes(data.replace(name, b"MLIRxxx-trunk".ljust(len(name), b"x"), 1))
    (tmp_path / "text").write_text(exported.mlir_module())
    first, text = jv.open(tmp_path / "first"), jv.open(tmp_path / "text")
    assert operations(first, "stablehlo") == operations(text, "stablehlo")


def test_stablehlo_opens_as_text_and_as_bytecode_with_its_lines(lowered, tmp_path):
    (tmp_path / "a").write_text(lowered.as_text(debug_info=True))
    (tmp_path / "b").write_bytes(bytecode(lowered.compiler_ir("stablehlo")))
    for name in ("a", "b"):
        opened = jv.open(tmp_path / name)
        assert operations(opened, "stablehlo") == sorted(
            node.op
            for node in jv.explore(program, jnp.ones((4, 3)), jnp.ones((3, 2))).stablehlo
            if node.kind == "operation"
        )
        (tangent,) = opened.stablehlo.find("tanh")
        assert [frame.function for frame in tangent.frames][-1] == "program"
        assert tangent.scope.endswith("tanh")


def test_an_exported_function_opens_without_the_package_that_jax_needs(tmp_path):
    from jax import export

    data = export.export(jax.jit(program))(jnp.ones((4, 3)), jnp.ones((3, 2))).serialize()
    (tmp_path / "f.bin").write_bytes(bytes(data))
    opened = jv.open(tmp_path / "f.bin")
    assert opened.names == ("program",)
    assert {"dot_general", "tanh", "while"} <= set(operations(opened, "stablehlo"))


def test_derivatives_that_were_exported_with_a_function_are_programs_after_it(tmp_path):
    pytest.importorskip("flatbuffers")
    from jax import export

    data = export.export(jax.jit(program))(jnp.ones((4, 3)), jnp.ones((3, 2))).serialize(vjp_order=2)
    (tmp_path / "m").write_bytes(data)
    opened = jv.open(tmp_path / "m")
    assert opened.names == ("program", "vjp of program", "vjp of vjp of program")
    assert opened.call == "program"
    dots = [len(opened[name].stablehlo.find("dot_general")) for name in opened.names]
    assert dots[0] == 1
    assert dots[0] < dots[1] < dots[2]
    (tmp_path / "cut").write_bytes(data[: len(data) // 2])
    with pytest.raises(jv.OpenError, match=r"byte \d+: expected"):
        jv.open(tmp_path / "cut")


@pytest.mark.parametrize("platforms", [["cpu"], ["cpu", "cuda"]])
def test_arguments_of_an_exported_function_of_open_lengths_are_named(tmp_path, platforms):
    from jax import export

    (length,) = export.symbolic_shape("n")
    arguments = {"b": jnp.ones(3), "w": jnp.ones((3, 3))}, jax.ShapeDtypeStruct((length, 3), jnp.float32)
    exported = export.export(jax.jit(lambda params, x: jnp.tanh(x @ params["w"] + params["b"])), platforms=platforms)(
        *arguments
    )
    (tmp_path / "f.jaxexport").write_bytes(exported.serialize())
    (tmp_path / "f.mlir").write_text(exported.mlir_module())
    for name in ("f.jaxexport", "f.mlir"):
        opened = jv.open(tmp_path / name).stablehlo
        names = [node.name for node in opened if node.kind == "argument" and node.region == 0]
        # The module of several platforms is told first on which one it runs.
        assert names == ["platform_index"] * (len(platforms) - 1) + ["params['b']", "params['w']", "x"]


def test_a_document_opens_with_all_of_its_stages(tmp_path):
    explored = jv.explore(program, jnp.ones((4, 3)), jnp.ones((3, 2)))
    explored.document().save(tmp_path / "x")
    opened = jv.open(tmp_path / "x")
    assert len(opened.jaxpr) == len(explored.jaxpr)
    assert len(opened.hlo) == len(explored.hlo)
    assert [fate.kind for fate in opened.fates] == [fate.kind for fate in explored.fates]
    # What is seen first is what was seen first where it was saved.
    assert opened.stage == explored.stage


def _lzma_alone(data):
    return lzma.compress(data, format=lzma.FORMAT_ALONE)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, _lzma_alone])
def test_compressed_files_open(module, tmp_path, compress):
    (tmp_path / "m").write_bytes(compress(compress(module.to_string().encode())))
    assert jv.open(tmp_path / "m").names == ("jit_program",)


def test_zstd_opens_or_names_what_it_needs(module, tmp_path, monkeypatch):
    zstandard = pytest.importorskip("zstandard")
    (tmp_path / "m").write_bytes(zstandard.compress(module.to_string().encode()))
    assert jv.open(tmp_path / "m").names == ("jit_program",)
    monkeypatch.setattr("jaxviz.opening.contents._zstd_library", lambda: None)
    with pytest.raises(jv.OpenError, match="pip install zstandard"):
        jv.open(tmp_path / "m")


def test_nothing_is_compiled(module, lowered, tmp_path, monkeypatch):
    (tmp_path / "a").write_text(module.to_string())
    (tmp_path / "b").write_text(lowered.as_text())
    seen = []
    monkeypatch.setattr(compat, "optimized_proto", seen.append)
    stop = compat.listen_to_durations(lambda event, *rest, **more: seen.append(event))
    try:
        for name in "ab":
            jv.open(tmp_path / name)._repr_mimebundle_()
    finally:
        stop()
    assert seen == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "line 1:1: expected HLO, MLIR, a jax.export artifact or a jaxviz document, but the file is empty"),
        (
            b"// note\n\nhello\n",
            'line 3:1: expected HLO, MLIR, a jax.export artifact or a jaxviz document, not "hello"',
        ),
        (b'hlo_module {\n  name: "m"\n}\n', "not a protocol buffer written as text: its bytes (--xla_dump_hlo_as_"),
        (
            b'name: "jit_f"\nentry_computation_name: "main.3"\ncomputations {\n  name: "main.3"\n}\n',
            "line 1:1: expected HLO, MLIR, a jax.export artifact or a jaxviz document, not a protocol buffer written",
        ),
        (
            b"ML\xefR\x0dStableHLO_v99.0.0\x00\x01",
            "which this jaxlib reads, not 99.0.0: pip install -U jax jaxlib",
        ),
        (
            b"BufferAssignment:\nallocation 0: size 4",
            "not a plan of memory, which XLA dumps beside a module: the folder",
        ),
        (b"digraph G {\nrankdir = TB;\n", "not a picture: the text of HLO"),
        (b'xla_cpu_enable_fast_math: false\nxla_dump_to: "d"\n', "not options of the compiler"),
        (b'version: 3\nresults {\n  device: "d"\n}\n', "not what XLA measured to choose among kernels"),
        (b'{"displayTimeUnit":"ns","traceEvents":[]}', "not the events of a profile alone: the .xplane.pb beside them"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "byte 0: expected HLO, MLIR, a jax.export artifact or a jaxviz document"),
        (b"HloModule m\n\nENTRY e {\n", "line 4:1: expected } at the end of computation e"),
        (b"module {\n  func.func @f( {\n", "line 2:16: expected"),
        (b'{"format": "jaxviz", "version": 1', "line 1:34: expected a jaxviz document"),
        (b'{"format": "jaxviz", "version": 99}', "needs jaxviz with document version 99"),
        (gzip.compress(b"HloModule m", mtime=0)[:-9], "inside gzip: expected"),
        (b"ML\xefR\x00\x00", "byte 0: expected"),
        (b"\n\x05hello\xff\xff\xff", "byte 10: expected more bytes: the file is cut off"),
    ],
)
def test_what_cannot_be_opened_is_told_in_one_line(tmp_path, data, message):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(jv.OpenError) as caught:
        jv.open(path)
    text = str(caught.value)
    assert text.startswith(str(path))
    assert message in text
    assert "\n" not in text


def _zstd(data):
    return pytest.importorskip("zstandard").compress(data)


@pytest.mark.parametrize("kind", ["gzip", "proto", "bytecode"])
def test_of_bytes_that_were_taken_for_text_it_is_said(tmp_path, kind):
    data = {
        "gzip": gzip.compress(b"HloModule m"),
        "proto": b"\n\xc8\x01" + b"\x80\x00" * 100,
        "bytecode": b"ML\xefR\x00",
    }
    (tmp_path / "m").write_bytes(data[kind].decode(errors="replace").encode())
    with pytest.raises(jv.OpenError, match=r"; bytes of it were replaced, .*: copy the file again$"):
        jv.open(tmp_path / "m")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, _zstd])
def test_what_is_compressed_and_cut_off_says_so_and_where(module, tmp_path, compress):
    text = "\n".join([module.to_string(), *(f"// {number**5}" for number in range(20_000))]).encode()
    data, path = compress(text), tmp_path / "m"
    path.write_bytes(data)
    assert jv.open(path).hlo
    for end in (len(data) // 2, len(data) - 3):
        path.write_bytes(data[:end])
        with pytest.raises(jv.OpenError) as caught:
            jv.open(path)
        found = re.search(
            r": byte (\d+) inside \w+: expected more of it: the file seems to be cut off at its byte (\d+)$",
            str(caught.value),
        )
        assert found is not None, str(caught.value)
        assert int(found[2]) == end
        # Some of it could be read, of bzip2 nothing but whole pieces.
        assert 0 < int(found[1]) <= len(text) or compress is bz2.compress


def test_what_stands_behind_a_file_that_is_compressed_does_not_matter_what_is_damaged_does(module, tmp_path):
    data, path = gzip.compress(module.to_string().encode()), tmp_path / "m"
    path.write_bytes(data + b"more")
    assert jv.open(path).hlo
    # The sum over all that is in it.
    path.write_bytes(data[:-8] + bytes(4) + data[-4:])
    with pytest.raises(jv.OpenError, match=r"inside gzip: expected gzip, but CRC check failed"):
        jv.open(path)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("hlo", "HloModule m\n\nENTRY e {\n  ROOT a = f32[ parameter(0)\n}\n"),
        ("mlir", "module {\n  func.func @f( {\n  }\n}\n"),
    ],
)
def test_a_text_that_is_cut_off_says_so_and_one_that_is_wrong_does_not(module, lowered, tmp_path, name, wrong):
    text = {"hlo": module.to_string(), "mlir": lowered.as_text()}[name]
    path = tmp_path / "file"
    first, last = text.rindex("ENTRY" if name == "hlo" else "func.func"), text.rindex("}")
    for end in range(text.index("{", first) + 1, last, 40):
        path.write_text(text[:end])
        with pytest.raises(jv.OpenError, match=r": the file seems to be cut off$"):
            jv.open(path)
    path.write_text(wrong)
    with pytest.raises(jv.OpenError, match=r"expected (?!.*cut off)"):
        jv.open(path)


def test_comments_open_nothing_that_could_be_cut_off(tmp_path):
    (tmp_path / "m").write_text("// CHECK: func {\nmodule {\n  func.func @f( {\n  }\n}\n// CHECK: {\n")
    with pytest.raises(jv.OpenError, match=r"expected (?!.*cut off)"):
        jv.open(tmp_path / "m")


@pytest.mark.parametrize("comment", ["/* A licence.\n * Of lines.\n **/\n", "// RUN: opt\n" * 500 + "\n"])
def test_files_may_begin_with_comments(module, tmp_path, comment):
    text = module.to_string()
    (tmp_path / "m.hlo").write_text(comment + text)
    (tmp_path / "none.txt").write_text(comment)
    opened = jv.open(tmp_path)
    assert list(map(str, opened.hlo)) == list(map(str, jv.open(tmp_path / "m.hlo").hlo))
    (reason,) = opened.left_out
    assert "but there are only comments in it" in reason


def test_a_file_that_is_not_there_is_pythons_own_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        jv.open(tmp_path / "none")


def test_operations_of_unknown_dialects_open(tmp_path):
    (tmp_path / "m").write_text(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
        '  %0 = "other.thing"(%x) {size = 3 : i32} : (tensor<2xf32>) -> tensor<2xf32>\n'
        "  return %0 : tensor<2xf32>\n}\n"
    )
    (node,) = jv.open(tmp_path / "m").stablehlo.find("other.thing")
    assert node.attributes == {"size": "3"}


def test_attributes_that_the_bindings_cannot_hand_out_are_as_if_they_were_not_there(tmp_path):
    path = tmp_path / "located.mlir"
    path.write_text(
        """func.func @main(%x: tensor<4xf32> {mhlo.sharding = loc("a")})
    -> (tensor<4xf32> {jax.result_info = loc("b")}) {
  %0 = stablehlo.add %x, %x {other = loc("c")} : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
    )
    graph = jv.open(path).stablehlo
    assert [node.op for node in graph] == ["argument", "add", "result"]


def test_files_that_a_module_names_are_not_looked_at(tmp_path):
    secret = tmp_path / "secret.py"
    secret.write_text("password = call('hidden')\n")
    (tmp_path / "m").write_text(
        'HloModule m\n\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT n = f32[2] negate(p), metadata={op_name="neg" '
        f'source_file="{secret}" source_line=1}}\n}}\n'
    )
    opened = jv.open(tmp_path / "m")
    assert not any("hidden" in text for text in opened.document().tables.strings)
    assert [str(frame) for frame in opened.hlo.find("negate")[0].frames] == ["secret.py:1 ()"]


def test_an_opened_file_has_a_first_view_and_a_picture(module, tmp_path):
    (tmp_path / "m").write_text(module.to_string())
    opened = jv.open(tmp_path / "m")
    check(opened.document().outlines[0].outline)
    assert 0 < len(opened.view("hlo").boxes) <= 40
    assert "<svg" in opened.to_svg(stage="hlo")
    assert repr(opened).startswith(f"<jaxviz {tmp_path / 'm'}: jit_program, hlo of ")
    data, metadata = opened._repr_mimebundle_()
    assert metadata["application/vnd.jaxviz.v1+json"]["stage"] == "hlo"
    assert "image/svg+xml" in data
    with pytest.raises(ValueError, match=r"there is no jaxpr in .*: it holds hlo"):
        opened.jaxpr  # noqa: B018


def test_a_module_without_frames_opens(tmp_path):
    (tmp_path / "m").write_text(
        "HloModule m\n\nf {\n  q = f32[2] parameter(0)\n  ROOT s = f32[2] sine(q)\n}\n\n"
        "ENTRY e {\n  p = f32[2] parameter(0)\n  n = f32[2] fusion(p), kind=kLoop, calls=f\n"
        "  ROOT m = f32[2] cosine(n)\n}\n"
    )
    assert [row.name for row in jv.open(tmp_path / "m").document().outlines[0].outline if row.closed] == ["sine"]


def test_a_loop_of_which_some_operations_have_no_place_in_the_source_opens(tmp_path):
    def settle(rows, weights):
        return jax.lax.scan(lambda one, row: (jnp.tanh(one @ weights + row), None), rows[0], rows, unroll=5)[0]

    text = jax.jit(settle).lower(jnp.ones((10, 4, 8)), jnp.ones((8, 8))).compile().as_text()
    parts = re.split(r"( stack_frame_id=\d+| source_file=\S+ source_line=\d+)", text)
    (tmp_path / "module.hlo").write_text("".join(part for number, part in enumerate(parts) if number % 4 != 1))
    opened = jv.open(tmp_path / "module.hlo")
    check(opened.document().outlines[0].outline)
    assert opened.findings == ()


def test_the_lines_of_a_text_of_mlir_are_no_lines_of_the_program(lowered, tmp_path):
    (tmp_path / "m").write_text(lowered.as_text())
    assert not any(node.frames for node in jv.open(tmp_path / "m").stablehlo)


@pytest.mark.parametrize("text", ["module {}", "func.func @main() { return }"])
def test_a_module_of_nothing_opens(tmp_path, text):
    (tmp_path / "m").write_text(text)
    opened = jv.open(tmp_path / "m")
    assert len(opened.stablehlo) == 0
    assert opened._repr_mimebundle_()


def test_an_error_that_quotes_what_breaks_lines_is_one_line(tmp_path):
    path = tmp_path / "m.hlo"
    path.write_text(
        "HloModule m\n\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT c = f32[2] call(p), to_apply=in\fner\n}\n"
    )
    with pytest.raises(OpenError) as raised:
        jv.open(path)
    assert len(str(raised.value).splitlines()) == 1
    assert "expected a computation of this module, not in ner" in str(raised.value)


def test_what_was_opened_cannot_be_run_and_says_so(module, tmp_path):
    path = tmp_path / "m.hlo.txt"
    path.write_text(module.to_string())
    opened = jv.open(path)
    for ask in (opened.run, opened.values, opened.memory, opened.compile_cost):
        with pytest.raises(ValueError, match=r"m\.hlo\.txt holds what was compiled, not a function"):
            ask()
    assert opened.kernels


def test_a_picture_of_a_file_is_of_what_there_is_in_it(module, tmp_path):
    (tmp_path / "m.hlo").write_text(module.to_string())
    opened = jv.open(tmp_path / "m.hlo")
    assert opened.to_svg() == opened.to_svg(stage="hlo")
    assert opened.view().boxes == opened.view("hlo").boxes
    assert opened.to_dot() == opened.to_dot(stage="hlo")
    with pytest.raises(ValueError, match=r"^there is no jaxpr of .*, but hlo$"):
        opened.to_svg(stage="jaxpr")


def test_text_that_a_shell_of_windows_wrote_opens(module, tmp_path):
    (tmp_path / "m.hlo").write_bytes(module.to_string().encode("utf-16"))
    assert len(jv.open(tmp_path / "m.hlo").hlo) == len(module_graph(module, tmp_path))
    (tmp_path / "wide").mkdir()
    (tmp_path / "wide" / "m.hlo").write_bytes(module.to_string().replace("\n", "\r\n").encode("utf-16"))
    assert len(jv.open(tmp_path / "wide").names) == 1
    (tmp_path / "cut").write_bytes(b"\xff\xfeH")
    with pytest.raises(OpenError):
        jv.open(tmp_path / "cut")


def module_graph(module, folder):
    (folder / "plain.hlo").write_text(module.to_string())
    return jv.open(folder / "plain.hlo").hlo


@pytest.mark.parametrize("form", ["hlo", "stablehlo"])
def test_text_with_a_name_in_another_encoding_opens(module, lowered, tmp_path, form):
    text = {"hlo": module.to_string(), "stablehlo": lowered.as_text(debug_info=True)}[form]
    file = tmp_path / "m.txt"
    file.write_bytes(text.replace("test_open", "pr\xfcfung").encode("latin-1"))
    assert operations(jv.open(file), form).count("tanh") == 1
    # What no text holds is told where it is.
    broken = text.encode()[:900] + b"\0" + text.encode()[900:]
    file.write_bytes(broken)
    with pytest.raises(jv.OpenError, match="byte 900: expected text, not the byte 0x00"):
        jv.open(file)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "'': expected the path of a file or a folder"),
        ("a\0b", "expected the path of a file or a folder"),
        ("~no such person/m.hlo", "home folder is known"),
    ],
)
def test_what_is_no_path_is_told(path, message):
    with pytest.raises(jv.OpenError, match=message):
        jv.open(path)


def test_mlir_that_is_printed_for_people_is_told_to_be(lowered, tmp_path):
    operation = lowered.compiler_ir("stablehlo").operation
    (tmp_path / "a.mlir").write_text(operation.get_asm(enable_debug_info=True, pretty_debug_info=True))
    with pytest.raises(OpenError, match=r"line \d+:\d+: expected locations as loc\(\.\.\.\).*pretty_debug_info"):
        jv.open(tmp_path / "a.mlir")


def standardized(x):
    return (x - x.mean(0)) / jnp.sqrt(x.var(0) + 1e-5)


def deep(weights, x):
    for w in weights:
        x = jax.nn.relu(standardized(x @ w))
    return x


def test_functions_of_jax_that_a_derivative_goes_through_tear_no_function_of_the_person_apart(tmp_path):
    def spread(weights, x):
        return jnp.mean(deep(weights, x) ** 2)

    compiled = jax.jit(jax.grad(spread)).lower([jnp.ones((8, 8))] * 3, jnp.ones((16, 8))).compile()
    (tmp_path / "step.txt").write_text(compiled.as_text())
    outline = jv.open(tmp_path / "step.txt").document().outlines[0].outline
    check(outline)
    assert "_var" not in {row.name for row in outline}
    for phase in map(outline.row, outline.children[0]):
        inside = [outline.row(row) for row in outline.children[phase.index]]
        # Also on the way back, where the compiler made other kernels of one turn than of the others.
        assert [row.count for row in inside if row.name == "for w in weights"] == [3]
        assert len(inside) <= 2
