"""The explorer as a widget: selection, view and findings are traits that Python and other widgets observe and set."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from jaxviz.export.bundles import bundle

if TYPE_CHECKING:
    from jaxviz.document import Document


class WidgetError(RuntimeError):
    """A widget cannot be made here."""


def make_widget(document: Document, *, stage: str = "jaxpr", height: int | None = None) -> Any:
    """A widget that shows a document."""
    return _class()(
        document=document.to_json(),
        kinds=tuple(entry.kind for entry in document.programs[0].stages),
        stage=stage,
        height=height,
        findings=[_finding(document, number) for number in range(len(document.findings))],
    )


def _finding(document: Document, number: int) -> dict[str, Any]:
    finding = document.findings[number].finding
    return {
        "kind": finding.kind,
        "severity": finding.severity,
        "title": finding.title,
        "text": finding.text,
        "remedy": finding.remedy,
        "nodes": finding.nodes.tolist(),
        "lines": [line.line for line in finding.lines],
    }


@functools.cache
def _class() -> type[Any]:
    """The class is made with the first widget: only then is anywidget needed."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise WidgetError("a widget needs anywidget, which is not installed: pip install anywidget") from None

    class JaxvizWidget(anywidget.AnyWidget):
        """What JAX makes of a function, as a widget::

        widget = ex.widget()
        widget.observe(lambda change: print(change.new), "selection")
        widget.finding = 0
        """

        _esm = bundle("widget.js")
        _css = bundle("page.css")
        worker = traitlets.Unicode(bundle("worker.js")).tag(sync=True)
        document = traitlets.Dict().tag(sync=True)
        kinds = traitlets.Tuple()
        #: The stage on the screen.
        stage = traitlets.Unicode("jaxpr").tag(sync=True)
        height = traitlets.Int(None, allow_none=True).tag(sync=True)
        #: The selected nodes of the graph of that stage, by number.
        selection = traitlets.List(traitlets.Int()).tag(sync=True)
        #: All that was found; `finding` is the number of the one that is lit, or None.
        findings = traitlets.List(traitlets.Dict()).tag(sync=True)
        finding = traitlets.Int(None, allow_none=True).tag(sync=True)
        #: All that is seen, as a notebook keeps it: what is open, selected, coloured, searched for.
        view = traitlets.Dict().tag(sync=True)

        @traitlets.validate("stage")
        def _there(self, proposal: Any) -> Any:
            # A view tells apart the stages of several programs, `hlo@1`, and names passes by their graphs, `pass-7`.
            if proposal.value.partition("@")[0] in self.kinds or proposal.value.startswith("pass-"):
                return proposal.value
            raise traitlets.TraitError(f"there is no stage {proposal.value!r}: there are {', '.join(self.kinds)}")

        @traitlets.validate("finding")
        def _known(self, proposal: Any) -> Any:
            if proposal.value is not None and not 0 <= proposal.value < len(self.findings):
                raise traitlets.TraitError(f"there is no finding {proposal.value}: there are {len(self.findings)}")
            return proposal.value

    return JaxvizWidget
