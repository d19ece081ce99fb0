"""Python asks a traced value for its whole number: range, an index of a list. And numbers that are too large."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from jaxviz.arrays import is_array
from jaxviz.errors.cases.loop import Loop
from jaxviz.errors.cases.outside import computed_before
from jaxviz.errors.cases.places import METHODS
from jaxviz.errors.cases.ranges import asked_of_range
from jaxviz.errors.cases.turns import turns_in_python
from jaxviz.errors.cases.values import depends, stand_ins, static_cures, told
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, error_page
from jaxviz.errors.failure import Failure


def _index(failure: Failure, _: re.Match[str]) -> Explanation:
    if (of_range := asked_of_range(failure)) is not None:
        return of_range
    node = failure.find(ast.Subscript)
    if node is not None:
        return _item(failure, node)
    product = failure.find(ast.BinOp)
    if product is not None and isinstance(product.op, ast.Mult) and (told_of := repeated(failure, product)):
        return told_of
    title = f"Python needs `{failure.text(failure.expression) or 'a traced value'}` as a whole number while JAX traces"
    code = failure.with_(failure.expression, "N") if failure.expression is not None else "N"
    cure = Cure("Use a number of Python that is known while tracing:", f"{code}  # such as x.shape[0]")
    why = "Python needs a whole number there, and that"
    cures = (*static_cures(failure), cure)
    return told(failure, "index", title, why, cures, error_page("TracerIntegerConversionError"))


def repeated(failure: Failure, product: ast.BinOp) -> Explanation | None:
    """A text or a list times a traced value, which Python takes for how often it is repeated."""
    sides = [(product.left, product.right), (product.right, product.left)]
    for things, number in sides:
        value = ast.literal_eval(things) if isinstance(things, ast.Constant) else failure.value(things)
        if not isinstance(value, (str, list, tuple)) and not isinstance(things, (ast.List, ast.Tuple)):
            continue
        text, times = failure.text(things), failure.text(number)
        title = f"Python needs the number behind `{times}` to repeat `{text}`"
        what = "Text" if isinstance(value, str) else "A list"
        why = f"{what} times something is repeated so often, and how often that is"
        cures: tuple[Cure, ...] = (*static_cures(failure, failure.traced(number)),)
        if isinstance(value, str):
            written = re.fullmatch(r"\s*(-?\d+(?:\.\d*)?)\s*", value)
            cures = (Cure("Write the number without quotes:", failure.with_(things, written[1])),) if written else ()
        elif not cures:
            cures = computed_before(failure, number)
        return told(failure, "index", title, why, cures, error_page("TracerIntegerConversionError"))
    return None


def _item(failure: Failure, node: ast.Subscript) -> Explanation:
    if isinstance(node.ctx, ast.Store):
        return _written_item(failure, node)
    things, index = failure.text(node.value), failure.text(node.slice)
    value = failure.value(node.value)
    parent = failure.source.parent(node) if failure.source is not None else None
    if isinstance(parent, ast.Call) and parent.func is node:
        arguments = "".join(f", {failure.text(argument)}" for argument in parent.args)
        cure = Cure(
            "Let the program choose the function:",
            failure.with_(parent, f"jax.lax.switch({index}, {things}{arguments})"),
        )
    elif isinstance(value, (list, tuple)) and any(callable(one) for one in value):
        cure = Cure("Let the program choose the function:", f"jax.lax.switch({index}, {things}, *arguments)")
    elif isinstance(value, (list, tuple)) and any(isinstance(one, (str, bytes, type(None))) for one in value):
        # Of text there are no arrays; who has the number outside has the item.
        outside = Cure("Give the number, and take the item outside, where it is known:", failure.with_(node, index))
        before = () if getattr(failure.statement, "value", None) is node else computed_before(failure, node.slice)
        cure = next(iter(before), outside)
    else:
        cure = Cure(
            "Make an array of them, which can be indexed by a traced value:",
            failure.with_(node.value, f"jnp.array({things})"),
        )
    title = f"Python needs `{index}` as a number to take an item out of `{things}`"
    kind = type(value).__name__ if value is not None else "list"
    why = f"An item of a Python {kind} can only be taken with a number, and `{index}`"
    return told(
        failure,
        "item",
        title,
        why,
        tuple(dict.fromkeys((cure, *static_cures(failure)))),
        error_page("TracerIntegerConversionError"),
    )


def _written_item(failure: Failure, node: ast.Subscript) -> Explanation:
    """`things[i] = value` for a list, in the body of a loop: turns that Python makes know their number."""
    things, index = failure.text(node.value), failure.text(node.slice)
    there, call = failure.calling("fori_loop", "scan")
    cures = turns_in_python(there, Loop(there)) if call is not None else []
    if call is None and (cure := _in_an_array(failure, node)) is not None:
        cures = [cure]
    title = f"Python needs `{index}` as a number to write an item of `{things}`"
    why = f"An item of a Python list is written at a place that is a number, and `{index}`"
    outside = tuple(replace(cure, inside=False) for cure in cures)
    return told(failure, "item", title, why, outside, error_page("TracerIntegerConversionError"))


def _in_an_array(failure: Failure, node: ast.Subscript) -> Cure | None:
    """The same for a list of numbers that the function itself made: an array, which takes a traced place."""
    statement, value, place = failure.statement, failure.value(node.value), failure.place
    if not isinstance(statement, (ast.Assign, ast.AugAssign)) or not isinstance(node.value, ast.Name) or place is None:
        return None
    method = METHODS.get(type(statement.op)) if isinstance(statement, ast.AugAssign) else "set"
    numbers = isinstance(value, list) and all(is_array(one) or isinstance(one, (int, float)) for one in value)
    if not method or not numbers or not value or node.value.id not in place.frame.f_code.co_varnames:
        return None
    things, index = failure.text(node.value), failure.text(node.slice)
    code = f"{things} = jnp.asarray({things}).at[{index}].{method}({failure.text(statement.value)})"
    return Cure("Make an array of it, of which a new one has the change in it:", code)


def _too_large(failure: Failure, match: re.Match[str]) -> Explanation:
    constants = [node for node in ast.walk(failure.statement or ast.Module([], [])) if isinstance(node, ast.Constant)]
    large: ast.expr | None = next(
        (node for node in constants if type(node.value) is int and abs(node.value) >= 2**31), None
    )
    said = re.search(r"with value (-?\d+)", failure.message)
    powers = [node for node in ast.walk(failure.statement or ast.Module([], [])) if isinstance(node, ast.BinOp)]
    if large is None:
        grown = [node for node in powers if isinstance(node.op, (ast.Pow, ast.LShift))]
        large = next((node for node in grown if isinstance(node.left, ast.Constant)), None)
    text = failure.text(large) or (said[1] if said else "the number")
    cures = []
    arrays = [value for value in failure.arrays(failure.statement).values() if value.dtype.name == "uint32"]
    number = large.value if isinstance(large, ast.Constant) else None
    if large is not None and arrays:
        # As hashes are computed: what does not fit falls away.
        fits = isinstance(number, int) and 0 <= number < 2**32
        told_as = f"jnp.uint32({text})" if fits else f"jnp.uint32(({text}) % 2**32)"
        cures.append(Cure("Say that it has 32 bits without a sign:", failure.with_(large, told_as)))
    code = (
        failure.with_(large, f"{text}.0" if isinstance(large, ast.Constant) else f"float({text})")
        if large
        else "jnp.float32(number)"
    )
    reason = f"Whole numbers have 32 bits in JAX unless it is told otherwise, up to 2,147,483,647. `{text}` needs more."
    if large is not None and not arrays:
        cures.append(Cure("Compute with floating-point numbers:", code))
    cures += [
        Cure(
            "Or have 64 bits everywhere, before anything else is computed:", 'jax.config.update("jax_enable_x64", True)'
        ),
    ]
    return Explanation(
        "too large", f"`{text}` does not fit into 32 bits", reason, tuple(cures), api_page("jax.enable_x64")
    )


def _concrete(failure: Failure, _: re.Match[str]) -> Explanation:
    """Any other value that is asked for; the words of JAX say by whom."""
    lines = failure.message.splitlines()
    asked = lines[1] if len(lines) > 1 and not lines[1].startswith("The error occurred") else ""
    title = f"`{failure.text(failure.expression) or failure.name}` needs a value while JAX traces"
    why = f"{asked.rstrip('.')}, but it" if asked else "Its value is asked for, and it"
    reason = f"{stand_ins(failure, failure.expression)} {why} {depends(failure)}."
    cures = static_cures(failure)
    return Explanation("concrete", title, reason, cures, failure.link or error_page("ConcretizationTypeError"))


CASES = (
    Case("concrete", ("ConcretizationTypeError",), "", _concrete),
    Case("index", ("TracerIntegerConversionError",), "", _index),
    Case("index of a float", ("TypeError",), r"Only integer scalar arrays can be converted to a scalar index", _index),
    Case("too large", ("OverflowError",), r"overflow|too large|out of bounds for", _too_large),
)
