"""Shapes that do not fit a rule of one function: what is wrong is in the message, and the cure is the same for all."""

from __future__ import annotations

import ast
import re

from jaxviz.arrays import is_array
from jaxviz.errors.cases.given import argument
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, plain
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.rewriting import grouped
from jaxviz.errors.trial import given_by

_BOTH = ("TypeError", "ValueError")


def _of_numbers(failure: Failure, match: re.Match[str]) -> Explanation:
    """Single numbers are joined: those of a list, or of an array that was given in place of a list."""
    call = failure.find(ast.Call)
    first = call.args[0] if call is not None and call.args else None
    link = api_page("jax.numpy.stack")
    if call is not None and first is not None and is_array(given_by(failure, failure.text(first))):
        # What is a number of Python is the axis.
        arrays = [one for one in call.args if not isinstance(failure.value(one), int)]
        axis = [f"axis={failure.text(one)}" for one in call.args if one not in arrays]
        axis += [f"{one.arg}={failure.text(one.value)}" for one in call.keywords if one.arg]
        listed = ", ".join(map(failure.text, arrays))
        whole = f"{failure.text(call.func)}({', '.join([f'[{listed}]', *axis])})"
        reason = (
            "`concatenate` takes the arrays as one list, and then the axis. "
            f"`{failure.text(first)}` is taken for the list here, so the numbers in it would be joined."
        )
        cure = Cure("Give them as a list:", failure.with_(call, whole))
        return Explanation("concatenation", "what is joined is given as a list", reason, (cure,), link)
    text = failure.text(first) if first is not None else "x"
    code = f"jnp.stack({text})"
    reason = (
        "`concatenate` joins arrays along an axis that they have, and a single number has none. A list of numbers is "
        "stacked along a new one."
    )
    cure = Cure("Stack them:", failure.with_(call, code) if call is not None else code)
    return Explanation("concatenation", "single numbers have no axis to be joined along", reason, (cure,), link)


def _padding(failure: Failure, match: re.Match[str]) -> Explanation:
    """More or fewer pairs than axes: cut off from the end, or those that lack are pairs of zeros before the others."""
    axes, call = int(match[1]), failure.find(ast.Call)
    given = argument(call, 1, "pad_width")
    pairs = list(given.elts) if isinstance(given, (ast.Tuple, ast.List)) else []
    cures = []
    if given is not None and pairs and all(isinstance(one, (ast.Tuple, ast.List)) for one in pairs):
        texts = ["(0, 0)"] * (axes - len(pairs)) + [failure.text(one) for one in pairs[:axes]]
        code = failure.with_(given, f"({', '.join(texts)}{',' * (axes == 1)})")
        what = "and none before the last axes" if len(pairs) < axes else "and no more"
        cures = [Cure(f"Give one pair for each axis, {what}:", code)]
    reason = (
        f"`pad` wants one pair for each axis, before and after, and the array has {axes}. "
        f"{failure.types(failure.expression)}"
    )
    title = "the padding has other axes than the array"
    return Explanation("padding", title, reason.strip(), tuple(cures), api_page("jax.numpy.pad"))


# Functions that take a shape first, and then a type.
_OF_A_SHAPE = ("zeros", "ones", "empty")
# Functions that take a list of arrays.
_OF_ARRAYS = ("concat", "concatenate", "stack", "hstack", "vstack", "column_stack", "dstack", "block")


def _sizes_alone(failure: Failure, call: ast.Call) -> Explanation:
    """Sizes that are given one by one where a tuple of them is wanted."""
    name, sizes = last_name(call.func), ", ".join(map(failure.text, call.args))
    options = "".join(f", {failure.text(one)}" for one in call.keywords)
    cure = Cure("Give them as one tuple:", failure.with_(call, f"{failure.text(call.func)}(({sizes}){options})"))
    reason = (
        f"`{name}` takes a shape, which is a tuple, and after it a type. `{failure.text(call.args[1])}` is no type."
    )
    title = f"`{name}` was given sizes one by one"
    return Explanation("sizes", title, reason, (cure,), api_page(f"jax.numpy.{name}"))


def _one_size(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """A number where random numbers want a shape."""
    call = failure.find(ast.Call)
    given = [*call.args[1:], *(one.value for one in call.keywords)] if call is not None else []
    sizes = [one for one in given if isinstance(failure.value(one), int) and str(failure.value(one)) == match[1]]
    cures = []
    if len(sizes) == 1:
        code = failure.with_(sizes[0], f"({failure.text(sizes[0])},)")
        cures = [Cure("Of an array of one axis, the shape is a tuple of one number:", code)]
    reason = f"A shape is a tuple with the size of each axis, and {match[1]} is a number. {failure.types(call)}"
    title = "a number was given where a shape is wanted"
    return Explanation("sizes", title, reason.strip(), tuple(cures), api_page("jax.random.normal"))


def _arrays_alone(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """Arrays that are given one by one where a list of them is wanted."""
    call = failure.calls(*_OF_ARRAYS)
    if call is None or len(call.args) < 2 or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    name, arrays = last_name(call.func), ", ".join(map(failure.text, call.args))
    options = "".join(f", {failure.text(one)}" for one in call.keywords)
    cure = Cure("Give them as one list:", failure.with_(call, f"{failure.text(call.func)}([{arrays}]{options})"))
    reason = f"`{name}` takes a list of all arrays, and after it how they are joined. {failure.types(call)}"
    title = f"`{name}` was given arrays one by one"
    return Explanation("arrays one by one", title, reason.strip(), (cure,), api_page(f"jax.numpy.{name}"))


def _viewed(failure: Failure, match: re.Match[str]) -> Explanation:
    """Another shape asked of `view`, which is about types here; or sizes that stand one by one."""
    call = failure.find(ast.Call)
    if call is not None and last_name(call.func) in _OF_A_SHAPE and len(call.args) > 1:
        return _sizes_alone(failure, call)
    call = failure.calls("view")
    cures = []
    if call is not None and isinstance(call.func, ast.Attribute) and not call.keywords:
        sizes = ", ".join(map(failure.text, call.args))
        cures = [Cure("For another shape:", failure.with_(call, f"{failure.text(call.func.value)}.reshape({sizes})"))]
    reason = (
        f"`view` takes a type, such as jnp.int32, and reads the same bits as numbers of that. {failure.types(call)} "
        "Other libraries call by `view` what is `reshape` here."
    )
    title = "a number was given where a type of entries is wanted"
    return Explanation("view", title, reason, tuple(cures), api_page("jax.numpy.reshape"))


def _too_large_piece(failure: Failure, match: re.Match[str]) -> Explanation:
    piece, whole = ([int(size) for size in re.findall(r"\d+", text)] for text in match.groups())
    given = argument(failure.calls("dynamic_update_slice"), 1, "update")
    cures = []
    if given is not None and len(piece) == len(whole):
        index = ", ".join(f":{most}" if size > most else ":" for size, most in zip(piece, whole, strict=True))
        cures = [Cure("Cut the piece first:", failure.with_(given, f"{grouped(failure.text(given), given)}[{index}]"))]
    reason = (
        "`dynamic_update_slice` writes a piece into an array; the piece may be as large as the array along each axis, "
        f"and no larger. {failure.types(failure.expression)}"
    )
    title = f"what is written, {match[1]}, is larger than the array, {match[2]}"
    return Explanation("piece", title, reason.strip(), tuple(cures), api_page("jax.lax.dynamic_update_slice"))


def _selected(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """`select` with a value more or less than there are conditions."""
    call = failure.calls("select")
    asked, values = argument(call, 0, "condlist"), argument(call, 1, "choicelist")
    if not isinstance(asked, (ast.List, ast.Tuple)) or not isinstance(values, (ast.List, ast.Tuple)) or call is None:
        return None
    conditions, given = ([failure.text(one) for one in side.elts] for side in (asked, values))
    both = min(len(conditions), len(given))
    rest = "".join(f", {one}" for one in given[both : both + 1])
    code = f"{failure.text(call.func)}([{', '.join(conditions[:both])}], [{', '.join(given[:both])}]{rest})"
    told = "Give the last on its own, for where none is true:" if rest else "Leave out the condition without a value:"
    cures = (Cure(told, failure.with_(call, code)),) if abs(len(conditions) - len(given)) == 1 else ()
    reason = (
        "`select` takes, for each place, the value that belongs to the first condition that is true there, so that "
        f"each condition has a value. Here are {len(conditions)} conditions and {len(given)} values."
    )
    return Explanation(
        "select", "`select` wants a value for each condition", reason, cures, api_page("jax.numpy.select")
    )


def _not_square(failure: Failure, match: re.Match[str]) -> Explanation:
    """A matrix with other sizes for its rows and its columns: its inverse for least squares, or what is square."""
    call, name, shape = failure.find(ast.Call), match[1].rpartition(".")[2], match[2]
    cures = []
    if call is not None and name == "inv" and last_name(call.func) == "inv":
        text = "For least squares, the inverse of what is not square:"
        cures = [Cure(text, failure.with_(call.func, "jnp.linalg.pinv"))]
    elif call is not None and call.args:
        text = grouped(failure.text(call.args[0]), call.args[0])
        cures = [Cure("Of any matrix, this is square:", failure.with_(call.args[0], f"{text} @ {text}.T"))]
    reason = (
        f"Only a matrix with as many rows as columns has an inverse, a determinant or eigenvalues. The last two axes "
        f"of {shape} differ. {failure.types(call)}"
    )
    title = f"`{name}` wants a square matrix, and this is {shape}"
    return Explanation("square", title, reason.strip(), tuple(cures), api_page("jax.numpy.linalg.lstsq"))


def _squeezed(failure: Failure, match: re.Match[str]) -> Explanation:
    shape, axis = match[1], match[2]
    reason = (
        f"`squeeze` removes axes of size 1, for nothing is lost by that. The shape is {shape}, of which axis {axis} "
        "holds more."
    )
    call = failure.calls("squeeze")
    cures: tuple[Cure, ...] = ()
    if call is not None and axis.isdigit():
        of_method = isinstance(call.func, ast.Attribute) and is_array(failure.value(call.func.value))
        array = call.func.value if of_method and isinstance(call.func, ast.Attribute) else call.args[0]
        text = grouped(failure.text(array), array)
        cures = (
            Cure("Take one entry of it, here the first:", failure.with_(call, f"{text}[{':, ' * int(axis)}0]")),
            Cure("Or remove the axes that have size 1:", failure.with_(call, f"jnp.squeeze({failure.text(array)})")),
        )
    return Explanation("squeeze", f"axis {axis} is not of size 1", reason, cures, api_page("jax.numpy.squeeze"))


CASES = (
    plain(
        "broadcast to",
        _BOTH,
        r"Incompatible types for broadcasting: input type=\w+(\[[\d,]*\]) and requested type=\w+(\[[\d,]*\])"
        r"|Incompatible shapes for broadcasting: (\([\d, ]*\)) and requested shape (\([\d, ]*\))",
        "the shape $1$3 cannot be stretched to $2$4",
        "Only an axis of size 1 can be repeated, and new axes come at the front: from the last axis on, $1$3 must have "
        "the sizes of $2$4, or 1. $types",
        [],
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
    Case("view", ("TypeError",), r"Cannot interpret '(-?\d+)' as a data type", _viewed),
    Case("sizes", ("TypeError",), r"shape argument of [\w.]+ must be a sequence, got (\d+)", _one_size),
    Case("arrays one by one", ("TypeError",), r"takes (?:from )?\d[\w ]* positional arguments? but", _arrays_alone),
    Case("view", ("NotImplementedError",), r"argument of array\.view\(\) is not supported", _viewed),
    Case("concatenation", _BOTH, r"Zero-dimensional arrays cannot be concatenated", _of_numbers),
    Case(
        "squeeze",
        _BOTH,
        r"cannot select an axis to squeeze out which has size not equal to one, got shape=(\([\d, ]*\)) and "
        r"dimensions=\(([\d, ]*?),?\)",
        _squeezed,
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
    Case(
        "piece",
        _BOTH,
        r"dynamic_update_slice update shape must be smaller than operand shape, got update shape (\(.*?\)) for "
        r"operand shape (\(.*?\))",
        _too_large_piece,
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
    Case(
        "square",
        _BOTH,
        r"[Aa]rgument to (?:\w+ )*_?([\w.]+)(?:\(\))? must have shape \[\.\.\., n, n\], "
        r"got (?:shape )?(\(?\[?[\d, ]*\]?\)?)",
        _not_square,
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
    Case("select", ("ValueError",), r"condlist must have length equal to choicelist", _selected),
    Case("padding", _BOTH, r"pad_width with nd=(\d+) has unsupported shape", _padding),
)
