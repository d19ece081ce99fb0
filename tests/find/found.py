"""Findings of programs for tests."""

from __future__ import annotations

import inspect

from jaxviz.exploration import explore
from jaxviz.find import Finding

#: What is found in what the compiler makes.
COMPILED = ("twice", "folded", "unchosen", "unfused", "collective", "peak")


def found(kind, fn, *args) -> list[Finding]:
    exploration = explore(fn, *args)
    findings = exploration.findings if kind in COMPILED else exploration.found_in_jaxpr
    return [finding for finding in findings if finding.kind == kind]


def the(kind, fn, *args) -> Finding:
    findings = found(kind, fn, *args)
    assert len(findings) == 1, findings
    return findings[0]


def line_numbers(finding: Finding, fn) -> list[int]:
    """The lines of a finding, counted from the `def` of a function."""
    first = inspect.getsourcelines(fn)[1]
    return [line.line - first for line in finding.lines]
