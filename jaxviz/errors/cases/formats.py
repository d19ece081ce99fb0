"""Texts with numbers in them: f-strings, `format` and `%` ask for numbers while there are none."""

from __future__ import annotations

import ast
import json
import re

from jaxviz.errors.cases.values import stand_ins
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure


def _formatted(failure: Failure, _: re.Match[str]) -> Explanation:
    node = failure.find(ast.JoinedStr) or failure.find(ast.FormattedValue)
    if node is None and (told := _by_method(failure)) is not None:
        return told
    text = failure.text(node) or "text"
    inside = [item for item in ast.walk(node) if isinstance(item, ast.FormattedValue)] if node is not None else []
    shown = next((item for item in inside if item.format_spec is not None and failure.traced(item.value)), None)
    form = shown.format_spec if shown is not None else None
    spec = "".join(str(part.value) for part in getattr(form, "values", []) if isinstance(part, ast.Constant))
    value = failure.text(shown.value) if shown is not None else "x"
    code = f'jax.debug.print("{{value{":" + spec if spec else ""}}}", value={value})'
    why = "A format such as `.3f` needs the number, which is known only when the program runs."
    reason = f"{stand_ins(failure, node)} {why}"
    title = f"`{text}` needs a number while JAX traces"
    return Explanation(
        "format", title, reason, (Cure("Print while the program runs:", code),), api_page("jax.debug.print")
    )


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
