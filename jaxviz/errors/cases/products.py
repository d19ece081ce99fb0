"""Products and convolutions of arrays whose sizes do not fit, written out or inside a layer of a library."""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

from jaxviz.arrays import is_array
from jaxviz.errors.cases.given import argument
from jaxviz.errors.cases.makers import made_for
from jaxviz.errors.cases.operands import Shape, as_operand, operands_of, shape_of, shapes_in, written_with
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, plain
from jaxviz.errors.failure import Failure, last_name, type_text
from jaxviz.errors.rewriting import grouped, with_keyword
from jaxviz.errors.trial import cannot_work, given_by

_BOTH = ("TypeError", "ValueError")


def _contraction(failure: Failure, match: re.Match[str]) -> Explanation | None:
    sides = operands_of(failure)
    if failure.library or sides is None:
        return _inside(failure)
    left, right, node = sides
    met = failure.met
    a = shape_of(failure, left, tuple(met[0].shape) if met else None)
    b = shape_of(failure, right, tuple(met[1].shape) if met else None)
    names = failure.text(left), failure.text(right)
    cures: list[Cure] = []
    if a is not None and b is not None and len(a) <= 2 and len(b) <= 2:
        turned: list[Callable[[Shape], Shape]] = [lambda shape: shape, lambda shape: shape[::-1]]
        for turn, one in zip(turned, (names[0], f"{as_operand(left, names[0])}.T"), strict=True):
            for other_turn, other in zip(turned, (names[1], f"{as_operand(right, names[1])}.T"), strict=True):
                x, y = turn(a), other_turn(b)
                # To turn what has one axis changes nothing.
                idle = (len(a) < 2 and one != names[0]) or (len(b) < 2 and other != names[1])
                if idle or (one, other) == names or x[-1:] != (y[:1] if len(y) == 1 else y[-2:-1]):
                    continue
                result = (*x[:-1], *y[:-2], *y[-1:]) if len(y) > 1 else x[:-1]
                how = "Or otherwise" if cures else "Transpose so that the inner sizes are equal"
                turned_code = written_with(failure, node, left, right, (one, other))
                cures.append(Cure(f"{how}; this gives {result}:", turned_code))
        if len(a) == len(b) == 2 and b[1] == a[0]:
            swapped = (grouped(names[1], right), grouped(names[0], left))
            told = f"Put them in the other order; this gives {(b[0], a[1])}:"
            cures.insert(0, Cure(told, written_with(failure, node, left, right, swapped)))
        elif len(a) == len(b) == 2 and a[1] == b[1]:
            # As layers do it: rows of examples by rows of weights.
            swapped = (grouped(names[1], right), f"{as_operand(left, names[0])}.T")
            told = f"Or in the other order; this gives {(b[0], a[0])}:"
            cures.append(Cure(told, written_with(failure, node, left, right, swapped)))
    sizes = shapes_in(failure.message)
    inner = f"{sizes[0][0]} and {sizes[1][0]}" if len(sizes) > 1 and sizes[0] and sizes[1] else "different"
    kinds = f"`{names[0]}` is {a} and `{names[1]}` is {b}. " if a is not None and b is not None else ""
    reason = (
        f"{kinds}A product of matrices sums over the last axis of the first and the second last of the second, "
        f"which must have one size; here they are {inner}."
    )
    if not kinds:
        reason = f"The two sides are multiplied along one axis each. {reason}"
    if len(sizes) > 1 and len(sizes[0]) == len(sizes[1]) == 1:
        (here,), (there,) = sizes[:2]
        made = made_for(failure, right, there, here) or made_for(failure, left, here, there)
        shortened = _flattened(failure, sides, a, there) or _shortened(failure, sides, (a, b), min(here, there))
        cures = [*([made] if made is not None else []), *(cures or shortened)]
    return Explanation(
        "contraction",
        f"the inner sizes of `{names[0]}` and `{names[1]}` differ",
        reason,
        tuple(cures[:2]),
        api_page("jax.numpy.matmul"),
    )


def _outermost_module(failure: Failure, call: ast.Call) -> tuple[Failure, ast.Call]:
    """The call of the whole model of Equinox inside of which a layer is called; the call itself where there is none."""
    for place in failure.own:
        there = failure.seen_from(place)
        outer = there.find(ast.Call)
        kinds = type(there.value(outer.func)).__mro__ if outer is not None else ()
        if outer is not None and any(kind.__module__.startswith("equinox") for kind in kinds):
            return there, outer
    return failure, call


def _flattened(
    failure: Failure, sides: tuple[ast.expr, ast.expr, ast.AST], shape: Shape | None, size: int
) -> list[Cure]:
    """A product in which the last axes of the first, such as the rows and columns of an image, are laid out as one."""
    left, right, node = sides
    for count in range(2, len(shape or ()) + 1):
        if shape is None or math.prod(shape[-count:]) != size:
            continue
        text = as_operand(left, failure.text(left))
        kept = {0: "", 1: f"{text}.shape[0], "}.get(len(shape) - count, f"*{text}.shape[:-{count}], ")
        code = written_with(failure, node, left, right, (f"{text}.reshape({kept}-1)", failure.text(right)))
        told = f"Its last {count} axes have {' x '.join(map(str, shape[-count:]))} = {size} entries. Make one of them:"
        return [Cure(told, code)]
    return []


def _shortened(
    failure: Failure, sides: tuple[ast.expr, ast.expr, ast.AST], shapes: tuple[Shape | None, Shape | None], size: int
) -> list[Cure]:
    """A product in which what both have is used: of the last axis of the first, and the second last of the second."""
    left, right, node = sides
    texts = []
    for side, shape, axis in ((left, shapes[0], -1), (right, shapes[1], -2)):
        if shape is None or not shape:
            return []
        at = axis if len(shape) > 1 else -1
        index = f"[{':, ' * (len(shape) + at)}:{size}]"
        text = failure.text(side)
        texts.append(text if shape[at] == size else f"{as_operand(side, text)}{index}")
    code = written_with(failure, node, left, right, (texts[0], texts[1]))
    return [Cure("No turning makes them fit. If the rest is not wanted, use what both have:", code)]


def _inside(failure: Failure) -> Explanation | None:
    """A product that a layer makes: it was made for another number of features than it is given."""
    call = failure.find(ast.Call)
    if call is None:
        return None
    written = failure.text(call)
    inside = f"Inside `{failure.library}`, " if failure.library else ""
    met = failure.met
    kinds = f"{inside}{type_text(met[0])} meets {type_text(met[1])}. " if met else inside and f"{inside[:-2]}. "
    sizes = shapes_in(failure.message)
    inner = f"{sizes[0][0]} and {sizes[1][0]}" if len(sizes) > 1 and sizes[0] and sizes[1] else "different"
    reason = (
        f"{kinds}{failure.types(call)} A product sums over an axis of each, which must have one size; here they are "
        f"{inner}."
    )
    cures: list[Cure] = []
    batched = [text for text, value in failure.arrays(call).items() if len(getattr(value, "shape", ())) > 1]
    if "/equinox/" in failure.library_path and batched:
        page = "https://docs.kidger.site/equinox/"
        text = "A layer of Equinox takes one example, without a batch axis. Map it over the batch:"
        there, outermost = _outermost_module(failure, call)
        cures.append(Cure(text, there.with_(outermost.func, f"jax.vmap({there.text(outermost.func)})")))
    else:
        page = api_page("jax.lax.dot_general")
    if len(sizes) > 1 and len(sizes[0]) == len(sizes[1]) == 1 and not cures:
        (one,), (other,) = sizes[:2]
        made = made_for(failure, call.func, other, one) or made_for(failure, call.func, one, other)
        cures += [made] if made is not None else _fewer(failure, call)
    return Explanation("contraction", f"the sizes inside `{_short(written)}` do not fit", reason, tuple(cures), page)


def _fewer(failure: Failure, call: ast.Call) -> list[Cure]:
    """`dot_general` along other axes, of one size; or of what both have, if there are none."""
    numbers = argument(call, 2, "dimension_numbers")
    shapes: list[Any] = [getattr(failure.value(one), "shape", None) for one in call.args[:2]]
    try:
        ((ones,), (others,)), (batch, _) = ast.literal_eval(failure.text(numbers))
    except (ValueError, SyntaxError, TypeError):
        return []
    if last_name(call.func) != "dot_general" or None in shapes or batch or numbers is None:
        return []
    pairs = [(i, j) for i, one in enumerate(shapes[0]) for j, other in enumerate(shapes[1]) if one == other]
    if pairs:
        (i, j), *_ = pairs
        code = failure.with_(numbers, f"((({i},), ({j},)), ((), ()))")
        return [Cure(f"Axis {i} of the first and axis {j} of the second have one size. Sum over these:", code)]
    size = min(shapes[0][ones], shapes[1][others])
    changes: dict[ast.AST, str] = {
        one: f"{as_operand(one, failure.text(one))}[{':, ' * axis}:{size}]"
        for one, shape, axis in zip(call.args[:2], shapes, (ones, others), strict=True)
        if shape[axis] != size
    }
    code = failure.with_(call, failure.source.replaced(call, changes)) if failure.source is not None else ""
    return [Cure("If the rest is not wanted, use what both have:", code)]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."


def _dot(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.find(ast.Call)
    module = call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None
    shapes = " and ".join(str(shape) for shape in shapes_in(failure.message)[:2])
    code = failure.with_(module, "jnp") if module is not None else "jnp.dot(a, b)"
    reason = f"The two sides have the shapes {shapes}, of which the axes to be summed over have different sizes. "
    reason += "jax.numpy says more about what fits."
    cure = Cure("Bring both to one size, and multiply:", code)
    return Explanation("dot", "the two sides of `dot` do not fit", reason, (cure,), api_page("jax.numpy.dot"))


# Einstein's sums.


def _einsum(failure: Failure, match: re.Match[str]) -> Explanation | None:
    call = failure.calls("einsum")
    if call is None:
        return None
    operands = call.args[1:]
    ranks = [len(value.shape) if is_array(value := failure.value(operand)) else None for operand in operands]
    told = ", ".join(
        f"`{failure.text(operand)}` has {rank}"
        for operand, rank in zip(operands, ranks, strict=True)
        if rank is not None
    )
    first = failure.text(call.args[0]) if call.args else '"..."'
    written = str(failure.value(call.args[0]) or "") if call.args else ""
    code = failure.with_(call.args[0], f'"{_fitted(failure, call, written, ranks)}"') if call.args else first
    kept = _in_front(written, ranks)
    fit = f": {told}" if told else ""
    reason = f"Each operand of `einsum` has one letter for each of its axes. {first} does not fit{fit}."
    cure = Cure("Use as many letters as there are axes, equal ones for axes that belong together:", code)
    if kept:
        code = failure.with_(call.args[0], f'"{kept}"')
        cure = Cure("If what it has more is a batch, in front, say so with `...`; it stays in the result:", code)
    return Explanation(
        "einsum", f"the subscripts {first} do not fit the operands", reason, (cure,), api_page("jax.numpy.einsum")
    )


def _in_front(written: str, ranks: list[int | None]) -> str:
    """Subscripts by which further axes in front of the operands are kept; empty where none has more than letters, or
    one has less."""
    before, arrow, after = written.replace(" ", "").partition("->")
    terms = before.split(",")
    if not arrow or "." in written or len(terms) != len(ranks) or not all(rank is not None for rank in ranks):
        return ""
    further = [(rank or 0) - len(term) for rank, term in zip(ranks, terms, strict=True)]
    if min(further) < 0 or max(further) < 1:
        return ""
    wider = [f"...{term}" if more else term for term, more in zip(terms, further, strict=True)]
    return f"{','.join(wider)}->...{after}"


def _fitted(failure: Failure, call: ast.Call, written: str, ranks: list[int | None]) -> str:
    """Subscripts with as many letters for each operand as it has axes; those that are there are kept."""
    before, arrow, after = written.replace(" ", "").partition("->")
    terms = before.split(",")
    fresh = iter([letter for letter in _LETTERS if letter not in written])
    choices = []
    for place, rank in enumerate(ranks):
        term = terms[place] if place < len(terms) else ""
        count = rank if rank is not None else len(term)
        missing = "".join(next(fresh) for _ in range(count - len(term)))
        choices.append([missing + "".join(kept) for kept in itertools.combinations(term, min(count, len(term)))])
    tried = [list(one) for one in itertools.islice(itertools.product(*choices), 200)] or [[]]
    # Those with letters of one size each are best, and of these what keeps most of the result.
    found = max(
        tried,
        key=lambda one: (_sizes_fit(failure, call, one), len(set("".join(one)) & set(after)), -len(set("".join(one)))),
    )
    known = set("".join(found))
    return ",".join(found) + arrow + "".join(letter for letter in after if letter in known)


_LETTERS = "ijklmnopqrstuvwxyz"


def _einsum_size(failure: Failure, match: re.Match[str]) -> Explanation:
    letter, second, other = match[1], match[3], match[4]
    call = failure.calls("einsum")
    subscripts = failure.text(call.args[0]) if call is not None and call.args else "the subscripts"
    reason = (
        f"In {subscripts} the letter `{letter}` stands for one size, and it is {other} in one operand and {second} in "
        f"another. {failure.types(call)}"
    )
    code = subscripts
    given = failure.value(call.args[0]) if call is not None and call.args else None
    cures: list[Cure] = []
    if call is not None and isinstance(given, str):
        fresh = next(one for one in _LETTERS if one not in given)
        before, arrow, after = given.partition("->")
        terms = before.split(",")
        number = int(match[2])
        if number < len(terms):
            # The operand may stand the other way round.
            terms[number] = terms[number].strip()[::-1]
            code = failure.with_(call.args[0], f'"{",".join(terms)}{arrow}{after}"')
            if _sizes_fit(failure, call, terms):
                cures.append(Cure("With the axes of that operand the other way round they fit:", code))
            terms[number] = terms[number][::-1].replace(letter, fresh)
            code = failure.with_(call.args[0], f'"{",".join(terms)}{arrow}{after}"')
            cures.append(
                Cure("Two axes that do not belong together have two letters; this sums over each alone:", code)
            )
    return Explanation(
        "einsum",
        f"`{letter}` stands for two sizes, {other} and {second}",
        reason,
        tuple(cures),
        api_page("jax.numpy.einsum"),
    )


def _sizes_fit(failure: Failure, call: ast.Call, terms: list[str]) -> bool:
    sizes: dict[str, int] = {}
    for operand, term in zip(call.args[1:], terms, strict=False):
        value = failure.value(operand)
        if not is_array(value) or len(value.shape) != len(term.strip()):
            return False
        for letter, size in zip(term.strip(), value.shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                return False
    return True


# Convolutions.


def _channels(failure: Failure, match: re.Match[str]) -> Explanation:
    given, groups, wanted = match[1], int(match[2]), match[3]
    call = failure.find(ast.Call)
    met = failure.met
    kinds = f"The image is {type_text(met[0])} and the kernel {type_text(met[1])}. " if met else ""
    reason = (
        f"{kinds}Each filter of a convolution reads all channels of the image: the image has {given}"
        f"{f' in {groups} groups' if groups > 1 else ''}, and the kernel is made for {wanted}."
    )
    cures = tuple(_orders(failure, call, groups))
    return Explanation(
        "convolution",
        f"an image of {given} channels meets a kernel for {wanted}",
        reason,
        cures[:1],
        api_page("jax.lax.conv_general_dilated"),
    )


def _orders(failure: Failure, call: ast.Call | None, groups: int) -> Iterator[Cure]:
    """The same convolution with the axes in another order, where it is then of one number of channels."""
    if call is None or not call.args:
        return
    name, function = last_name(call.func), failure.text(call.func)
    if name in ("conv", "conv_general_dilated"):
        for image, kernel in _likely(failure, groups):
            told = with_keyword(failure, call, "dimension_numbers", str((image, kernel, image)))
            if name == "conv":
                # This one is not told an order.
                told = f"{function.removesuffix(name) or 'jax.lax.'}conv_general_dilated{told.removeprefix(function)}"
            code = failure.with_(call, told)
            if not cannot_work(failure, code):
                yield Cure(f"Say in which order the axes are, {image} of the image and {kernel} of the kernel:", code)
        return
    image = failure.text(call.args[0])
    for at, to in ((-1, 1), (1, -1)):
        code = failure.with_(call.args[0], f"jnp.moveaxis({image}, {at}, {to})")
        if not cannot_work(failure, code):
            yield Cure("Bring the channels to where they are looked for:", code)


def _likely(failure: Failure, groups: int) -> list[tuple[str, str]]:
    """In which orders the axes of the image and of the kernel may be, as letters, the likeliest first: a kernel is
    mostly as wide as high, smaller than the image, and has its channels on the same side."""
    if failure.met is None:
        return []
    image, kernel = (one.shape for one in failure.met)
    if len(image) != len(kernel) or not 3 <= len(image) <= 5:
        return []
    moved = "DHW"[5 - len(image) :]

    def unlikely(order: tuple[str, str]) -> tuple[bool, bool, bool]:
        sizes = [kernel[order[1].index(letter)] for letter in moved]
        wide = [image[order[0].index(letter)] for letter in moved]
        smaller = all(one <= other for one, other in zip(sizes, wide, strict=True))
        return not smaller, len({*sizes}) > 1, order[0].endswith("C") != order[1].endswith("IO")

    orders = itertools.product((f"NC{moved}", f"N{moved}C"), (f"OI{moved}", f"{moved}IO"))
    fitting = [one for one in orders if image[one[0].index("C")] == groups * kernel[one[1].index("I")]]
    return sorted(fitting, key=unlikely)


def _ranks(failure: Failure, match: re.Match[str]) -> Explanation:
    """An image and a kernel with different numbers of axes: mostly one of them lacks the batch, or the channels."""
    ranks = int(match[1]), int(match[2])
    call = failure.find(ast.Call)
    given = [one for one in call.args[:2] if not isinstance(one, ast.Starred)] if call is not None else []
    met = failure.met
    kinds = f"The image is {type_text(met[0])} and the kernel {type_text(met[1])}. " if met else ""
    cures: list[Cure] = []
    if call is not None and len(given) == 2 and abs(ranks[0] - ranks[1]) == 1 and failure.source is not None:
        lacking = given[0] if ranks[0] < ranks[1] else given[1]
        text = as_operand(lacking, failure.text(lacking))
        for where, form in (("in front", f"{text}[None]"), ("at its end", f"{text}[..., None]")):
            made = given_by(failure, failure.source.replaced(call, {lacking: form}))
            if made is not None:
                told = f"Give the one that lacks an axis one {where}; this gives {type_text(made)}:"
                cures.append(Cure(told, failure.with_(lacking, form)))
    reason = (
        f"{kinds}An image has a batch and a channel axis beside those that the kernel is moved along, and a kernel one "
        "for the channels that it reads and one for those that it makes: both have equally many."
    )
    title = f"an image of {ranks[0]} axes meets a kernel of {ranks[1]}"
    return Explanation("convolution", title, reason, tuple(cures), api_page("jax.lax.conv_general_dilated"))


CASES = (
    Case("convolution", _BOTH, r"convolution requires lhs and rhs ndim to be equal, got (\d+) and (\d+)", _ranks),
    Case("contraction", _BOTH, r"contracting dimensions to have the same shape|contracting dimension", _contraction),
    Case(
        "einsum",
        _BOTH,
        r"Size of label '(\w)' for operand (\d+) \((\d+)\) does not match previous terms \((\d+)\)",
        _einsum_size,
    ),
    Case("einsum", _BOTH, r"Einstein sum subscript|Number of einsum subscripts", _einsum),
    plain(
        "einsum",
        _BOTH,
        r"Output character '?(\w)'? did not appear in the input|einstein sum subscripts string included output "
        r"subscript '?(\w)",
        "`$1` is in the result of `einsum` and in no operand",
        "Every letter of the result says which axis of an operand it is; `$1` is in none of them. $types",
        [("To make a new axis, broadcast afterwards:", "jnp.broadcast_to(result[..., None], (*result.shape, N))")],
        api_page("jax.numpy.einsum"),
    ),
    Case("dot", _BOTH, r"dimension_numbers must be specified when not|Incompatible shapes for dot", _dot),
    Case(
        "convolution",
        _BOTH,
        r"lhs feature dimension size divided by feature_group_count must equal the rhs input feature dimension size, "
        r"but (\d+) // (\d+) != (\d+)",
        _channels,
    ),
    plain(
        "operand of one number",
        ("ValueError", "TypeError"),
        r"matmul input operand (\d) must have ndim at least 1",
        "a product of matrices is given one number",
        "`@` and `matmul` sum over an axis of both sides, and one number has none. $types",
        [("Multiply by a number with:", "x * number")],
        api_page("jax.numpy.matmul"),
    ),
)
