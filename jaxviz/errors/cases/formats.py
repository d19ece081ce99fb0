"""Texts with numbers in them: f-strings, `format` and `%` ask for numbers while there are none."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping

from jaxviz.errors.cases.values import stand_ins
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, last_name


def _formatted(failure: Failure, _: re.Match[str]) -> Explanation:
    node = failure.find(ast.JoinedStr) or failure.find(ast.FormattedValue)
    if node is None and (told := _by_method(failure)) is not None:
        return told
    text = failure.text(node) or "text"
    code = _printed(failure, node, {}) if isinstance(node, ast.JoinedStr) else 'jax.debug.print("{}", x)'
    why = "A format such as `.3f` needs the number, which is known only when the program runs."
    reason = f"{stand_ins(failure, node)} {why}"
    title = f"`{text}` needs a number while JAX traces"
    return Explanation(
        "format", title, reason, (Cure("Print while the program runs:", code),), api_page("jax.debug.print")
    )


def shown_later(failure: Failure, call: ast.AST | None, inner: str) -> Cure | None:
    """For a number that is taken out of a value only to be shown in an f-string: that text, printed when there is one.

    `call` takes the number out, and `inner` is what it is taken out of.
    """
    text = failure.find(ast.JoinedStr)
    shown = [part.value for part in text.values if isinstance(part, ast.FormattedValue)] if text is not None else []
    if text is None or call is None or call not in shown:
        return None
    return Cure("Print while the program runs:", _printed(failure, text, {call: inner}))


def _printed(failure: Failure, text: ast.JoinedStr, instead: Mapping[ast.AST, str]) -> str:
    """An f-string, with all that a `print` around it is given, as the program prints it; some parts read otherwise."""
    printing = failure.source.parent(text) if failure.source is not None else None
    is_print = isinstance(printing, ast.Call) and last_name(printing.func) == "print" and text in printing.args
    words, values = [], []
    for shown in printing.args if isinstance(printing, ast.Call) and is_print else [text]:
        parts = shown.values if isinstance(shown, ast.JoinedStr) else [shown]
        words.append("".join(map(_written, parts)))
        places = [part for part in parts if not isinstance(part, ast.Constant)]
        asked = [part.value if isinstance(part, ast.FormattedValue) else part for part in places]
        values += [instead.get(one) or failure.text(one) for one in asked]
    return f"jax.debug.print({', '.join([json.dumps(' '.join(words)), *values])})"


def _written(part: ast.expr) -> str:
    """A part of an f-string in the form of `str.format`."""
    if isinstance(part, ast.Constant):
        return str(part.value).replace("{", "{{").replace("}", "}}")
    form = getattr(part, "format_spec", None)
    spec = "".join(str(one.value) for one in getattr(form, "values", []) if isinstance(one, ast.Constant))
    return "{" + (f":{spec}" if spec else "") + "}"


def _by_method(failure: Failure) -> Explanation | None:
    """`"{:.2f}".format(x)` and `"%.2f" % x`: the text with places, which are filled while the program runs."""
    call = failure.find(ast.Call)
    words, values = None, []
    by_sign = [one for one in ast.walk(failure.statement or ast.Module([], [])) if _is_by_sign(one)]
    if call is not None and isinstance(call.func, ast.Attribute) and call.func.attr == "format":
        words, values = failure.value(call.func.value), [*call.args, *call.keywords]
    elif by_sign and isinstance(by_sign[0], ast.BinOp):
        right = by_sign[0].right
        words = re.sub(
            r"%(?:\((\w+)\))?([-+ 0#]*[\d.]*)[hlL]?([diouxXeEfFgGsr])", _place, failure.value(by_sign[0].left)
        )
        values = [*right.elts] if isinstance(right, ast.Tuple) else [right]
    if not isinstance(words, str) or not any(failure.traced(one) for one in values):
        return None
    code = f"jax.debug.print({', '.join([json.dumps(words), *map(failure.text, values)])})"
    shown = next(failure.text(one) for one in values if failure.traced(one))
    reason = (
        f"{stand_ins(failure, failure.statement)} A text with a number in it needs the number, which is known only "
        "when the program runs."
    )
    cure = Cure("Print while the program runs:", code)
    title = f"a text needs the number behind `{shown}` while JAX traces"
    return Explanation("format", title, reason, (cure,), api_page("jax.debug.print"))


def _signed(failure: Failure, _: re.Match[str]) -> Explanation | None:
    """`"%.2f" % x`, which asks for a number as `float` does."""
    by_sign = any(_is_by_sign(one) for one in ast.walk(failure.statement or ast.Module([], [])))
    return _by_method(failure) if by_sign else None


def _is_by_sign(node: ast.AST) -> bool:
    left = node.left if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) else None
    return isinstance(left, ast.Constant) and isinstance(left.value, str)


def _place(match: re.Match[str]) -> str:
    """A place of `%` in the form of `str.format`."""
    flags = match[2] + ("" if match[3] in "sr" else "d" if match[3] in "iu" else match[3])
    # Whole numbers are made of floats by `%`, and not by a format.
    flags = flags.replace("d", ".0f") if "d" in flags else flags
    return "{" + (match[1] or "") + (f":{flags}" if flags else "") + "}"


CASES = (
    Case("format", ("ConcretizationTypeError",), "", _signed),
    Case("format", ("TypeError",), r"unsupported format string passed to \w*Tracer", _formatted),
)
