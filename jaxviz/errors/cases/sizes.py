"""Sizes that are no whole numbers, and arrays with fewer or more axes than a function works on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jaxviz.arrays import is_array
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.trial import cannot_work

# Sizes that are no whole numbers.


def _no_whole_size(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """`n / 2` where a size is wanted; what is traced is another matter."""
    code = next((code for code in _made_whole(failure) if not cannot_work(failure, code)), None)
    if "Tracer" in failure.message or code is None:
        return None
    text = " ".join(failure.text(failure.expression).split()) or failure.name
    said = match.groupdict().get("sizes")
    sizes = f": {said}" if said else ""
    reason = (
        f"A size or a count is a whole number, of the type `int`, and `{text}` is given a float{sizes}. In Python `/` "
        "gives a float also where nothing is left over; `//` divides whole numbers, and rounds down."
    )
    title = f"a size in `{text}` is no whole number"
    return Explanation("whole size", title, reason, (Cure("Make it a whole number:", code),), _SIZES)


_SIZES = api_page("jax.numpy.zeros")


def _made_whole(failure: Failure) -> Iterator[str]:
    """The failing statement with its divisions, or its floats, made whole numbers; the most likely first."""
    expression, statement, source = failure.expression, failure.statement, failure.source
    if expression is None or statement is None or source is None or hasattr(statement, "body"):
        return
    parts = list(ast.walk(expression))
    divisions = [node for node in parts if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)]
    whole: dict[ast.AST, str] = {one: f"{failure.text(one.left)} // {failure.text(one.right)}" for one in divisions}
    written: dict[ast.AST, str] = {
        node: str(int(node.value))
        for node in parts
        if isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value.is_integer()
    }
    named: dict[ast.AST, str] = {
        node: f"int({failure.text(node)})"
        for node in parts
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(failure.value(node), float)
    }
    for changed in (whole, written, named):
        if changed:
            yield source.replaced(statement, changed)
            yield from (source.replaced(statement, {node: text}) for node, text in changed.items())
    for given in expression.args if isinstance(expression, ast.Call) else ():
        for one in given.elts if isinstance(given, (ast.Tuple, ast.List)) else (given,):
            if isinstance(one, ast.Call):
                yield source.replaced(statement, {one: f"int({failure.text(one)})"})


# Arrays of one axis where a matrix is wanted.


# Those that a matrix need not be square for.
_OF_ANY_SHAPE = frozenset({"qr", "svd", "triu", "tril", "diagonal", "lstsq", "pinv", "matrix_rank", "cond"})


# Those that take an axis, or two, for one of a matrix.
_OF_AXES = frozenset({"swapaxes", "transpose", "trace", "diagonal", "diag", "moveaxis", "rot90", "fliplr"})


def _no_second_axis(failure: Failure, match: re.Match[str]) -> Explanation | None:
    call = failure.find(ast.Call)
    return _no_matrix(failure, match) if call is not None and last_name(call.func) in _OF_AXES else None


def _no_diagonal(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """`diag` of one number, or of many matrices."""
    call = failure.find(ast.Call)
    if call is None or not call.args:
        return None
    text = failure.text(call.args[0])
    tries = [
        ("For a matrix of one entry:", failure.with_(call.args[0], f"jnp.atleast_1d({text})")),
        ("Take that of each:", failure.with_(call.func, f"jax.vmap({failure.text(call.func)})")),
    ]
    cures = [Cure(told, code) for told, code in tries if not cannot_work(failure, code)][:1]
    reason = (
        "`diag` takes the diagonal of a matrix, or makes a matrix with a vector on its diagonal: it works on arrays "
        f"of one axis or two. {failure.types(call)}"
    )
    return Explanation(
        "matrix", "`diag` wants one axis or two", reason.strip(), tuple(cures), api_page("jax.numpy.diag")
    )


def _no_matrix(failure: Failure, _: re.Match[str]) -> Explanation | None:
    call = failure.find(ast.Call)
    first = _array_of(failure, call)
    if call is None or first is None:
        return None
    array, name = failure.text(first), last_name(call.func)
    whole = array if isinstance(first, (ast.Name, ast.Call, ast.Attribute, ast.Subscript)) else f"({array})"
    tries = [("For a matrix that has it on its diagonal:", f"jnp.diag({array})")]
    if name in ("swapaxes", "transpose", "moveaxis", "fliplr", "rot90"):
        tries = [("For a matrix of one row:", f"{whole}[None]"), ("Or of one column:", f"{whole}[:, None]")]
    if name in _OF_ANY_SHAPE:
        tries.append(("For a matrix of one column:", f"{whole}[:, None]"))
    cures = [Cure(text, code) for text, put in tries if not cannot_work(failure, code := failure.with_(first, put))]
    reason = (
        f"`{name}` works on matrices, which are the last two axes of an array, and `{array}` has one axis or none. "
        f"{failure.types(call)}"
    )
    return Explanation("matrix", f"`{name}` wants a matrix", reason.strip(), tuple(cures), api_page("jax.numpy.linalg"))


def _array_of(failure: Failure, call: ast.Call | None) -> ast.expr | None:
    """What a call of a function is given first, or whose method it is."""
    if call is None:
        return None
    if isinstance(call.func, ast.Attribute) and is_array(failure.value(call.func.value)):
        return call.func.value
    return call.args[0] if call.args else call.func.value if isinstance(call.func, ast.Attribute) else None


# Shapes that an array cannot be stretched to.


def _not_stretched(failure: Failure, match: re.Match[str]) -> Explanation | None:
    call = failure.calls("broadcast_to")
    if call is None or not call.args:
        return None
    array, shape = failure.text(call.args[0]), failure.text(call.args[1]) if len(call.args) > 1 else ""
    had, wanted = (text for text in match.groups() if text)
    too_many = max(_axes(had) - _axes(wanted), 0)
    axes = ", ".join(map(str, range(too_many))) + ("," if too_many == 1 else "")
    whole = array if isinstance(call.args[0], (ast.Name, ast.Call, ast.Attribute, ast.Subscript)) else f"({array})"
    last = ", ".join(str(-one) for one in range(1, too_many + 1)) + ("," if too_many == 1 else "")
    taken = ", ".join(["0"] * too_many)
    tries = [("An axis that is new comes at the end so:", f"{whole}[..., None]"), ("Transpose it:", f"{whole}.T")]
    if too_many:
        tries = [
            ("Add up what is along the first axes:", f"{whole}.sum(axis=({axes}))"),
            ("Or take one entry of them:", f"{whole}[{taken}]"),
            ("Add up what is along the last axes:", f"{whole}.sum(axis=({last}))"),
            ("Or take one entry of them:", f"{whole}[..., {taken}]"),
        ]
    put = [(text, failure.with_(call, f"jnp.broadcast_to({made}, {shape})")) for text, made in tries]
    cures = [Cure(text, code) for text, code in put if not cannot_work(failure, code)][:2]
    cures = cures or [
        Cure("Repeat its entries until it is full:", failure.with_(call, f"jnp.resize({array}, {shape})"))
    ]
    reason = (
        "Stretching repeats axes of size 1 and puts new axes to the front; it takes none away. "
        f"`{array}` has the shape {had}, and {wanted} is wanted."
    )
    link = api_page("jax.numpy.broadcast_to")
    return Explanation("broadcast to", f"the shape {had} cannot be stretched to {wanted}", reason, tuple(cures), link)


def _axes(shape: str) -> int:
    return len(re.findall(r"\d+", shape))


_BOTH = ("TypeError", "ValueError")

CASES = (
    Case(
        "whole size", ("TypeError",), r"Shapes must be 1D sequences of .*?got (?P<sizes>[\[(].*?[\])])", _no_whole_size
    ),
    Case("whole size", ("TypeError",), r"'float' object cannot be interpreted as an integer", _no_whole_size),
    Case("whole size", ("TypeError",), r"shape must have every element be an integer type", _no_whole_size),
    Case(
        "whole size",
        ("TypeError",),
        r"arguments to fori_loop must have equal types, got int\d+ and float",
        _no_whole_size,
    ),
    Case("matrix", _BOTH, r"transpose permutation isn't a permutation.*?got permutation \((?:\d+, )*-1\)", _no_matrix),
    Case("matrix", _BOTH, r"diag input must be 1d or 2d", _no_diagonal),
    Case(
        "matrix",
        ("ValueError", "IndexError"),
        r"^axis 1 is out of bounds for array of dimension 1|^index 1 is out of bounds for axis 0 with size 1",
        _no_second_axis,
    ),
    Case("matrix", _BOTH, r"must have rank at least 2, but got shape=\(\d*,?\)", _no_matrix),
    Case("matrix", _BOTH, r"must have shape \[\.\.\., n, n\], got \(\d*,?\)", _no_matrix),
    Case(
        "matrix", _BOTH, r"must be at least (?:2D|two[- ]dimensional)|requires an array of at least two dim", _no_matrix
    ),
    Case("matrix", _BOTH, r"to be a \(batched\) square matrix, got \S*shape=\(\d*,?\)", _no_matrix),
    Case(
        "broadcast to",
        _BOTH,
        r"Cannot broadcast to shape with fewer dimensions: arr_shape=(\(.*?\)) shape=(\(.*?\))"
        r"|broadcasting: input type=\w+(\[[\d,]*\]) and requested type=\w+(\[[\d,]*\])"
        r"|shapes for broadcasting: (\([\d, ]*\)) and requested shape (\([\d, ]*\))",
        _not_stretched,
    ),
)
