"""What opens or closes moves little else, in pictures of real programs and of generated graphs of 300 boxes."""

from __future__ import annotations

from statistics import mean

import pytest
from programs import CORPUS

from bench.staying import OWN, figures


@pytest.fixture(scope="module")
def moves(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    programs = {"mlp_train": CORPUS["mlp_train"](), "nested": OWN["nested"]}
    return figures(programs, tmp_path_factory.mktemp("staying"), "--graphs", "2", "--seed", "3")


def test_what_was_open_closes_and_opens_again_with_its_surroundings_in_order(moves):
    again = [one for one in moves if "opened first" not in one["name"]]
    assert len(again) >= 8
    for one in again:
        assert mean(one["kept"]) >= 0.98, one["name"]
        assert min(one["kept"]) >= 0.95, one["name"]
        # Where columns stand side by side, one that becomes wider pushes the others aside.
        assert max(one["beyond"]) <= (0 if one["name"].startswith("generated") else 110), one["name"]


def test_what_opens_for_the_first_time_keeps_its_surroundings_in_order(moves):
    first = [one for one in moves if "opened first" in one["name"]]
    assert len(first) >= 8
    for one in first:
        assert mean(one["kept"]) >= 0.98, one["name"]
        assert min(one["kept"]) >= 0.95, one["name"]
        # At the borders of groups, rows move apart as little as keeps edges from lying flat.
        assert max(one["beyond"]) <= (35 if one["name"].startswith("generated") else 200), one["name"]
