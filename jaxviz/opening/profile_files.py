"""The files of a profile's folder: one holds all of it, the others hold the same once more."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

# All that was recorded, with the programs.
_WHOLE = ".xplane.pb"
# What `jax.profiler.trace` writes beside it for other viewers, and the programs as viewers of profiles take them out.
_ONCE_MORE = (".trace.json", ".trace.json.gz", "perfetto_trace.json.gz", ".hlo_proto.pb")
# `plugins/profile/<when>`: there viewers keep what they have computed.
_RUNS = ("plugins", "profile")


class ProfileFiles:
    """Which of these files belong to a profile that is among them."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._folders = {file.parent for file in files if file.name.endswith(_WHOLE)}

    def holds(self, file: Path) -> bool:
        """Whether a profile in the same folder has all that is in a file."""
        return file.parent in self._folders and file.name.endswith(_ONCE_MORE)

    def owns(self, file: Path) -> bool:
        """Whether a file is in the folder of a profile and nothing else, and is not what that was recorded in."""
        own = file.parent in self._folders and file.parts[-4:-2] == _RUNS
        return own and not file.name.endswith(_WHOLE)
