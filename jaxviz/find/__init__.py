"""What is worth telling about a program: one file for each kind of finding.

Finders look at graphs, outlines and fates alone, so that what they find in a program they also find in a file. A new
one is a file with a function `find`, and its name in `FINDERS`.
"""

from __future__ import annotations

from importlib import import_module

from jaxviz.find.finding import SEVERITIES, Finding, Line, Subject

__all__ = ["FINDERS", "SEVERITIES", "Finding", "Line", "Subject", "find_all"]

#: The modules of this package that find something.
FINDERS = ("unrolled", "dead", "captured", "impure", "donated", "keys", "indexing", "division", "precision", "masked")


def find_all(subject: Subject) -> tuple[Finding, ...]:
    """All findings, the most severe first, and in the order of the program where they are alike."""
    found = [finding for name in FINDERS for finding in import_module(f"{__name__}.{name}").find(subject)]
    return tuple(sorted(found, key=lambda one: (-SEVERITIES.index(one.severity), int(one.nodes.min(initial=0)))))
