"""What shows itself as the result of a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxviz.notebook.growing import Growing


class ShownGrowing:
    """Shows itself step by step, each step as soon as it is made, where the front end can replace what it shows."""

    def _ipython_display_(self: Growing) -> None:
        from jaxviz.notebook.growing import show_growing

        __tracebackhide__ = True
        if not show_growing(self):
            # Then IPython asks for all of it at once.
            raise NotImplementedError
