"""What a magic's line says besides a call."""

from __future__ import annotations

import pytest
from IPython.core.error import UsageError

from jaxviz.notebook.line import parse


def test_a_name_that_a_folder_has_too_is_told_how_the_folder_is_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = "write %jaxviz profile(...) with its arguments"
    for end in (".", ", or %jaxviz profile/ for the folder."):
        with pytest.raises(UsageError) as caught:
            parse("profile")
        assert str(caught.value).endswith(words + end)
        (tmp_path / "profile").mkdir(exist_ok=True)
