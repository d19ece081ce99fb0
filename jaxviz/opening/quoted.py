"""Texts inside of what shows or keeps them: as Python shows one, in JSON, in the output of a notebook, in HTML."""

from __future__ import annotations

import ast
import html
import json
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

# A text as Python shows it, alone or in a list, as the output of a cell or not.
_SHOWN = re.compile(r"\A\s*(?:Out\[\d+\]:\s*)?(\[?b?['\"].*['\"]\]?)\s*\Z", re.DOTALL)
_JSON = re.compile(r"\A\s*[{\[]\s*[\"{\[]")
# An arrow or a quotation mark as HTML has it; whoever writes programs writes none of these.
_ESCAPED = re.compile(r"-&gt;|=&quot;|=&#34;")
# What is in no other text.
_PROGRAM = re.compile(r"HloModule|\bmodule\b|\bfunc\.func\b")


def quoted_in(text: str) -> str | None:
    r"""What the text holds as a text in quotes, or escaped; None where it does not look like that.

    >>> quoted_in(r'{"hlo": ["HloModule m\n", "ENTRY e {\n"]}')
    'HloModule m\nENTRY e {\n'
    """
    if shown := _SHOWN.match(text):
        return _value(shown[1])
    if _JSON.match(text) and _PROGRAM.search(text):
        return "\n".join(_texts_of_json(text))
    return html.unescape(text) if _ESCAPED.search(text) else None


def _texts_of_json(text: str) -> Iterator[str]:
    """The texts in JSON, in one value or in one for each line."""
    try:
        values = [json.loads(text)]
    except (ValueError, RecursionError):
        values = []
        with suppress(ValueError, RecursionError):
            values += [json.loads(line) for line in text.splitlines() if line.strip()]
    for value in values:
        yield from _texts(value)


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
            value = "".join(value)
        if isinstance(value, str):
            # What a cell gives is shown as Python shows it.
            shown = _SHOWN.match(value)
            yield (_value(shown[1]) if shown else None) or value
        elif isinstance(value, list):
            waiting += value[::-1]
        elif isinstance(value, dict):
            waiting += list(value.values())[::-1]


def _value(text: str) -> str | None:
    """The text that Python shows so."""
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError), warnings.catch_warnings():
        # Of what is escaped as Python does not.
        warnings.simplefilter("ignore")
        value = ast.literal_eval(text)
        value = value[0] if isinstance(value, list) and len(value) == 1 else value
        value = value.decode(errors="replace") if isinstance(value, bytes) else value
        return value if isinstance(value, str) else None
    return None
