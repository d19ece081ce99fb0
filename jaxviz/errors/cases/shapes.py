"""Shapes and types that do not fit each other."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from typing import Any

from jaxviz import compat
from jaxviz.errors.cases import shape_rules
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, is_array, last_name
from jaxviz.errors.trial import cannot_work, given_by

Shape = tuple[int, ...]


def shapes_in(text: str) -> list[Shape]:
    """The shapes in a text, such as (3, 4)."""
    found = re.findall(r"\((\d[\d, ]*)\)", text)
    return [tuple(int(size) for size in re.findall(r"\d+", one)) for one in found]


def operands_of(failure: Failure) -> tuple[ast.expr, ast.expr, ast.AST] | None:
    """The two sides of what failed, and the operation."""
    # The innermost of what stands around the failing expression: the product in `jnp.dot(x, y) + 1`, not the sum.
    node = failure.find((ast.BinOp, ast.Call))
    if isinstance(node, ast.BinOp):
        return node.left, node.right, node
    if node is None:
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "dot" and len(node.args) == 1:
        return node.func.value, node.args[0], node
    return (node.args[0], node.args[1], node) if len(node.args) == 2 else None


def as_operand(node: ast.expr, text: str) -> str:
    return text if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) else f"({text})"


def written_with(failure: Failure, node: ast.AST, left: ast.expr, right: ast.expr, texts: tuple[str, str]) -> str:
    """The statement with the two sides written otherwise."""
    statement = failure.statement
    if failure.source is None or statement is None or hasattr(statement, "body"):
        return f"{texts[0]}, {texts[1]}"
    return failure.source.replaced(statement, {left: texts[0], right: texts[1]})


def shape_of(failure: Failure, node: ast.expr, told: Shape | None) -> Shape | None:
    value = failure.value(node)
    return tuple(value.shape) if is_array(value) else told


def _broadcast(failure: Failure, match: re.Match[str]) -> Explanation | None:
    sides = operands_of(failure)
    told = shapes_in(failure.message)
    if sides is None or len(told) < 2 or (failure.library and failure.find(ast.BinOp) is not None):
        return _broadcast_inside(failure, told)
    left, right, node = sides
    a, b = shape_of(failure, left, told[0]), shape_of(failure, right, told[1])
    if a is None or b is None or _fits(a, b):
        return _broadcast_inside(failure, told)
    names = failure.text(left), failure.text(right)
    cures = [
        Cure(text, written_with(failure, node, left, right, texts))
        for text, texts in _fitting(left, right, a, b, names)
    ]
    if not cures:
        shortened = [
            name if set(_shared(shape, a, b)) <= set(":, ") else f"{as_operand(side, name)}[{_shared(shape, a, b)}]"
            for side, name, shape in ((left, names[0], a), (right, names[1], b))
        ]
        cures = [
            Cure(
                "Nothing here makes them fit by itself. If the rest is not wanted, use what both have:",
                written_with(failure, node, left, right, (shortened[0], shortened[1])),
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


_OF_SQUARES = ("cholesky", "inv", "det", "slogdet", "eig", "eigh", "eigvals", "eigvalsh", "expm", "matrix_power")


def _broadcast_inside(failure: Failure, told: list[Shape]) -> Explanation | None:
    """Shapes that do not fit in a call with more than two arrays, or inside a library."""
    if len(told) < 2:
        return None
    pair = next(
        ((a, b) for place, a in enumerate(told) for b in told[place + 1 :] if not _fits(a, b)), (told[0], told[1])
    )
    inside = f" inside `{failure.library}`" if failure.library else ""
    text = " ".join(failure.text(failure.expression).split()) or failure.name
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    reason = (
        f"{pair[0]} meets {pair[1]}{inside}. {failure.types(failure.expression)} Shapes are compared from the "
        f"last axis on; two sizes fit if they are equal or one of them is 1, and {_differing(*pair)}."
    )
    call = failure.find(ast.Call)
    if call is not None and last_name(call.func) in _OF_SQUARES:
        kind = "A triangle of a matrix" if "cholesky" in last_name(call.func) else "What is asked for"
        return Explanation(
            "square",
            f"`{last_name(call.func)}` wants a square matrix",
            f"{kind} is defined for a matrix with as many rows as columns. {failure.types(call)}",
            tuple(_squares(failure, call)),
            api_page(f"jax.numpy.linalg.{last_name(call.func)}"),
        )
    return Explanation(
        "broadcasting",
        f"shapes in `{shown}` do not fit",
        reason,
        tuple(_cut_inside(failure, pair)),
        "https://numpy.org/doc/stable/user/basics.broadcasting.html",
    )


def _cut_inside(failure: Failure, pair: tuple[Shape, Shape]) -> Iterator[Cure]:
    """The statement with one array in it cut to what the other has, where that makes it work."""
    a, b = pair
    if failure.expression is None:
        return
    for text, value in failure.arrays(failure.expression).items():
        node = next(one for one in ast.walk(failure.expression) if failure.text(one) == text)
        for own, other in ((a, b), (b, a)):
            if tuple(value.shape) == own:
                beside = (0,) * (len(own) - len(other)) + other[max(len(other) - len(own), 0) :]
                index = ", ".join(f":{y}" if x > y > 1 else ":" for x, y in zip(own, beside, strict=True))
                code = failure.with_(node, f"{text}[{index}]")
                if set(index) - set(":, ") and not cannot_work(failure, code):
                    yield Cure("If the rest is not wanted, use what both have:", code)
                    return


def _squares(failure: Failure, call: ast.Call) -> Iterator[Cure]:
    """What is square, made of the matrix that a call is given."""
    if call.args:
        text = as_operand(call.args[0], failure.text(call.args[0]))
        yield Cure("Of any matrix, this is square:", failure.with_(call.args[0], f"{text} @ {text}.T"))


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
    one, other = as_operand(left, names[0]), as_operand(right, names[1])
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


def _stack(failure: Failure, call: ast.Call) -> Explanation:
    arrays = failure.text(call.args[0]) if call.args else "arrays"
    reason = (
        f"`stack` lays arrays of equal shape side by side along a new axis, and these differ. {failure.types(call)}"
    )
    listed = call.args[0].elts if call.args and isinstance(call.args[0], (ast.List, ast.Tuple)) else []
    texts = [failure.text(one) for one in listed]
    tries = [("Stretch them to one shape first:", f"jnp.stack(jnp.broadcast_arrays({', '.join(texts)}))")]
    if len(texts) == 2:
        turned = f"jnp.stack([{texts[0]}, {as_operand(listed[1], texts[1])}.T])"
        tries.append(("Transpose one of them, for then they have one shape:", turned))
    tries.append(("To put them one after the other along an axis that is there:", f"jnp.concatenate({arrays}, axis=0)"))
    flat = ", ".join(f"jnp.ravel({text})" for text in texts)
    tries.append(("Join all their entries in a row:", f"jnp.concatenate([{flat}])"))
    codes = [(text, failure.with_(call, code)) for text, code in tries]
    cures = [Cure(text, code) for text, code in codes if not cannot_work(failure, code)] if texts else []
    title = "`stack` wants arrays of one shape"
    return Explanation("stack", title, reason.strip(), tuple(cures[:1]), api_page("jax.numpy.stack"))


def _numbers_joined(failure: Failure, call: ast.Call | None) -> list[ast.expr]:
    """What has no axis, among arrays of one that are to be joined along it."""
    listed = call.args[0] if call is not None and call.args else None
    if not isinstance(listed, (ast.List, ast.Tuple)):
        return []
    held = [failure.value(one) for one in listed.elts]
    axes = [0 if isinstance(one, (int, float)) else one.ndim if is_array(one) else 2 for one in held]
    return [one for one, count in zip(listed.elts, axes, strict=True) if count == 0] if set(axes) == {0, 1} else []


def _joined_flat(failure: Failure, call: ast.Call | None) -> Cure | None:
    """Arrays with other numbers of axes one after the other: along an axis that those with fewer are given, where that
    goes, or else all their entries in a row."""
    listed = call.args[0] if call is not None and call.args else None
    if call is None or not isinstance(listed, (ast.List, ast.Tuple)) or failure.source is None:
        return None
    texts = [failure.text(one) for one in listed.elts]
    held: list[Any] = [given_by(failure, text) for text in texts]
    most = max((one.ndim for one in held if is_array(one)), default=0)
    widened = [
        f"{text}[{'None, ' * (most - one.ndim)}...]" if is_array(one) and one.ndim < most else text
        for text, one in zip(texts, held, strict=True)
    ]
    columns = [
        f"{as_operand(node, text)}[:, None]" if is_array(one) and one.ndim == 1 and most == 2 else text
        for node, text, one in zip(listed.elts, texts, held, strict=True)
    ]
    tries = (
        ("Give those with fewer axes the ones that they lack:", widened, ""),
        ("Take what has one axis for a column:", columns, ", axis=1"),
        ("Join all their entries in a row:", [f"jnp.ravel({text})" for text in texts], ""),
    )
    for text, parts, axis in tries:
        code = failure.with_(call, f"jnp.concatenate([{', '.join(parts)}]{axis})")
        if not cannot_work(failure, code):
            return Cure(text, code)
    return None


def _concatenation(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls(
        "concatenate", "concat", "hstack", "vstack", "append", "stack", "column_stack", "array", "asarray"
    )
    if call is not None and last_name(call.func) == "stack":
        return _stack(failure, call)
    shapes = shapes_in(failure.message)
    axis = re.search(r"along dimension (\d+)", failure.message)
    joined = int(axis[1]) if axis else 0
    first = failure.text(call.args[0]) if call is not None and call.args else "arrays"
    fitting = [
        place
        for place in range(min((len(shape) for shape in shapes), default=0))
        if len({(*shape[:place], *shape[place + 1 :]) for shape in shapes}) == 1
    ]
    of_entries = call is not None and last_name(call.func) in ("array", "asarray")
    numbers = [] if of_entries else _numbers_joined(failure, call)
    if call is not None and numbers and failure.source is not None:
        changes: dict[ast.AST, str] = {one: f"jnp.array([{failure.text(one)}])" for one in numbers}
        cure = Cure(
            "Give what is a single number an axis:", failure.with_(call, failure.source.replaced(call, changes))
        )
    elif fitting:
        cure = Cure(
            f"They fit along axis {fitting[0]}:",
            failure.with_(call, f"jnp.concatenate({first}, axis={fitting[0]})") if call else "",
        )
    elif len({len(shape) for shape in shapes}) > 1:
        cure = _joined_flat(failure, call) or Cure(
            f"Give the one of shape {min(shapes, key=len)} the axis that it lacks:",
            f"array[{'None, ' * (max(map(len, shapes)) - min(map(len, shapes)))}...]",
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
    shapes = [tuple(map(int, re.findall(r"-?\d+", text))) for text in re.findall(r"\(([-\d, ]*)\)", failure.message)]
    shapes = [shape for shape in shapes if shape]
    old, new = ([*shapes, (), ()])[:2]
    call = failure.calls("reshape")
    candidates = []
    for place in range(len(new)):
        rest = math.prod(size for at, size in enumerate(new) if at != place)
        if rest > 0 and math.prod(old) % rest == 0:
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
    cures = cures or _cut_off(failure, call, old, new)
    holds = f"{new} would hold {math.prod(new)}"
    if -1 in new:
        rest = math.prod(size for size in new if size != -1)
        holds = f"{rest} of {new} do not divide that"
    reason = (
        f"Reshaping keeps every element: {old} holds {math.prod(old)}, and {holds}. "
        "Sizes are fixed while JAX traces, so this is seen at once."
    )
    return Explanation("reshape", f"{old} does not fill {new}", reason, tuple(cures), api_page("jax.numpy.reshape"))


def _cut_off(failure: Failure, call: ast.Call | None, old: Shape, new: Shape) -> list[Cure]:
    """An array of which what does not fill the shape is left out, or that is repeated until it does."""
    array = call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None
    if call is not None and not _is_method(call):
        array = call.args[0] if call.args else None
    rest = math.prod(size for size in new if size != -1)
    if call is None or array is None or rest < 1:
        return []
    text, size = failure.text(array), math.prod(old)
    wanted = size // rest * rest if -1 in new else rest
    if 0 < wanted <= size:
        code = failure.with_(call, f"jnp.ravel({text})[:{wanted}].reshape({new})")
        return [Cure(f"Take the first {wanted} entries, and leave out the rest:", code)]
    shape = tuple(1 if one == -1 else one for one in new)
    return [Cure("Repeat its entries until it is full:", failure.with_(call, f"jnp.resize({text}, {shape})"))]


def _is_method(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and last_name(call.func.value) not in ("jnp", "numpy", "np", "lax")


def _followed(old: Shape, shape: Shape) -> int:
    return math.prod(old) // math.prod(size for size in shape if size != -1)


def _axis(failure: Failure, match: re.Match[str]) -> Explanation:
    axis, rank = int(match[1]), int(match[2])
    call = failure.find(ast.Call)
    keyword = next((item for item in call.keywords if item.arg == "axis"), None) if call is not None else None
    last = rank - 1
    code = failure.with_(keyword.value, str(last) if axis > 0 else str(-rank)) if keyword is not None else ""
    numbers = "axis 0" if rank == 1 else f"axes 0 to {last}"
    reason = (
        f"The array has {rank} {'axis' if rank == 1 else 'axes'}: {numbers}, or -1 for the last. "
        "Under `vmap` the mapped axis is already gone."
    )
    if rank == 0:
        reason = "The value is one number and has no axis. Under `vmap` the mapped axis is already gone."
        code = failure.with_(keyword.value, "None") if keyword is not None else ""
    return Explanation(
        "axis", f"there is no axis {axis}", reason, (Cure("Use one that is there:", code),), api_page("jax.numpy.sum")
    )


def _no_axis(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """An axis beyond those of an array, where JAX says so in the words of Python: of a tuple, the shape."""
    node = failure.find(ast.Subscript)
    of_shape = node is not None and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    innermost = failure.places[-1].frame.f_code.co_filename if failure.places else ""
    if not of_shape and not innermost.startswith(compat.JAX_FOLDERS):
        return None
    text = " ".join(failure.text(failure.expression).split())
    arrays = failure.arrays(failure.expression)
    next(iter(arrays), "x")
    reason = (
        f"{failure.types(failure.expression)} An array of n axes has the axes 0 to n - 1, or -1 for the last. "
        "Under `vmap` the mapped axis is already gone."
    )
    call = failure.find(ast.Call)
    given = next((one.value for one in call.keywords if one.arg == "axis"), None) if call is not None else None
    given = given or (node.slice if of_shape and node is not None else None)
    cures = [Cure("Take the last one:", failure.with_(given, "-1"))] if isinstance(given, ast.Constant) else []
    title = f"`{text}` asks for an axis that is not there"
    return Explanation("axis", title, reason.strip(), tuple(cures), api_page("jax.numpy.ndarray.shape"))


# Functions of jax.lax that jax.numpy calls otherwise.
_NAMES = {"mul": "multiply", "sub": "subtract", "div": "divide", "max": "maximum", "min": "minimum", "rem": "fmod"}
_NAMES |= {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
_NAMES |= {"pow": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "atan2": "arctan2"}


def _types(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.find(ast.Call)
    name = match[1].rpartition(".")[2]
    module = call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None
    cures = []
    if module is not None:
        called = _NAMES.get(name, name)
        code = failure.with_(call.func if call is not None else module, f"jnp.{called}")
        cures.append(Cure("Use the function of jax.numpy, which promotes types:", code))
    if call is not None and len(call.args) > 1 and is_array(failure.value(call.args[0])):
        second = call.args[1]
        kept = f"jnp.asarray({failure.text(second)}, {failure.text(call.args[0])}.dtype)"
        cures.append(Cure("Or convert:", failure.with_(second, kept)))
    reason = f"Functions of jax.lax do exactly what they are told and convert nothing. `{name}` was given {match[2]}."
    return Explanation("types", f"`{name}` wants one type", reason, tuple(cures), api_page(f"jax.lax.{name}"))


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


def _not_stretched(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """Arrays with other numbers of axes, where JAX is asked not to stretch them unasked."""
    sides, told = operands_of(failure), shapes_in(failure.message)
    if sides is None or len(told) < 2:
        return None
    left, right, node = sides
    texts, lacking = [failure.text(left), failure.text(right)], len(told[0]) - len(told[1])
    side = left if lacking < 0 else right
    place = 0 if lacking < 0 else 1
    texts[place] = f"{as_operand(side, texts[place])}[{_nones(abs(lacking))}]"
    cure = Cure("Give the smaller one its axes:", written_with(failure, node, left, right, (texts[0], texts[1])))
    reason = (
        f"`jax_numpy_rank_promotion` is `raise`: then JAX puts no axes to the front of an array unasked. The "
        f"shapes are {told[0]} and {told[1]}. {failure.types(node)}"
    )
    title = f"arrays of {len(told[0])} and of {len(told[1])} axes are not brought together unasked"
    return Explanation("rank promotion", title, reason.strip(), (cure,), failure.link)


_BOTH = ("TypeError", "ValueError")

CASES = (
    Case("rank promotion", _BOTH, r"jax_numpy_rank_promotion='raise'", _not_stretched),
    Case(
        "broadcasting", _BOTH, r"incompatible shapes for broadcasting|Incompatible shapes for broadcasting", _broadcast
    ),
    Case(
        "concatenation",
        _BOTH,
        r"Cannot (?:concatenate|stack) arrays|All input arrays must have the same shape",
        _concatenation,
    ),
    Case("reshape", _BOTH, r"cannot reshape array of shape", _reshape),
    Case("axis", ("ValueError",), r"axis (-?\d+) is out of bounds for array of dimension (\d+)", _axis),
    Case(
        "axis",
        ("IndexError",),
        r"^tuple index out of range$|index (-?\d+) is out of bounds for axis 0 with size (\d+)",
        _no_axis,
    ),
    Case("types", ("TypeError",), r"([\w.]+) requires arguments to have the same dtypes, got ([\w, ]+)\.", _types),
    *shape_rules.CASES,
    Case("split", ("ValueError",), r"array split does not result in an equal division", _split),
)
