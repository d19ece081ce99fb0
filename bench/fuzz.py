"""Damaged files of every kind are opened or refused in one line, and never anything else.

    python -m bench fuzz [--quick] [--mlir-text ...]

Ten thousand changed inputs of each kind, or two hundred with `--quick`. Each kind runs in a process of its own, which
a fault of a parser outside of jaxviz would end: that is told, with the number of the input that did it, which is kept.
"""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import io
import lzma
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import jax
import jax.numpy as jnp

from jaxviz.exploration import explore
from jaxviz.opening import open as open_file
from jaxviz.opening.contents import OpenError
from jaxviz.opening.opened import Opened

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from read.hlo_mutations import changed_bytes, changed_text

COUNT, QUICK = 10_000, 200
# Characters of an error.
LONGEST = 700
# What the folder of a run holds: the number of its input, and the input, a file or a folder itself.
NUMBER, INPUT = "number", "input"


# A dialect that jaxlib does not know.
UNKNOWN = """func.func @main(%x: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  %0:2 = other.loop %i = %n to %n iter_args(%a = %x, %b = %x) -> (tensor<4xf32>, tensor<4xf32>) {
    %1 = other.add %a, %i {text = "a { b"} : tensor<4xf32> loc("add"(#loc1))
    other.yield %1, %b : tensor<4xf32>, tensor<4xf32>
  }
  %2 = func.call @inner(%0#1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32> loc(callsite("f"("f.py":3:4 to :9) at "g"(#loc2)))
}
func.func @inner(%y: tensor<4xf32> loc("y")) -> tensor<4xf32> {
  return %y : tensor<4xf32>
}
#loc1 = loc(fused<"x">["a"(#loc2), unknown])
#loc2 = loc("f.py":3:4 to 5:9)
"""


def program(x: jax.Array, w: jax.Array) -> jax.Array:
    y = jnp.tanh(x @ w)
    y = jax.lax.fori_loop(0, 3, lambda i, carry: carry * 2.0 + i, y)
    return jax.lax.cond(y.sum() > 0, jnp.sin, jnp.cos, y)


#: A file, or the files of a folder by their names.
Source = bytes | dict[str, bytes]


def sources() -> dict[str, Source]:
    """One sound file of each kind, and the folder of a dump."""
    arguments = jnp.ones((4, 3)), jnp.ones((3, 2))
    lowered = jax.jit(program).lower(*arguments)
    module = lowered.compile().runtime_executable().hlo_modules()[0]
    proto = module.as_serialized_hlo_module_proto()
    stream = io.BytesIO()
    lowered.compiler_ir("stablehlo").operation.write_bytecode(stream)
    text = module.to_string().encode()
    found: dict[str, Source] = {
        "hlo text": text,
        "hlo proto": proto,
        "snapshot": _wrapped(1, _wrapped(1, proto)),
        "profile": _wrapped(1, _wrapped(4, _wrapped(2, _wrapped(5, _wrapped(6, _wrapped(1, proto)))))),
        "mlir text": lowered.as_text(debug_info=True).encode(),
        "mlir lines": UNKNOWN.encode(),
        "mlir bytecode": stream.getvalue(),
        "document": _document(arguments),
        "copied": b"I get\n" + b"".join(b"> " + line for line in text.splitlines(keepends=True)) + b"> Why?\n",
        "gzip": gzip.compress(text),
        "bzip2": bz2.compress(text),
        "xz": lzma.compress(text),
        "dump": _dump(lowered),
    }
    if importlib.util.find_spec("zstandard") is None:
        print("zstd: left out, it needs: pip install zstandard")
    else:
        import zstandard

        found["zstd"] = zstandard.compress(text)
    try:
        from jax import export

        found["export"] = bytes(export.export(jax.jit(program))(*arguments).serialize())
    except ImportError:
        print("export: left out, it needs: pip install flatbuffers")
    return found


def _wrapped(field: int, data: bytes) -> bytes:
    """A message with one field of bytes."""
    size, length = len(data), b""
    while True:
        length += bytes([size & 127 | (128 if size > 127 else 0)])
        size >>= 7
        if not size:
            return bytes([field << 3 | 2]) + length + data


def _dump(lowered: Any) -> dict[str, bytes]:
    """What XLA dumps: of its states between passes the first ones, and everything else."""
    with tempfile.TemporaryDirectory() as folder:
        lowered.compile(compiler_options={"xla_dump_to": folder, "xla_dump_hlo_pass_re": "fusion|cse"})
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir()) if path.suffix != ".ll"}


def _document(arguments: tuple[jax.Array, ...]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return explore(program, *arguments).document().save(Path(folder, "x.jaxviz")).read_bytes()


TEXTS = {"hlo text", "mlir text", "mlir lines", "copied", "document"}


def changed(kind: str, data: bytes, number: int) -> bytes:
    chance = random.Random(f"{kind} {number}")
    if kind in TEXTS and number % 4:
        return changed_text(data.decode(), chance).encode(errors="replace")
    return changed_bytes(data, chance)


def changed_folder(path: Path, kind: str, files: dict[str, bytes], number: int) -> None:
    """Write the files of a folder, one of them changed, left out, or in place of another one."""
    chance = random.Random(f"{kind} {number}")
    one, other = chance.choice(list(files)), chance.choice(list(files))
    path.mkdir(exist_ok=True)
    for file in path.iterdir():
        if file.name not in files or file.read_bytes() != files[file.name]:
            file.unlink()
    for name, data in files.items():
        if not (path / name).exists():
            (path / name).write_bytes(data)
    if number % 8 == 0:
        (path / one).unlink()
    elif number % 8 == 1:
        (path / one).write_bytes(files[other])
    else:
        (path / one).write_bytes(changed("hlo text" if one.endswith(".txt") else kind, files[one], number))


def run(kind: str, data: Source, count: int, path: Path, say: Callable[[int], None]) -> str:
    """Opens changed files, each at `path`; anything but a whole document or an `OpenError` of one line ends the run."""
    opened = refused = 0
    longest = 0.0
    for number in range(count):
        if isinstance(data, dict):
            changed_folder(path, kind, data, number)
        else:
            path.write_bytes(changed(kind, data, number))
        say(number)
        start = perf_counter()
        try:
            check(open_file(path))
            opened += 1
        except OpenError as error:
            text = str(error)
            # In a folder it may be about a file.
            if not text.startswith((f"{path}: ", f"{path}/")) or len(text.splitlines()) > 1 or len(text) > LONGEST:
                raise RuntimeError(f"not one line with the file: {text[:LONGEST]}") from error
            refused += 1
        longest = max(longest, perf_counter() - start)
    return f"{count:6,} changed: {opened:6,} opened, {refused:6,} refused, the slowest in {longest * 1e3:.0f} ms"


def check(opened: Opened) -> None:
    for name in opened.names:
        document = opened[name].document()
        for graph in document.graphs:
            graph.check()
        for entry in document.outlines:
            entry.outline.check()
    for step in opened.passes:
        step.graph.check()
    if any(len(reason.splitlines()) != 1 for reason in opened.left_out):
        raise RuntimeError(f"not one line for each file: {opened.left_out}")


def main() -> None:
    options = sys.argv[2:] if len(sys.argv) > 1 and sys.argv[1] == "fuzz" else sys.argv[1:]
    count = QUICK if "--quick" in options else COUNT
    known = sources()
    if "--here" in options:
        kind = next(kind for kind in known if option_of(kind) in options)
        folder = Path(options[-1])
        with (folder / NUMBER).open("w") as progress:

            def say(number: int) -> None:
                progress.seek(0)
                progress.write(str(number))
                progress.flush()

            print(run(kind, known[kind], count, folder / INPUT, say))
        return
    for kind in [kind for kind in known if option_of(kind) in options] or list(known):
        print(f"{kind:14} {apart(kind, options)}", flush=True)


def option_of(kind: str) -> str:
    return f"--{kind.replace(' ', '-')}"


def apart(kind: str, options: list[str]) -> str:
    """What the run of one kind says, in a process of its own."""
    folder = Path(tempfile.mkdtemp())
    quick = [option for option in options if option == "--quick"]
    command = [sys.executable, "-m", "bench.fuzz", "--here", *quick, option_of(kind), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        number = (folder / NUMBER).read_text()
        return f"ended with {done.returncode} at input {number}, {folder / INPUT}: \n{done.stderr[-2000:]}"
    shutil.rmtree(folder)
    return done.stdout.strip().splitlines()[-1]


if __name__ == "__main__":
    main()
