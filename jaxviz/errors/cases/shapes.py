"""Shapes and types that do not fit each other."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator

from jaxviz import compat
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, plain
from jaxviz.errors.failure import Failure, is_array, last_name

Shape = tuple[int, ...]


def shapes_in(text: str) -> list[Shape]:
    """The shapes in a text, such as (3, 4)."""
    found = re.findall(r"\((\d[\d, ]*)\)", text)
    return [tuple(int(size) for size in re.findall(r"\d+", one)) for one in found]


def operands_of(failure: Failure) -> tuple[ast.expr, ast.expr, ast.AST] | None:
    """The two sides of what failed, and the operation."""
    node = failure.find(ast.BinOp)
    if node is not None:
        return node.left, node.right, node
    call = failure.find(ast.Call)
    arrays = call.args if call is not None else []
    return (arrays[0], arrays[1], call) if call is not None and len(arrays) == 2 else None


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
            (Cure("Of any matrix, this is square:", "x @ x.T  # in place of x"),),
            api_page(f"jax.numpy.linalg.{last_name(call.func)}"),
        )
    names = list(failure.arrays(failure.expression)) or ["x"]
    cure = Cure(
        "See which of them has another shape than you think:", f"jax.tree.map(jnp.shape, ({', '.join(names)},))"
    )
    return Explanation(
        "broadcasting",
        f"shapes in `{shown}` do not fit",
        reason,
        (cure,),
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
    cures = (
        Cure(
            "To put them one after the other along an axis that is there:",
            failure.with_(call, f"jnp.concatenate({arrays}, axis=0)"),
        ),
        Cure("Or bring them to one shape first:", "x = jnp.broadcast_to(x, y.shape)"),
    )
    return Explanation("stack", "`stack` wants arrays of one shape", reason.strip(), cures, api_page("jax.numpy.stack"))


def _concatenation(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("concatenate", "concat", "hstack", "vstack", "append", "stack", "column_stack")
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
    if fitting:
        cure = Cure(
            f"They fit along axis {fitting[0]}:",
            failure.with_(call, f"jnp.concatenate({first}, axis={fitting[0]})") if call else "",
        )
    elif len({len(shape) for shape in shapes}) > 1:
        fewest = min(shapes, key=len)
        cure = Cure(
            f"Give the one of shape {fewest} the axis that it lacks:",
            f"array[{'None, ' * (max(map(len, shapes)) - len(fewest))}...]",
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
    if not cures:
        cures = [Cure("See which sizes there are:", f"# {math.prod(old)} = " + " * ".join(map(str, old or (1,))))]
    holds = f"{new} would hold {math.prod(new)}"
    if -1 in new:
        rest = math.prod(size for size in new if size != -1)
        holds = f"{rest} of {new} do not divide that"
    reason = (
        f"Reshaping keeps every element: {old} holds {math.prod(old)}, and {holds}. "
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


def _no_axis(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """An axis beyond those of an array, where JAX says so in the words of Python: of a tuple, the shape."""
    node = failure.find(ast.Subscript)
    of_shape = node is not None and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    innermost = failure.places[-1].frame.f_code.co_filename if failure.places else ""
    if not of_shape and not innermost.startswith(compat.JAX_FOLDERS):
        return None
    text = " ".join(failure.text(failure.expression).split())
    arrays = failure.arrays(failure.expression)
    array = next(iter(arrays), "x")
    reason = (
        f"{failure.types(failure.expression)} An array of n axes has the axes 0 to n - 1, or -1 for the last. "
        "Under `vmap` the mapped axis is already gone."
    )
    shape = getattr(arrays.get(array), "shape", None)
    code = f"{array}.shape" + (f"  # {tuple(shape)}" if shape is not None else "")
    cure = Cure("Use an axis that is there:", code)
    title = f"`{text}` asks for an axis that is not there"
    return Explanation("axis", title, reason.strip(), (cure,), api_page("jax.numpy.ndarray.shape"))


def _types(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.find(ast.Call)
    name = match[1].rpartition(".")[2]
    module = call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None
    cures = []
    if module is not None:
        cures.append(Cure("Use the function of jax.numpy, which promotes types:", failure.with_(module, "jnp")))
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


_BOTH = ("TypeError", "ValueError")

_PLAIN = (
    plain(
        "broadcast to",
        _BOTH,
        r"Incompatible types for broadcasting: input type=\w+(\[[\d,]*\]) and requested type=\w+(\[[\d,]*\])"
        r"|Incompatible shapes for broadcasting: (\([\d, ]*\)) and requested shape (\([\d, ]*\))",
        "the shape $1$3 cannot be stretched to $2$4",
        "Only an axis of size 1 can be repeated, and new axes come at the front: from the last axis on, $1$3 must have "
        "the sizes of $2$4, or 1. $types",
        [("To put an axis at the end, or to repeat one, do so first:", "x[..., None]   # or jnp.repeat(x, N, axis=0)")],
        api_page("jax.numpy.broadcast_to"),
    ),
    plain(
        "broadcast to",
        _BOTH,
        r"broadcast_in_dim operand dimension sizes must either be 1, or be equal.*?got operand of shape (\(.*?\)), "
        r"target broadcast shape (\(.*?\))",
        "the shape $1 cannot be stretched to $2",
        "Only an axis of size 1 can be repeated; each other axis keeps its size. $types",
        [("To repeat an axis:", "jnp.repeat($first, N, axis=0)")],
        api_page("jax.lax.broadcast_in_dim"),
    ),
    plain(
        "window",
        ("ValueError",),
        r"^operands could not be broadcast together with shapes (\(\d+,\)) (\(\d+,\))",
        "`$call` was given sizes for another number of axes",
        "A window, its steps and its padding have one number for each axis that they go over; an image has a "
        "batch and a channel axis beside them. $types",
        [("Give the array all axes, such as batch, channel, height, width:", "$first[None, None]")],
        "https://docs.jax.dev/en/latest/jax.lax.html#convolution-operators",
    ),
    plain(
        "one axis",
        ("ValueError",),
        r"(\w+)\(\) only supports? 1-dimensional inputs|(xp and fp) must be one-dimensional arrays of equal size",
        "`$call` wants arrays of one axis",
        "`$call` works along one axis, and what goes together has one length. $types",
        [("Map it over the other axes:", "jax.vmap(lambda row: $call(row, ...))($first)")],
        api_page("jax.vmap"),
    ),
    plain(
        "sizes of an axis",
        ("ValueError", "TypeError"),
        r"Sum of sizes (\d+) must be equal to dimension (\d+) of the operand shape (\[.*?\])",
        "$1 entries are wanted, and there are others: $3",
        "The parts together must be as long as axis $2 of the array. $types",
        [("See its shape:", "$first.shape")],
        api_page("jax.numpy.split"),
    ),
    plain(
        "view",
        ("TypeError",),
        r"Cannot interpret '(-?\d+)' as a data type",
        "a number was given where a type of entries is wanted",
        "`$call` takes a type, such as jnp.int32, and was given $1. Other libraries call by `view` what is "
        "`reshape` here.",
        [("For another shape:", "$first.reshape($1)")],
        api_page("jax.numpy.reshape"),
    ),
    plain(
        "concatenation",
        _BOTH,
        r"Zero-dimensional arrays cannot be concatenated",
        "single numbers have no axis to be joined along",
        "`concatenate` joins arrays along an axis that they have, and a single number has none. A list of numbers is "
        "stacked along a new one.",
        [("Stack them:", "jnp.stack($first)")],
        api_page("jax.numpy.stack"),
    ),
    plain(
        "squeeze",
        _BOTH,
        r"cannot select an axis to squeeze out which has size not equal to one, got shape=(\([\d, ]*\)) and "
        r"dimensions=\(([\d, ]*?),?\)",
        "axis $2 is not of size 1",
        "`squeeze` removes axes of size 1, for nothing is lost by that. The shape is $1, of which axis $2 holds more.",
        [
            ("Take one entry of it:", "jnp.take($first, 0, axis=$2)"),
            ("Or remove the axes that have size 1:", "jnp.squeeze($first)"),
        ],
        api_page("jax.numpy.squeeze"),
    ),
    plain(
        "select",
        _BOTH,
        r"select cases must have the same shapes, got \[(.*)\]",
        "the cases of `select` have different shapes",
        "`lax.select` takes each entry from one case or the other, so both have one shape; here they are $1. $types",
        [("Let jax.numpy bring them to one shape:", "jnp.where(condition, x, y)")],
        api_page("jax.numpy.where"),
    ),
    plain(
        "same rank",
        _BOTH,
        r"(\w+): arrays must have the same number of dimensions, got|(\w+) got incompatible shapes for "
        r"broadcasting: .*lax",
        "`$1` wants arrays with the same number of axes",
        "Functions of jax.lax stretch nothing: both arrays must have as many axes as the other. $types",
        [("Use an operator, or the function of jax.numpy, which stretches:", "jnp.divide(x, y)")],
        "https://docs.jax.dev/en/latest/jax.lax.html",
    ),
    plain(
        "piece",
        _BOTH,
        r"dynamic_update_slice update shape must be smaller than operand shape, got update shape (\(.*?\)) for "
        r"operand shape (\(.*?\))",
        "what is written, $1, is larger than the array, $2",
        "`dynamic_update_slice` writes a piece into an array; the piece may be as large as the array along each "
        "axis, and no larger. $types",
        [("Cut the piece first:", "update[:MOST]")],
        api_page("jax.lax.dynamic_update_slice"),
    ),
    plain(
        "piece",
        _BOTH,
        r"Length of slice indices must match number of operand dimensions \((\d+) vs (\(.*?\))\)",
        "`$call` wants one index for each axis",
        "There is $1 index for an array of the shape $2. A place in an array is told by one number for each of "
        "its axes.",
        [("Give one for each axis, or name one axis:", "jax.lax.dynamic_slice_in_dim($first, start, SIZE, axis=0)")],
        api_page("jax.lax.dynamic_slice_in_dim"),
    ),
    plain(
        "square",
        _BOTH,
        r"[Aa]rgument to (?:\w+ )*(\w+) must have shape \[\.\.\., n, n\], got (?:shape )?(\(?\[?[\d, ]*\]?\)?)",
        "`$1` wants a square matrix, and this is $2",
        "Only a matrix with as many rows as columns has an inverse, a determinant or eigenvalues. The last two "
        "axes of $2 differ. $types",
        [
            (
                "For least squares, or an inverse of what is not square:",
                "jnp.linalg.lstsq(a, b)   # or jnp.linalg.pinv(a)",
            ),
        ],
        api_page("jax.numpy.linalg.lstsq"),
    ),
    plain(
        "sizes of an axis",
        _BOTH,
        r"inconsistent size for core dimension '(\w+)': (\d+) vs (\d+)",
        "`$text` was given sizes that do not fit: $2 and $3",
        "Two axes of what `$call` is given must have one size, and are $2 and $3. $types",
        [("See the shapes of both:", "jax.tree.map(jnp.shape, ($first,))")],
        "",
    ),
    plain(
        "most",
        ("ValueError",),
        r"k argument to top_k must be no larger than size along axis; got k=(\d+) with shape=(\[.*?\])",
        "there are no $1 largest in $2",
        "`top_k` takes so many entries of an axis, so it cannot take more than there are. $types",
        [("Take at most as many as there are:", "jax.lax.top_k($first, min($1, $first.shape[-1]))")],
        api_page("jax.lax.top_k"),
    ),
    plain(
        "padding",
        _BOTH,
        r"pad_width with nd=(\d+) has unsupported shape",
        "the padding has other axes than the array",
        "`pad` wants one pair for each axis, before and after, and the array has $1. $types",
        [("Give one pair for each axis:", "jnp.pad($first, ((1, 1),) * $1)")],
        api_page("jax.numpy.pad"),
    ),
)

CASES = (
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
    *_PLAIN,
    Case("split", ("ValueError",), r"array split does not result in an equal division", _split),
)
