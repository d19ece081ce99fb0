"""Findings of programs for tests."""

from __future__ import annotations

import inspect

from jaxviz.explore import explore
from jaxviz.find import Finding


def found(kind, fn, *args) -> list[Finding]:
    return [finding for finding in explore(fn, *args).findings if finding.kind == kind]


def the(kind, fn, *args) -> Finding:
    findings = found(kind, fn, *args)
    assert len(findings) == 1, findings
    return findings[0]


def line_numbers(finding: Finding, fn) -> list[int]:
    """The lines of a finding, counted from the `def` of a function."""
    first = inspect.getsourcelines(fn)[1]
    return [line.line - first for line in finding.lines]
