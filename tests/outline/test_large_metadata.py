"""The outline that metadata give is made in a time that grows no faster than the program."""

from __future__ import annotations

import re
import time
from collections import Counter

import jaxviz as jv
from jaxviz.outline.opened import called_rows, metadata
from jaxviz.read.hlo.graph import read_hlo
from jaxviz.read.hlo.text import parse_hlo_text
from jaxviz.tables import Tables


def _chain(lines: int) -> str:
    """As many operations one after another, each on a line of its own."""
    rows = [
        f"  %sine.{line} = f32[8] sine(%{'p' if line == 1 else f'sine.{line - 1}'}), "
        f'metadata={{op_name="jit(f)/sin" source_file="/model.py" source_line={line}}}'
        for line in range(1, lines + 1)
    ]
    rows[-1] = rows[-1].replace("  %", "  ROOT %")
    return "\n".join(["HloModule jit_f", "", "ENTRY %main {", "  %p = f32[8] parameter(0)", *rows, "}", ""])


def test_a_program_of_thousands_of_lines_has_its_outline_in_seconds():
    graph = read_hlo(parse_hlo_text(_chain(12_000)), Tables()).graph
    started = time.process_time()
    metadata.Origins(graph)
    assert time.process_time() - started < 2


def test_where_each_operation_is_from_is_read_once_before_they_are_put_in_order_and_once_after(tmp_path, monkeypatch):
    read, path_reader = [], metadata._PathReader.read

    def counted(reader):
        read.append(reader)
        return path_reader(reader)

    monkeypatch.setattr(metadata._PathReader, "read", counted)
    (tmp_path / "m").write_text(_chain(20))
    assert jv.open(tmp_path / "m").document().outlines
    assert len(read) == 2


def test_what_is_around_many_rows_is_looked_through_once(tmp_path, monkeypatch):
    read, inside = Counter[int](), called_rows.CalledRows._inside

    def counted(rows, row):
        read[row] += 1
        return inside(rows, row)

    monkeypatch.setattr(called_rows.CalledRows, "_inside", counted)
    (tmp_path / "m").write_text(re.sub("/sin", "/jit(silu)/sin", _chain(50)))
    assert jv.open(tmp_path / "m").document().outlines
    # For its name, the one that most of it has, and what is around others.
    assert len(read) > 50
    assert max(read.values()) <= 3
