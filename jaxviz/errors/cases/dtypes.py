"""Operations that are not defined for a type of numbers."""

from __future__ import annotations

import ast
import difflib
import re
from typing import Any

from jaxviz.arrays import is_array
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, plain
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.trial import given_by

_BITS = {"and": "&", "or": "|", "xor": "^", "not": "~", "shift_left": "<<", "shift_right_arithmetic": ">>"}
_SIGNS: dict[type[ast.AST], str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}


def _not_for(failure: Failure, match: re.Match[str]) -> Explanation | None:
    name, dtype = match[1], match[2].split(",")[0].partition(" ")[0]
    if dtype.startswith("key<"):
        return None
    node = failure.expression
    whole = failure.source.parent(node) if failure.source is not None and node is not None else None
    types = failure.types(node)
    if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS and isinstance(whole, ast.Compare):
        return _precedence(failure, node, whole, types)
    text = " ".join(failure.text(node).split()) or failure.name
    cures = []
    if name in _BITS:
        why = f"`{_BITS[name]}` works on the bits of integers and booleans, and {dtype} has none of that kind."
        value = failure.text(node.left) if isinstance(node, ast.BinOp) else failure.text(getattr(node, "operand", None))
        cures.append(Cure("Make integers or booleans of it first:", _cast(failure, node, value or "x")))
    elif dtype == "bool":
        why = f"True and False are no numbers to `{name}`: JAX does not compute with them as if they were 0 and 1."
        operand = getattr(node, "operand", None)
        value = failure.text(operand) or "mask"
        if name == "neg":
            code = failure.with_(node, f"~{_grouped(operand, value)}") if node is not None else "~mask"
            cures.append(Cure("To turn a mask around:", code))
        number = (
            failure.with_(operand, f"{_grouped(operand, value)}.astype(jnp.float32)")
            if operand is not None
            else "mask.astype(jnp.float32)"
        )
        cures.append(Cure("To compute with 0 and 1:", number))
    else:
        wanted = re.search(r"are subtypes of ([\w, ]+)", failure.message)
        why = f"`{name}` is defined for {wanted[1] if wanted else 'other types'}, and was given {dtype}."
        cures.append(Cure("Convert first:", _cast(failure, node, next(iter(failure.arrays(node)), "x"), "jnp.float32")))
    return Explanation(
        "type of numbers",
        f"`{text}` is not defined for {dtype}",
        f"{why} {types}".strip(),
        tuple(cures),
        api_page(f"jax.lax.{_PAGES.get(name, name)}"),
    )


_PAGES = {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "not": "bitwise_not"}


def _grouped(node: ast.AST | None, text: str) -> str:
    plain_ = isinstance(node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript)) or text.startswith("(")
    return text if plain_ else f"({text})"


def _cast(failure: Failure, node: ast.AST | None, value: str, dtype: str = "int") -> str:
    parts = [part for part in ast.walk(node) if failure.text(part) == value] if node is not None else []
    changed = f"{_grouped(parts[0] if parts else None, value)}.astype({dtype})"
    return failure.with_(parts[0], changed) if parts else changed


def _precedence(failure: Failure, node: ast.BinOp, whole: ast.Compare, types: str) -> Explanation:
    sign = _SIGNS[type(node.op)]
    # `x > 0 & y < 2` was read as `x > (0 & y) < 2`.
    sides: list[ast.expr] = [whole.left, *whole.comparators]
    place = sides.index(node) if node in sides else 0
    texts = [failure.text(side) for side in sides]
    signs = [_COMPARED[type(op)] for op in whole.ops]
    left = "".join(f"{text} {mark} " for text, mark in zip(texts[:place], signs[:place], strict=True)) + failure.text(
        node.left
    )
    right = failure.text(node.right) + "".join(
        f" {mark} {text}" for mark, text in zip(signs[place:], texts[place + 1 :], strict=True)
    )
    code = failure.with_(whole, f"({left}) {sign} ({right})")
    reason = (
        f"Python takes `{sign}` before comparisons, so this is read as `{failure.text(node)}` first, and a "
        f"floating-point number has no bits to compute with. {types}"
    )
    return Explanation(
        "type of numbers",
        f"`{failure.text(node)}` is taken before the comparison",
        reason.strip(),
        (Cure("Put the comparisons into brackets:", code),),
        api_page("jax.numpy.logical_and"),
    )


_COMPARED: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


_TYPE = ("TypeError", "ValueError")


def _not_promoted(failure: Failure, match: re.Match[str]) -> Explanation:
    """Two types that are not brought together unasked, for the person said so."""
    node = failure.expression
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) else list(getattr(node, "args", []))[:2]
    given: list[Any] = [given_by(failure, failure.text(side)) for side in sides]
    cures = []
    if len(sides) == 2 and all(is_array(one) for one in given):
        kinds = ["iufc".find(one.dtype.kind) for one in given]
        narrow = 0 if kinds[0] < kinds[1] else 1
        side, other = sides[narrow], sides[1 - narrow]
        if kinds[0] != kinds[1]:
            text = failure.text(side)
            code = failure.with_(side, f"{_grouped(side, text)}.astype({_grouped(other, failure.text(other))}.dtype)")
            cures = [Cure("Say what the one becomes:", code)]
    reason = (
        "`jax_numpy_dtype_promotion` is `strict`: then JAX brings arrays of two types together only where it is told "
        f"how. Here the types are {match[1]}. {failure.types(node)}"
    )
    title = f"the types {match[1]} are not brought together unasked"
    return Explanation("promotion", title, reason.strip(), tuple(cures), _PROMOTION)


_PROMOTION = "https://docs.jax.dev/en/latest/jep/9407-type-promotion.html#strict-dtype-promotion"

# What other libraries call types of numbers.
_CALLED = {"fp64": "float64", "fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "fp8": "float8_e4m3fn"}
_CALLED |= {"double_float": "float64", "half_float": "float16", "long_long": "int64", "boolean": "bool_"}
_NAMES = (
    *("float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
    *("uint64", "bool_", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2", "int4", "uint4"),
)


def _no_type(failure: Failure, match: re.Match[str]) -> Explanation:
    """The name of a type that there is not."""
    name = match[1]
    near = _CALLED.get(name.lower()) or next(iter(difflib.get_close_matches(name.lower(), _NAMES, 1)), "")
    statement = failure.statement
    written = [one for one in ast.walk(statement) if isinstance(one, ast.Constant)] if statement is not None else []
    named = next((one for one in written if one.value == name), None)
    cures = [Cure("Name one that there is:", failure.with_(named, f"jnp.{near}"))] if near and named is not None else []
    reason = (
        f"`{name}` is no name of a type. Those of floating-point numbers are float16, bfloat16, float32 and float64; "
        "of whole numbers int8 to int64, and uint8 to uint64."
    )
    return Explanation("type name", f"there is no type `{name}`", reason, tuple(cures), api_page("jax.numpy.dtype"))


def _text(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """Text that is written where an array or a number is wanted."""
    call = failure.find(ast.Call)
    given = [*call.args, *(one.value for one in call.keywords)] if call is not None else []
    texts = [one for one in given if isinstance(failure.value(one), (str, bytes)) or isinstance(one, ast.JoinedStr)]
    if call is None or not texts or not _is_of_jax(failure, call.func):
        return None
    listed = " and ".join(f"`{failure.text(one)}`" for one in texts)
    function = failure.text(call.func)
    numbers = {one: float(value) for one in texts if _is_number(value := failure.value(one))}
    cures = []
    if len(numbers) == len(texts) and failure.source is not None and failure.statement is not None:
        changes: dict[ast.AST, str] = {one: repr(value) for one, value in numbers.items()}
        cures = [Cure("Write it as a number:", failure.source.replaced(failure.statement, changes))]
    elif last_name(call.func) in ("where", "select") and len(texts) > 1:
        changes = {one: str(place) for place, one in enumerate(texts)}
        code = failure.source.replaced(call, changes) if failure.source is not None else ""
        cures = [Cure("Choose its place, and take the text outside, where it is known:", failure.with_(call, code))]
    reason = (
        f"Arrays of JAX hold numbers and booleans, and {listed} {'is' if len(texts) == 1 else 'are'} text. "
        f"What has a name outside of the function is a number inside of it. {failure.types(call)}"
    )
    return Explanation(
        "text", f"`{function}` was given text", reason.strip(), tuple(cures), api_page("jax.numpy.array")
    )


def _is_of_jax(failure: Failure, function: ast.expr) -> bool:
    """Whether what is called is a function of JAX or a method, not one of the person's that is jitted."""
    called = failure.value(function)
    module = str(getattr(called, "__module__", "")) if called is not None else ""
    return module.startswith("jax") or (called is None and isinstance(function, ast.Attribute))


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


# Functions of jax.lax that jax.numpy calls otherwise.
_OF_NUMPY = {
    **{"mul": "multiply", "sub": "subtract", "div": "divide", "rem": "fmod", "pow": "power", "atan2": "arctan2"},
    **{"max": "maximum", "min": "minimum", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"},
    **{"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"},
}


def _one_type(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.find(ast.Call)
    name = match[1].rpartition(".")[2]
    module = call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None
    cures = []
    if module is not None:
        called = _OF_NUMPY.get(name, name)
        code = failure.with_(call.func if call is not None else module, f"jnp.{called}")
        cures.append(Cure("Use the function of jax.numpy, which promotes types:", code))
    if call is not None and len(call.args) > 1 and is_array(failure.value(call.args[0])):
        second = call.args[1]
        kept = f"jnp.asarray({failure.text(second)}, {failure.text(call.args[0])}.dtype)"
        cures.append(Cure("Or convert:", failure.with_(second, kept)))
    reason = f"Functions of jax.lax do exactly what they are told and convert nothing. `{name}` was given {match[2]}."
    return Explanation("types", f"`{name}` wants one type", reason, tuple(cures), api_page(f"jax.lax.{name}"))


CASES = (
    Case(
        "text",
        ("TypeError",),
        r"problematic value is of type <class '(?:str|bytes)'>"
        r"|Value .* with dtype <?[US]\d+ is not a valid JAX array type"
        r"|requires ndarray or scalar arguments, got <class '(?:str|bytes)'>",
        _text,
    ),
    Case("type name", ("TypeError",), r"data type '([^']+)' not understood", _no_type),
    Case("promotion", ("TypePromotionError",), r"Input dtypes \((.*?)\) have no available implicit", _not_promoted),
    Case("type of numbers", ("TypeError",), r"(\w+) does not accept dtypes? ([\w<>, ]+)", _not_for),
    plain(
        "type of numbers",
        _TYPE,
        r"only real valued inputs supported for (\w+)",
        "`$1` wants real numbers",
        "`$1` uses that half of the result follows from the other, which holds for real numbers only. $types",
        [("Use the transform of complex numbers:", "jnp.fft.fft(x)"), ("Or give the real part:", "jnp.fft.$1(x.real)")],
        api_page("jax.numpy.fft.fft"),
    ),
    plain(
        "type of numbers",
        _TYPE,
        r"Input type must be an integer or unsigned integer",
        "`$text` looks up rows by numbers that are no integers",
        "An embedding takes the number of a row, which is an integer. $types",
        [("Make integers of them:", "ids.astype(jnp.int32)")],
        api_page("jax.numpy.ndarray.at"),
    ),
    Case("types", _TYPE, r"([\w.]+) requires arguments to have the same dtypes, got ([\w, ]+)\.", _one_type),
)
