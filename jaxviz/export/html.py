"""One page that holds the explorer and a document: opens from a disk, loads nothing, runs without a kernel."""

from __future__ import annotations

import base64
import html
import json
import zlib
from typing import TYPE_CHECKING, Any

from jaxviz.export.bundles import bundle

if TYPE_CHECKING:
    from jaxviz.document import Document

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="jaxviz">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
html, body, #jv-page {{ height: 100%; margin: 0; }}
#jv-page {{ overflow: hidden; }}
#jv-page > p {{ padding: 16px; font: 13px system-ui, sans-serif; }}
{style}</style>
</head>
<body>
<main id="jv-page"><p>{title}</p><noscript><p>This page needs JavaScript, which is off.</p></noscript></main>
<script type="application/json" id="jv-options">{options}</script>
<script type="application/json" id="jv-document">{document}</script>
<script type="text/plain" id="jv-worker">{worker}</script>
<script type="text/plain" id="jv-script">{script}</script>
<script>{start}</script>
</body>
</html>
"""

# A third of the size: the script is packed, as documents are.
_START = """
(async () => {
  const packed = atob(document.getElementById('jv-script').textContent);
  const bytes = Uint8Array.from(packed, letter => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  const script = document.createElement('script');
  script.src = URL.createObjectURL(new Blob([await new Response(stream).text()], { type: 'text/javascript' }));
  document.body.append(script);
})();
"""

# The page may run what lies in it and nothing else: a document holds no script, and nothing is fetched.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:; style-src 'unsafe-inline'; "
    "img-src data: blob:"
)


def to_html(document: Document, *, title: str = "", stage: str | None = None, view: Any = None) -> str:
    """The page as text; `stage` is shown first, or what `view` says, as a widget or a notebook keeps it."""
    options = {key: value for key, value in (("stage", stage), ("view", view)) if value}
    return _PAGE.format(
        title=html.escape(title or (document.programs[0].call if document.programs else "jaxviz")),
        policy=html.escape(_POLICY),
        style=_in_style(bundle("page.css")),
        options=_in_script(json.dumps(options)),
        document=_in_script(json.dumps(document.to_json(), separators=(",", ":"))),
        worker=_in_script_code(bundle("worker.js")),
        script=base64.b64encode(zlib.compress(bundle("page.js").encode(), 9)).decode(),
        start=_START,
    )


def _in_script(text: str) -> str:
    """JSON that ends no element: in it, `<` stands in strings alone, and may be written as an escape."""
    return text.replace("<", "\\u003c")


def _in_script_code(text: str) -> str:
    """Code that ends no element; a slash may be escaped wherever these stand, which is in strings."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _in_style(text: str) -> str:
    return text.replace("</", "<\\/")
