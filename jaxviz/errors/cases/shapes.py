"""Shapes and types that do not fit each other."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator

from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, is_array, last_name

Shape = tuple[int, ...]


def _shapes(text: str) -> list[Shape]:
    """The shapes in a text, such as (3, 4)."""
    found = re.findall(r"\((\d[\d, ]*)\)", text)
    return [tuple(int(size) for size in re.findall(r"\d+", one)) for one in found]


def _operands(failure: Failure) -> tuple[ast.expr, ast.expr, ast.AST] | None:
    """The two sides of what failed, and the operation."""
    node = failure.find(ast.BinOp)
    if node is not None:
        return node.left, node.right, node
    call = failure.find(ast.Call)
    arrays = call.args if call is not None else []
    return (arrays[0], arrays[1], call) if call is not None and len(arrays) == 2 else None


def _transposed(failure: Failure, left: ast.expr, right: ast.expr) -> Iterator[tuple[str, str]]:
    a, b = failure.text(left), failure.text(right)
    for one in (a, f"{_plain(left, a)}.T"):
        for other in (b, f"{_plain(right, b)}.T"):
            yield one, other


def _plain(node: ast.expr, text: str) -> str:
    return text if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) else f"({text})"


def _written(failure: Failure, node: ast.AST, left: ast.expr, right: ast.expr, texts: tuple[str, str]) -> str:
    """The statement with the two sides written otherwise."""
    statement = failure.statement
    if failure.source is None or statement is None or hasattr(statement, "body"):
        return f"{texts[0]}, {texts[1]}"
    return failure.source.replaced(statement, {left: texts[0], right: texts[1]})


def _shape_of(failure: Failure, node: ast.expr, told: Shape | None) -> Shape | None:
    value = failure.value(node)
    return tuple(value.shape) if is_array(value) else told


def _broadcast(failure: Failure, match: re.Match[str]) -> Explanation | None:
    sides = _operands(failure)
    told = _shapes(failure.message)
    if sides is None or len(told) < 2:
        return None
    left, right, node = sides
    a, b = _shape_of(failure, left, told[0]), _shape_of(failure, right, told[1])
    if a is None or b is None:
        return None
    names = failure.text(left), failure.text(right)
    cures = [
        Cure(text, _written(failure, node, left, right, texts)) for text, texts in _fitting(left, right, a, b, names)
    ]
    if not cures:
        shortened = [
            name if set(_shared(shape, a, b)) <= set(":, ") else f"{_plain(side, name)}[{_shared(shape, a, b)}]"
            for side, name, shape in ((left, names[0], a), (right, names[1], b))
        ]
        cures = [
            Cure(
                "Nothing here makes them fit by itself. If the rest is not wanted, use what both have:",
                _written(failure, node, left, right, (shortened[0], shortened[1])),
            )
        ]
    differ = _differing(a, b)
    reason = (
        f"`{names[0]}` is {_text(a)} and `{names[1]}` is {_text(b)}. Shapes are compared from the last axis on; two "
        f"sizes fit if they are equal or one of them is 1, and {differ}."
    )
    return Explanation(
        "broadcasting",
        f"`{names[0]}` and `{names[1]}` have shapes that do not fit",
        reason,
        tuple(cures),
        "https://numpy.org/doc/stable/user/basics.broadcasting.html",
    )


def _text(shape: Shape) -> str:
    return str(shape)


def _shared(shape: Shape, a: Shape, b: Shape) -> str:
    rank = max(len(a), len(b))
    padded = [(1,) * (rank - len(one)) + one for one in (a, b)]
    least = [min(x, y) if 1 not in (x, y) else 0 for x, y in zip(*padded, strict=True)][rank - len(shape) :]
    return ", ".join(f":{size}" if size and size != own else ":" for size, own in zip(least, shape, strict=True))


def _differing(a: Shape, b: Shape) -> str:
    for place, (x, y) in enumerate(zip(reversed(a), reversed(b), strict=False), 1):
        if x != y and 1 not in (x, y):
            axis = (
                "the last"
                if place == 1
                else f"the {('second', 'third')[place - 2]} last"
                if place < 4
                else f"axis -{place}"
            )
            return f"on {axis} axis {x} does not fit {y}"
    return "these do not"


def _fits(a: Shape, b: Shape) -> bool:
    return all(x == y or 1 in (x, y) for x, y in zip(reversed(a), reversed(b), strict=False))


def _fitting(
    left: ast.expr, right: ast.expr, a: Shape, b: Shape, names: tuple[str, str]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Small changes after which two shapes fit."""
    one, other = _plain(left, names[0]), _plain(right, names[1])
    if len(a) != len(b):
        if len(a) < len(b) and _fits((*a, *(1,) * (len(b) - len(a))), b):
            yield (
                "Give the smaller one an axis at its end:",
                (f"{one}[{':, ' * len(a)}{_nones(len(b) - len(a))}]", names[1]),
            )
        elif len(b) < len(a) and _fits(a, (*b, *(1,) * (len(a) - len(b)))):
            yield (
                "Give the smaller one an axis at its end:",
                (names[0], f"{other}[{':, ' * len(b)}{_nones(len(a) - len(b))}]"),
            )
    if len(a) == len(b) == 2 and _fits(a, b[::-1]):
        yield "Transpose one of them:", (names[0], f"{other}.T")
    if len(a) == len(b) == 1:
        yield "Combine each with each, if that is meant:", (f"{one}[:, None]", f"{other}[None, :]")


def _nones(count: int) -> str:
    return ", ".join(["None"] * count)


def _contraction(failure: Failure, match: re.Match[str]) -> Explanation | None:
    sides = _operands(failure)
    if sides is None:
        return None
    left, right, node = sides
    a, b = _shape_of(failure, left, None), _shape_of(failure, right, None)
    names = failure.text(left), failure.text(right)
    cures = []
    if a is not None and b is not None and len(a) <= 2 and len(b) <= 2:
        turned: list[Callable[[Shape], Shape]] = [lambda shape: shape, lambda shape: shape[::-1]]
        for texts, (turn, other) in zip(
            _transposed(failure, left, right), [(x, y) for x in turned for y in turned], strict=True
        ):
            x, y = turn(a), other(b)
            if texts != names and x[-1:] == y[: 1 if len(y) == 1 else -1][-1:]:
                result = (*x[:-1], *y[1:])
                cures.append(
                    Cure(
                        f"Transpose so that the inner sizes are equal; this gives {result}:",
                        _written(failure, node, left, right, texts),
                    )
                )
    sizes = _shapes(failure.message)
    inner = f"{sizes[0][0]} and {sizes[1][0]}" if len(sizes) > 1 and sizes[0] and sizes[1] else "different"
    kinds = f"`{names[0]}` is {a} and `{names[1]}` is {b}. " if a is not None and b is not None else ""
    reason = (
        f"{kinds}A product of matrices sums over the last axis of the first and the second last of the second, "
        f"which must have one size; here they are {inner}."
    )
    if not kinds:
        reason = f"The two sides are multiplied along one axis each. {reason}"
    if not cures:
        cures = [Cure("Say which axes belong together:", f'jnp.einsum("ij,jk->ik", {names[0]}, {names[1]})')]
    return Explanation(
        "contraction",
        f"the inner sizes of `{names[0]}` and `{names[1]}` differ",
        reason,
        tuple(cures[:2]),
        api_page("jax.numpy.matmul"),
    )


def _concatenation(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("concatenate", "concat", "hstack", "vstack", "append", "stack", "column_stack")
    shapes = _shapes(failure.message)
    axis = re.search(r"along dimension (\d+)", failure.message)
    joined = int(axis[1]) if axis else 0
    first = failure.text(call.args[0]) if call is not None and call.args else "arrays"
    fitting = [
        place
        for place in range(min((len(shape) for shape in shapes), default=0))
        if len({(*shape[:place], *shape[place + 1 :]) for shape in shapes}) == 1
    ]
    if fitting:
        cure = Cure(
            f"They fit along axis {fitting[0]}:",
            failure.with_(call, f"jnp.concatenate({first}, axis={fitting[0]})") if call else "",
        )
    else:
        cure = Cure(
            "Bring the other axes to one size first:",
            "jnp.pad(array, ((0, 0), (0, MISSING)))  # with zeros, for example",
        )
    listed = " and ".join(str(shape) for shape in shapes) or "different"
    reason = (
        f"Arrays are joined along one axis, here {joined}, and must be equal along all others. The shapes are {listed}."
    )
    return Explanation(
        "concatenation",
        f"the arrays of `{first}` do not fit side by side",
        reason,
        (cure,),
        api_page("jax.numpy.concatenate"),
    )


def _reshape(failure: Failure, match: re.Match[str]) -> Explanation:
    shapes = _shapes(failure.message)
    old, new = ([*shapes, (), ()])[:2]
    call = failure.calls("reshape")
    candidates = []
    for place in range(len(new)):
        rest = math.prod(size for at, size in enumerate(new) if at != place)
        if rest and math.prod(old) % rest == 0:
            candidates.append((*new[:place], -1, *new[place + 1 :]))
    cures = []
    for shape in candidates[:2]:
        text = ", ".join(map(str, shape))
        code = f"x.reshape({text})"
        if call is not None:
            written = f"{failure.text(call.func)}({text})"
            if not _is_method(call) and call.args:
                single = "," if len(shape) == 1 else ""
                written = f"{failure.text(call.func)}({failure.text(call.args[0])}, ({text}{single}))"
            code = failure.with_(call, written)
        cures.append(
            Cure(
                f"Let one size follow from the others; -1 becomes {_followed(old, shape)}:",
                code,
            )
        )
    if not cures:
        cures = [Cure("See which sizes there are:", f"{math.prod(old)} = " + " * ".join(map(str, old or (1,))))]
    reason = (
        f"Reshaping keeps every element: {old} holds {math.prod(old)}, and {new} would hold {math.prod(new)}. "
        "Sizes are fixed while JAX traces, so this is seen at once."
    )
    return Explanation("reshape", f"{old} does not fill {new}", reason, tuple(cures), api_page("jax.numpy.reshape"))


def _is_method(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and last_name(call.func.value) not in ("jnp", "numpy", "np", "lax")


def _followed(old: Shape, shape: Shape) -> int:
    return math.prod(old) // math.prod(size for size in shape if size != -1)


def _axis(failure: Failure, match: re.Match[str]) -> Explanation:
    axis, rank = int(match[1]), int(match[2])
    call = failure.find(ast.Call)
    keyword = next((item for item in call.keywords if item.arg == "axis"), None) if call is not None else None
    last = rank - 1
    code = (
        failure.with_(keyword.value, str(last) if axis > 0 else str(-rank)) if keyword is not None else f"axis={last}"
    )
    numbers = "axis 0" if rank == 1 else f"axes 0 to {last}"
    reason = (
        f"The array has {rank} {'axis' if rank == 1 else 'axes'}: {numbers}, or -1 for the last. "
        "Under `vmap` the mapped axis is already gone."
    )
    if rank == 0:
        reason = "The value is one number and has no axis. Under `vmap` the mapped axis is already gone."
        code = "axis=None"
    return Explanation(
        "axis", f"there is no axis {axis}", reason, (Cure("Use one that is there:", code),), api_page("jax.numpy.sum")
    )


def _types(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.find(ast.Call)
    name = match[1].rpartition(".")[2]
    module = call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None
    cures = []
    if module is not None:
        cures.append(Cure("Use the function of jax.numpy, which promotes types:", failure.with_(module, "jnp")))
    if call is not None and len(call.args) > 1:
        second = call.args[1]
        text = failure.text(second)
        cures.append(
            Cure(
                "Or convert:",
                failure.with_(second, f"{_plain(second, text)}.astype({failure.text(call.args[0])}.dtype)"),
            )
        )
    reason = f"Functions of jax.lax do exactly what they are told and convert nothing. `{name}` was given {match[2]}."
    return Explanation("types", f"`{name}` wants one type", reason, tuple(cures), api_page(f"jax.lax.{name}"))


def _einsum(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("einsum")
    operands = call.args[1:] if call is not None else []
    shapes = []
    for operand in operands:
        value = failure.value(operand)
        shapes.append(f"`{failure.text(operand)}` has {len(value.shape)}" if is_array(value) else "")
    told = ", ".join(text for text in shapes if text)
    letters = "ijklmn"
    first = failure.text(call.args[0]) if call is not None and call.args else '"..."'
    terms = []
    for operand in operands:
        value = failure.value(operand)
        terms.append(letters[: len(value.shape)] if is_array(value) else "ij")
    quoted = '"' + ",".join(terms) + '->..."'
    code = failure.with_(call.args[0], quoted) if call is not None and call.args else quoted
    fit = f": {told}" if told else ""
    reason = f"Each operand of `einsum` has one letter for each of its axes. {first} does not fit{fit}."
    cure = Cure("Use as many letters as there are axes:", code)
    return Explanation(
        "einsum", f"the subscripts {first} do not fit the operands", reason, (cure,), api_page("jax.numpy.einsum")
    )


def _split(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("split", "array_split", "hsplit", "vsplit")
    code = failure.with_(call.func, "jnp.array_split") if call is not None else "jnp.array_split(x, parts)"
    reason = (
        "`split` makes parts of one size, and there is a rest. Where the parts may differ, there is another function."
    )
    return Explanation(
        "split",
        "the array cannot be split into equal parts",
        reason,
        (Cure("Let the last parts be smaller:", code),),
        api_page("jax.numpy.array_split"),
    )


def _dot(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.find(ast.Call)
    module = call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None
    shapes = " and ".join(str(shape) for shape in _shapes(failure.message)[:2])
    code = failure.with_(module, "jnp") if module is not None else "jnp.dot(a, b)"
    reason = f"The two sides have the shapes {shapes}, of which the axes to be summed over have different sizes. "
    reason += "jax.numpy says more about what fits."
    cure = Cure("Bring both to one size, and multiply:", code)
    return Explanation("dot", "the two sides of `dot` do not fit", reason, (cure,), api_page("jax.numpy.dot"))


_BOTH = ("TypeError", "ValueError")

CASES = (
    Case(
        "broadcasting", _BOTH, r"incompatible shapes for broadcasting|Incompatible shapes for broadcasting", _broadcast
    ),
    Case("contraction", _BOTH, r"contracting dimensions to have the same shape|contracting dimension", _contraction),
    Case(
        "concatenation", _BOTH, r"Cannot concatenate arrays|All input arrays must have the same shape", _concatenation
    ),
    Case("reshape", _BOTH, r"cannot reshape array of shape", _reshape),
    Case("axis", ("ValueError",), r"axis (-?\d+) is out of bounds for array of dimension (\d+)", _axis),
    Case("types", ("TypeError",), r"([\w.]+) requires arguments to have the same dtypes, got ([\w, ]+)\.", _types),
    Case("einsum", ("ValueError", "TypeError"), r"Einstein sum subscript", _einsum),
    Case("split", ("ValueError",), r"array split does not result in an equal division", _split),
    Case("dot", _BOTH, r"dimension_numbers must be specified when not|Incompatible shapes for dot", _dot),
)
