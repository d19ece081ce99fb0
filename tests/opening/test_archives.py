"""An archive of a folder opens as the folder does."""

from __future__ import annotations

import io
import shutil
import tarfile
import zipfile

import jax
import jax.numpy as jnp
import pytest
from opening.dumps import dump_into, program

import jaxviz as jv


@pytest.fixture(scope="module")
def dump(tmp_path_factory):
    return dump_into(tmp_path_factory.mktemp("dump"))


@pytest.mark.smoke
@pytest.mark.parametrize("kind", ["zip", "tar", "gztar", "xztar"])
def test_an_archive_opens_as_the_folder_that_was_packed(dump, tmp_path, kind):
    archive = shutil.make_archive(str(tmp_path / "packed"), kind, dump.parent, dump.name)
    opened, folder = jv.open(archive), jv.open(dump)
    assert opened.names == folder.names
    assert str(opened.hlo) == str(folder.hlo)
    assert all(line.startswith(archive) for line in opened.left_out)
    assert len(opened.left_out) == len(folder.left_out)
    # The states between passes are read from what was unpacked, also those of one of its programs.
    one = opened["jit_program"]
    del opened
    assert [len(step.graph) for step in one.passes] == [len(step.graph) for step in folder.passes]


def _zip(**files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def _tar(**files):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


@pytest.fixture
def text():
    lowered = jax.jit(program).lower(jnp.ones((4, 3)), jnp.ones((3, 2)))
    return lowered.compile().as_text().encode()


@pytest.mark.parametrize("pack", [_zip, _tar])
@pytest.mark.parametrize("name", ["../../outside.txt", "/outside.txt", "a/../../../outside.txt", "..\\outside.txt"])
def test_nothing_is_written_outside_of_the_folder_of_an_archive(tmp_path, monkeypatch, text, pack, name):
    place = tmp_path / "deep" / "temporary"
    place.mkdir(parents=True)
    monkeypatch.setattr("tempfile.tempdir", str(place))
    (tmp_path / "packed").write_bytes(pack(**{name: text}))
    opened = jv.open(tmp_path / "packed")
    assert opened.names == ("jit_program",)
    written = list(tmp_path.rglob("outside.txt"))
    assert len(written) == 1
    assert written[0].is_relative_to(place)


def test_a_link_in_an_archive_is_not_followed(tmp_path, text):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        link = tarfile.TarInfo("secret")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(link)
        entry = tarfile.TarInfo("m.txt")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    (tmp_path / "packed").write_bytes(packed.getvalue())
    opened = jv.open(tmp_path / "packed")
    assert opened.names == ("jit_program",)
    assert not opened.left_out


@pytest.mark.parametrize("pack", [_zip, _tar])
def test_what_is_wrong_with_an_archive_is_said_in_its_own_words(tmp_path, pack, text):
    path = tmp_path / "packed"
    path.write_bytes(pack(notes=b"\x80\x01 no program"))
    with pytest.raises(
        jv.OpenError, match=rf"^{path}: expected a folder with a file that can be opened, but {path}/notes"
    ):
        jv.open(path)
    path.write_bytes(pack(**{"m.txt": text})[:700])
    with pytest.raises(jv.OpenError, match=rf"^{path}: expected an archive that can be unpacked, but [\w ]+$"):
        jv.open(path)


def test_what_was_unpacked_goes_with_what_was_opened(tmp_path, monkeypatch, text):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "m.zip").write_bytes(_zip(**{"m.txt": text}))
    opened = jv.open(tmp_path / "m.zip")
    assert list(tmp_path.glob("jaxviz-*"))
    del opened
    assert not list(tmp_path.glob("jaxviz-*"))


def test_an_archive_in_a_folder_says_how_it_is_opened(tmp_path, text):
    (tmp_path / "m.zip").write_bytes(_zip(**{"m.txt": text}))
    (tmp_path / "m.txt").write_bytes(text)
    (line,) = jv.open(tmp_path).left_out
    assert "not an archive in a folder: unpack it" in line


def test_an_archive_of_nothing_says_so(tmp_path):
    with zipfile.ZipFile(tmp_path / "none.zip", "w"):
        pass
    with pytest.raises(
        jv.OpenError, match=r"none.zip: expected a folder with a file that can be opened, but it is empty"
    ):
        jv.open(tmp_path / "none.zip")
