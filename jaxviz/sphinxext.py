"""A directive for Sphinx: what JAX makes of a function, as a picture in print and explorable on the web.

In `conf.py`: `extensions = ["jaxviz.sphinxext"]`. In a page::

    .. jaxviz:: pkg.mod:fn
       :args: f32[128,64] i32[]
       :stage: hlo
       :height: 480
"""

from __future__ import annotations

import hashlib
import shlex
import shutil
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from sphinx.util.osutil import relative_uri

from jaxviz._version import __version__
from jaxviz.argument_text import arguments_of
from jaxviz.cli import load_function
from jaxviz.document import STAGE_KINDS
from jaxviz.exploration import Exploration
from jaxviz.program.jit_options import JitOptions, arguments_in
from jaxviz.program.program import Program

# Folder of the pages and pictures in what Sphinx builds. They are kept beside what it has read as well: a builder that
# comes later finds that read, and makes none of it anew.
_FOLDER = "_jaxviz"


class jaxviz_picture(nodes.General, nodes.Element):  # type: ignore[misc]
    """The place of a picture; `name` is that of its files, `title` the call, `height` in px."""


def _stage(text: str) -> str:
    return str(directives.choice(text, STAGE_KINDS))


class JaxvizDirective(Directive):  # type: ignore[misc]
    """`.. jaxviz:: pkg.mod:fn`"""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {
        "args": directives.unchanged,
        "static": arguments_in,
        "donate": arguments_in,
        "stage": _stage,
        "target": directives.unchanged,
        "passes": directives.flag,
        "height": directives.positive_int,
        "alt": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """Makes the page and the picture now, so that what is wrong is told at this line."""
        environment = self.state.document.settings.env
        stage = self.options.get("stage", "jaxpr")
        try:
            args, kwargs = arguments_of(shlex.split(self.options.get("args", "")))
            function = load_function(self.arguments[0])
            options = JitOptions.named(self.options.get("static", ()), self.options.get("donate", ()))
            program = Program(function, args, kwargs, options, self.options.get("target"))
            exploration = Exploration(program)
            exploration.with_passes = "passes" in self.options
            exploration.trace()
            svg, page = exploration.to_svg(stage=stage), exploration.to_html(stage=stage)
        except Exception as error:
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise self.error(f"jaxviz: {self.arguments[0]}: {first}") from error
        for file in _own_files(exploration):
            # The page is made again when one of them changes.
            environment.note_dependency(file)
        # Of what is asked for, not of what was made: that holds times, and a link to it is good for the next build too.
        asked = (self.arguments, sorted(self.options.items()))
        name = hashlib.sha256(repr(asked).encode()).hexdigest()[:16]
        folder = Path(environment.doctreedir) / _FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.html").write_text(page, "utf-8")
        (folder / f"{name}.svg").write_text(svg, "utf-8")
        title = self.options.get("alt", f"what JAX makes of {exploration.call}")
        return [jaxviz_picture(name=name, title=title, height=self.options.get("height", 480), svg=svg)]


def _own_files(exploration: Exploration) -> list[str]:
    """Those files that the picture comes from and that are no library's."""
    tables = exploration.jaxpr.tables
    files = zip(tables.files.path, tables.files.library, strict=True)
    own = [tables.strings[path] for path, library in files if not library]
    return [path for path in own if Path(path).is_file()]


def _visit_html(translator: Any, node: Any) -> None:
    """A frame with the explorer, loaded when it comes into view; in a book a picture, because it takes no frames."""
    title, name = translator.attval(node["title"]), node["name"]
    if translator.builder.name == "epub":
        address = _built(translator.builder, f"{name}.svg")
        translator.body.append(f'<p><img src="{address}" alt="{title}" style="max-width:100%"/></p>\n')
    else:
        address = _built(translator.builder, f"{name}.html")
        translator.body.append(
            f'<iframe src="{address}" title="{title}" loading="lazy" '
            f'style="width:100%;height:{node["height"]}px;border:1px solid #8884;border-radius:6px"></iframe>\n'
        )
    raise nodes.SkipNode


def _built(builder: Any, file: str) -> str:
    """The address of a kept file from the page that is written, once it stands in what is built."""
    folder = Path(builder.outdir) / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(Path(builder.doctreedir) / _FOLDER / file, folder / file)
    return str(relative_uri(builder.get_target_uri(builder.current_docname), f"{_FOLDER}/{file}"))


def _visit_latex(translator: Any, node: Any) -> None:
    """A picture; TeX takes no SVG."""
    from jaxviz.export.png import svg_to_png

    path = Path(translator.builder.outdir) / f"jaxviz-{node['name']}.png"
    path.write_bytes(svg_to_png(node["svg"]))
    translator.body.append(f"\n\\noindent\\includegraphics[width=\\linewidth]{{{path.name}}}\n")
    raise nodes.SkipNode


def _visit_text(translator: Any, node: Any) -> None:
    translator.add_text(f"[{node['title']}]")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_node(
        jaxviz_picture,
        html=(_visit_html, None),
        latex=(_visit_latex, None),
        text=(_visit_text, None),
        man=(_visit_text, None),
        texinfo=(_visit_text, None),
    )
    app.add_directive("jaxviz", JaxvizDirective)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
