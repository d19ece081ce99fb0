"""One file of a dump that is opened alone says what else there is of its module, and how to open all of it."""

from __future__ import annotations

import re
import shutil

import pytest
from opening.dumps import dump_into

import jaxviz as jv

LAST = "*.jit_program.cpu_after_optimizations.txt"


@pytest.fixture(scope="module")
def dump(tmp_path_factory):
    return dump_into(tmp_path_factory.mktemp("dump"))


def opened_as_told(text: str) -> jv.Exploration:
    return eval(re.search(r"jv\.open\(.*?\)(?:\['\w+'\])?(?= opens| has)", text)[0], {"jv": jv})


@pytest.mark.smoke
def test_a_file_of_a_dump_says_what_else_there_is_and_how_to_open_all_of_it(dump):
    (path,) = dump.glob(LAST)
    alone = jv.open(path)
    (said,) = (line for line in repr(alone).splitlines() if "same dump" in line)
    for part in ("the HLO before optimizations", "the states between passes", "where its values lie in memory"):
        assert part in said
    assert "the optimized HLO" not in said
    whole = opened_as_told(said)
    assert whole.call == alone.call == "jit_program"
    assert whole.passes
    # In the picture, the bar says it.
    missing = alone.document().programs[0].missing
    assert len(opened_as_told(missing["passes"]).passes) == len(whole.passes)
    assert ("stablehlo" in missing) == ("stablehlo" in whole.kinds)
    assert not whole.document().programs[0].missing


@pytest.mark.parametrize("pattern", ["*.jit_program*buffer-assignment.txt", "*.debug_options"])
def test_a_file_of_a_dump_that_holds_no_program_says_which_others_do(dump, pattern):
    (path,) = dump.glob(pattern)
    with pytest.raises(jv.OpenError, match=r"; of the same dump: .*the optimized HLO") as caught:
        jv.open(path)
    assert opened_as_told(str(caught.value)).call == "jit_program"


def test_modules_of_one_name_are_told_to_be_in_the_list_of_the_folder(dump, tmp_path):
    for path in dump.glob("module_*.jit_program.*.txt"):
        shutil.copy(path, tmp_path / path.name)
        shutil.copy(path, tmp_path / re.sub(r"module_\d+", "module_9999", path.name))
    (path,) = tmp_path.glob(LAST.replace("*", "module_9999"))
    assert f"jv.open({str(tmp_path)!r}) opens all of it" in repr(jv.open(path))


def test_a_file_of_a_dump_that_is_all_there_is_says_nothing_of_others(dump, tmp_path):
    (path,) = dump.glob(LAST)
    alone = shutil.copy(path, tmp_path)
    # Of another module, and the same state in another form.
    shutil.copy(path, tmp_path / "module_9999.jit_other.before_optimizations.txt")
    shutil.copy(path, str(alone).replace(".txt", ".hlo"))
    assert "same dump" not in repr(jv.open(alone))
    assert not jv.open(alone).document().programs[0].missing
