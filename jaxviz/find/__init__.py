"""What is worth telling about a program: one file for each kind of finding.

Finders look at graphs, outlines and fates alone, so that what they find in a program they also find in a file. A new
one is a file with a function `find`, and its name in `FINDERS`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from importlib import import_module

from jaxviz import graph as graphs
from jaxviz.find.finding import SEVERITIES, Compiled, Finding, Line, Subject
from jaxviz.graph import Graph
from jaxviz.outline.tree import Outline

__all__ = ["FINDERS", "SEVERITIES", "Compiled", "Finding", "Line", "Subject", "find_all"]

#: The modules of this package that find something.
FINDERS = (
    "unrolled",
    "dead",
    "dead_carries",
    "unread_gradients",
    "captured",
    "impure",
    "donated",
    "keys",
    "shared_keys",
    "needless_sums",
    "callback",
    "transfer",
    "residuals",
    "indexing",
    "beyond",
    "division",
    "precision",
    "not_enabled",
    "promoted",
    "drifted",
    "wrapped",
    "narrow_sums",
    "below_zero",
    "masked",
)


#: Those that find something in what the compiler made of it.
COMPILED_FINDERS = ("removed", "unchosen", "unfused", "collective", "replicated", "peak")


def find_all(subject: Subject) -> tuple[Finding, ...]:
    """All findings, the most severe first, and in the order of the program where they are alike."""
    return ordered(find_with(FINDERS, subject) + (find_with(COMPILED_FINDERS, subject) if subject.compiled else ()))


#: Those that need nothing but optimized HLO, in whatever order it stands.
ALONE_FINDERS = ("unrolled", "unfused", "collective", "replicated")


def find_in_hlo(graph: Graph, outline: Outline) -> tuple[Finding, ...]:
    """What is found in optimized HLO of which there is no jaxpr, as in a file."""
    return ordered(find_with(ALONE_FINDERS, Subject(graph, outline, compiled=Compiled.alone(graph))))


def find_in_stablehlo(graph: Graph, outline: Outline) -> tuple[Finding, ...]:
    """What is found in StableHLO of which there is no jaxpr, as in a file: most of what is found in that."""
    from jaxviz.find.lowered import in_words_of_jaxpr

    return ordered(find_with(FINDERS, Subject(in_words_of_jaxpr(graph), outline, lowered=True)))


def find_with(finders: Iterable[str], subject: Subject) -> tuple[Finding, ...]:
    """What some finders find; with one that fails, what it found is lost, and not all the rest."""
    found: list[Finding] = []
    for name in finders:
        finder = import_module(f"{__name__}.{name}")
        try:
            found.extend([*finder.find(subject)])
        except Exception as error:
            if graphs.CHECK:
                raise
            reason = f"{type(error).__name__}: {error}"
            warnings.warn(f"jaxviz could not look for findings of {finder.__name__}: {reason}", stacklevel=2)
    return tuple(found)


def ordered(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """The most severe first, and in the order of the program where they are alike."""
    return tuple(sorted(found, key=lambda one: (-SEVERITIES.index(one.severity), int(one.nodes.min(initial=0)))))
