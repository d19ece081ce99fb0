"""A single file, from its path to the programs in it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from jaxviz.document import Document, DocumentError, no_constant
from jaxviz.opening.beside import beside
from jaxviz.opening.contents import (
    Contents,
    OpenError,
    contents_of,
    is_replaced,
    text_kind,
    text_of,
    without_comments,
)
from jaxviz.opening.copied import copied_in, plain, uncut_in
from jaxviz.opening.opened import Opened, OpenedProgram
from jaxviz.opening.programs import kernels_of, programs_in

_REPLACED = "; bytes of it were replaced, as where a program takes it for text: copy the file again"


def open_file(data: bytes, path: Path, *, is_own: bool = False) -> Opened:
    """Opens one file, which holds these bytes; `OpenError` says what is wrong with it. What this process made itself
    `is_own`: the sources that it names are read wherever they are."""
    left_out: list[str] = []
    others = beside(path)
    try:
        programs = _programs_within(data, str(path), left_out, is_own=is_own)
    except OpenError as error:
        told = f"{error}{_REPLACED}" if is_replaced(data) else str(error)
        raise OpenError(f"{told}; {others}" if others else told) from None
    for program in programs:
        program.beside = others
    return Opened(path, with_names_of_their_own(programs), left_out)


def _programs_within(data: bytes, file: str, left_out: list[str], *, is_own: bool) -> list[OpenedProgram]:
    """The programs that bytes hold, also where a text holds more than them: it may be copied from elsewhere."""
    try:
        return programs_of(data, file, left_out, is_own=is_own)
    except OpenError as error:
        bare = plain(data)
        if bare != data:
            return _programs_within(bare, file, left_out, is_own=is_own)
        # What is around may be in another encoding.
        text = text_of(data) or text_of(data, "replace")
        texts = [] if text is None or is_own else list(filter(None, (uncut_in(text), copied_in(text))))
        if text is None or not texts:
            raise
        told, is_begun = error, text_kind(without_comments(text)) is not None
    for copied in texts:
        refused: list[str] = []
        programs, errors = _programs_of_texts(copied.texts, file, refused)
        refused += map(str, errors)
        if not copied.is_in_place:
            refused = [reason.replace(f"{file}: ", f"{file}: of the texts in it: ", 1) for reason in refused]
        if programs:
            left_out += [f"{file}: {copied.left_out}"] if copied.left_out else []
            left_out += refused
            return programs
        told = told if is_begun else OpenError(refused[-len(errors)])
    raise told


def _programs_of_texts(
    texts: Sequence[str], file: str, left_out: list[str]
) -> tuple[list[OpenedProgram], list[OpenError]]:
    """The programs in the texts of several languages; HLO with the StableHLO that it was made of, if both are alone."""
    found: list[list[OpenedProgram]] = []
    errors: list[OpenError] = []
    for text in texts:
        try:
            found.append(programs_of(text.encode(), file, left_out))
        except OpenError as error:
            errors.append(error)
    programs = [program for programs in found for program in programs]
    if len(found) == len(programs) == 2:
        compiled, lowered = sorted(programs, key=lambda program: program.kinds)
        if compiled.name.removeprefix("jit_") == lowered.name:
            given = next(text for text in texts if text_kind(without_comments(text)) is Contents.MLIR)
            return [compiled.with_lowered(given.encode(), file)], errors
    return programs, errors


def programs_of(data: bytes, file: str, left_out: list[str], *, is_own: bool = False) -> list[OpenedProgram]:
    """The programs that bytes hold, in order; `file` stands in front of errors, and of what is left out."""
    contents = contents_of(data, file)
    if contents is Contents.DOCUMENT:
        document = _document(data, file)
        # What is said of processes is said of all that they compiled.
        count = 1 if document.processes else len(document.programs)
        return [OpenedProgram(document.programs[one].name, document=document, number=one) for one in range(count)]
    stages = programs_in(data, contents, file, left_out, is_own=is_own)
    return [OpenedProgram(stage.name, stage) for stage in (*stages, *kernels_of(stages, file, left_out))]


def with_names_of_their_own(programs: list[OpenedProgram]) -> list[OpenedProgram]:
    """Those first that ran longest in a profile, then those of which most was written, then the largest, derivatives
    after all functions, kernels after what calls them, and after the first program of a document its others, as they
    are there; of several with the same name, each after the first one in the folder is numbered."""
    taken = Counter[str]()
    for program in programs:
        taken[program.name] += 1
        if taken[program.name] > 1:
            program.name = f"{program.name} ({taken[program.name]})"
    return sorted(
        programs, key=lambda one: (one.number, one.is_kernel, one.derivative, -one.seconds, -one.places, -one.size)
    )


def _document(data: bytes, file: str) -> Document:
    try:
        document = Document.from_json(json.loads(data, parse_constant=no_constant), name=file)
    except DocumentError as error:
        raise OpenError(str(error)) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}:{error.colno}"
        raise OpenError(f"{file}: {where}: expected a jaxviz document, but {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise OpenError(f"{file}: $: expected a jaxviz document, but {error}") from None
    if not document.programs:
        raise OpenError(f"{file}: $.programs: expected a program")
    return document
