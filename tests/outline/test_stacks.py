"""What is asked of call stacks, against the frames that each of them has."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxviz.outline.calls.stacks import StackTree
from jaxviz.tables import Tables

# Frames of some call stacks, outermost first.
_STACKS = st.lists(st.lists(st.integers(0, 2), max_size=6).map(tuple), min_size=1, max_size=12)


def tree_of(stacks: list[tuple[int, ...]]) -> tuple[StackTree, list[int]]:
    """A tree with these stacks, and the number of each; frame 2 is of a library."""
    tables = Tables()
    own, library = tables.file("own.py"), tables.file("library.py", library=True)
    frames = [tables.frame(own if line < 2 else library, "f", line + 1, 0, line + 1, 1) for line in range(3)]
    numbers = [tables.stack([frames[frame] for frame in stack]) for stack in stacks]
    return StackTree(tables), numbers


@settings(max_examples=200)
@given(_STACKS)
def test_the_chain_of_a_stack_is_all_that_called_it_from_the_outermost_in(stacks):
    tree, numbers = tree_of(stacks)
    for one, its in zip(numbers, stacks, strict=True):
        chain = tree.chain(one) if its else []
        assert [tree.frames_between(part, -1) for part in chain] == [list(its[: end + 1]) for end in range(len(its))]


@settings(max_examples=200)
@given(_STACKS)
def test_two_stacks_have_in_common_how_their_frames_begin(stacks):
    tree, numbers = tree_of(stacks)
    for one, its in zip(numbers, stacks, strict=True):
        assert tree.depth(one) == len(its)
        assert tree.frames_between(one, -1) == list(its)
        for other, theirs in zip(numbers, stacks, strict=True):
            same = 0
            while same < min(len(its), len(theirs)) and its[same] == theirs[same]:
                same += 1
            common = tree.common(one, other)
            assert tree.frames_between(common, -1) == list(its[:same])
            assert tree.frames_between(one, common) == list(its[same:])
            assert tree.holds(other, one) == (same == len(theirs))


@settings(max_examples=100)
@given(_STACKS)
def test_a_stack_counts_for_all_that_called_it(stacks):
    tree, numbers = tree_of(stacks)
    expected = Counter(stack[:depth] for stack in stacks for depth in range(1, len(stack) + 1))
    totals = tree.totals(np.array([number for number in numbers if number >= 0], np.int32))
    assert {tuple(tree.frames_between(one, -1)): count for one, count in totals.items()} == expected


@settings(max_examples=100)
@given(_STACKS)
def test_a_stack_that_is_put_below_another_has_the_frames_of_both(stacks):
    tree, numbers = tree_of(stacks)
    for caller, above in zip(numbers, stacks, strict=True):
        for inner, below in zip(numbers, stacks, strict=True):
            both = tree.below(caller, inner)
            assert tree.frames_between(both, -1) == [*above, *below]
            assert tree.common(both, caller) == caller
            assert tree.depth(-1) == 0


def test_the_innermost_frame_of_the_person_is_found_through_a_library():
    tree, (inside, alone, nothing) = tree_of([(0, 1, 2, 2), (2,), ()])
    assert [tree.own_frame(one) for one in (inside, alone, nothing)] == [1, -1, -1]
