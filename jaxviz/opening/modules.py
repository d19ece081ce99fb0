"""Several programs in one file: parts of a text; of MLIR also modules in each, and functions that nothing calls."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from jaxviz.opening.contents import without_comments
from jaxviz.read.stablehlo import functions_of

# Where tools of MLIR end one module and begin the next.
_MARK = re.compile(r"^// -----[^\S\n]*$", re.MULTILINE)
# In HLO the head of a module says as much.
_HLO_MARK = re.compile(r"^// -----[^\S\n]*$|^(?=HloModule\b)", re.MULTILINE)
_SYMBOL = re.compile(r'@(?:"([^"\n]*)"|([\w$.-]+))')
# The name of a module may be that of a function in it.
_MODULE = re.compile(r'^\s*module @(?:"[^"\n]*"|[\w$.-]+)', re.MULTILINE)
_COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)


def hlo_parts_of(text: str) -> list[str]:
    """The modules of a text of HLO, each with as many empty lines before it as keep its lines where they are."""
    return _parts(text, _HLO_MARK) if text.count("HloModule") > 1 or "// -----" in text else [text]


def parts_of(text: str) -> list[str]:
    """The modules of a text of MLIR, likewise.

    >>> parts_of("module @a {}\\n// -----\\nmodule @b {}")
    ['module @a {}\\n', '\\n\\nmodule @b {}']
    """
    return _parts(text, _MARK)


def _parts(text: str, mark: re.Pattern[str]) -> list[str]:
    starts = [0, *(found.end() for found in mark.finditer(text))]
    ends = [*(found.start() for found in mark.finditer(text)), len(text)]
    found = [(start, text[start:end]) for start, end in zip(starts, ends, strict=True)]
    return ["\n" * text.count("\n", 0, start) + part for start, part in found if without_comments(part)]


def modules_in(module: Any) -> list[Any]:
    """The modules of a text that holds nothing else, or else the one that it is."""
    inner = list(module.body.operations)
    return inner if inner and all(one.operation.name == "builtin.module" for one in inner) else [module]


def entries_of(module: Any, text: str = "") -> list[str]:
    """The functions of a module with which its programs begin, `main` first: those that nothing in `text` mentions.

    What cannot be called from outside is none, unless there is nothing else.
    """
    functions = functions_of(module)
    if len(functions) < 2:
        return list(functions)
    text = _COMMENT.sub("", text or module.operation.get_asm(large_elements_limit=16))
    mentioned = Counter(quoted or plain for quoted, plain in _SYMBOL.findall(_MODULE.sub("", text)))
    found = [name for name in functions if name == "main" or mentioned[name] < 2]
    public = [name for name in found if not _is_private(functions[name])]
    return sorted(public or found, key=lambda name: name != "main") or list(functions)[:1]


def _is_private(function: Any) -> bool:
    return "sym_visibility" in function.attributes and "private" in str(function.attributes["sym_visibility"])
