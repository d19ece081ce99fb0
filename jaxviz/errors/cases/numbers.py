"""Python or NumPy asks a traced value for its number: float, range, an index of a list, a length, an array of NumPy."""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import replace

from jaxviz.errors.cases.carries import Loop
from jaxviz.errors.cases.formats import shown_later
from jaxviz.errors.cases.given import parameter_of
from jaxviz.errors.cases.left_loops import may_end
from jaxviz.errors.cases.outside import computed_before
from jaxviz.errors.cases.tables import taken_by
from jaxviz.errors.cases.turns import turns_in_python
from jaxviz.errors.cases.values import depends, stand_ins, static_cures
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, error_page
from jaxviz.errors.failure import Failure, is_array, last_name
from jaxviz.errors.source import names_assigned, names_read
from jaxviz.errors.trial import given_by


def told(failure: Failure, case: str, title: str, why: str, cures: tuple[Cure, ...], link: str = "") -> Explanation:
    reason = f"{stand_ins(failure, failure.expression)} {why} {depends(failure)}."
    return Explanation(case, title, reason, cures, failure.link or link)


# Conversions.

_CONVERSIONS = ("float", "int", "complex")


def _converted(failure: Failure, _: re.Match[str]) -> Explanation | None:
    call = failure.calls(*_CONVERSIONS)
    if call is None or not call.args:
        return _of_math(failure)
    name, inner = last_name(call.func), failure.text(call.args[0])
    simple = isinstance(call.args[0], (ast.Name, ast.Call, ast.Attribute, ast.Subscript))
    value = inner if simple else f"({inner})"
    code = failure.with_(call, value if name == "float" else f"{value}.astype({name})")
    looked = failure.source.parent(call) if failure.source is not None else None
    loop = failure.statement
    if isinstance(loop, ast.For) and looked is loop.iter and isinstance(looked, ast.Call):
        return _range(failure, loop, looked)
    if (
        isinstance(looked, ast.Subscript)
        and looked.slice is call
        and isinstance(failure.value(looked.value), (dict, list, tuple))
    ):
        code = taken_by(failure, looked, f"{value}.astype({name})")
    title = f"`{name}(...)` needs the number behind `{inner}` while JAX traces"
    why = f"A number of Python can be made only of a number, and that {depends(failure)}."
    static = static_cures(failure)
    kept = shown_later(failure, call, inner) or Cure("Keep the array; it computes as a number does:", code)
    return Explanation(
        "conversion",
        title,
        f"{stand_ins(failure, call)} {why}",
        (kept, *static) if not _is_size(failure) else static or computed_before(failure, call),
        failure.link or error_page("ConcretizationTypeError"),
    )


# What takes sizes, which no array can be.
_SIZED = {
    "arange",
    "broadcast_to",
    "empty",
    "eye",
    "full",
    "linspace",
    "ones",
    "range",
    "repeat",
    "reshape",
    "tile",
    "zeros",
}


def _is_size(failure: Failure) -> bool:
    """Whether the number that is made is the size of something further on."""
    source, statement = failure.source, failure.statement
    if source is None or not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    name = statement.targets[0].id
    for around in source.around(statement):
        if isinstance(around, ast.FunctionDef):
            calls = [one for one in ast.walk(around) if isinstance(one, ast.Call) and last_name(one.func) in _SIZED]
            return any(name in names_read(argument) for call in calls for argument in call.args)
    return False


def _of_math(failure: Failure) -> Explanation | None:
    """A function of Python's `math`, which works on numbers."""
    call = failure.find(ast.Call)
    module = call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None
    if call is None or module is None or getattr(failure.value(module), "__name__", "") != "math":
        return None
    function, value = failure.text(call.func), ", ".join(failure.text(argument) for argument in call.args)
    code, statement = failure.with_(module, "jnp"), failure.statement
    if statement is not None and failure.source is not None and not hasattr(statement, "body"):
        # The others of the statement would ask next.
        others = [one.func for one in ast.walk(statement) if isinstance(one, ast.Call) and failure.traced(one)]
        modules = [one.value for one in others if isinstance(one, ast.Attribute)]
        same = [one for one in modules if getattr(failure.value(one), "__name__", "") == "math"]
        code = failure.source.replaced(statement, dict.fromkeys(same or [module], "jnp"))
    cure = Cure("Use the function of jax.numpy, which becomes part of the program:", code)
    title = f"`{function}` needs the number behind `{value}` while JAX traces"
    why = "Python's `math` computes with numbers at once, and this one"
    return told(failure, "conversion", title, why, (cure,), error_page("ConcretizationTypeError"))


def _taken_out(failure: Failure, match: re.Match[str]) -> Explanation | None:
    name = match[1]
    call = failure.calls(name)
    if call is None and (found := failure.find(ast.Call)) is not None and last_name(found.func):
        call, name = found, last_name(found.func)
    inner = failure.text(call.func.value) if call is not None and isinstance(call.func, ast.Attribute) else "x"
    code = failure.with_(call, inner) if call is not None else inner
    title = f"`.{name}()` needs the numbers behind `{inner}` while JAX traces"
    why = f"`.{name}()` makes a number of Python out of a value, and that"
    outside = f"result = {failure.name}(...)\nresult.{name}()  # outside of the function, where there are numbers"
    cures = (
        shown_later(failure, call, inner) or Cure("Keep the array; it computes as a number does:", code),
        Cure("Or take it out of the result:", outside),
    )
    return told(
        failure, "taken out", title, why, (*cures, *static_cures(failure)), error_page("ConcretizationTypeError")
    )


# Lengths that depend on values.

# The parameter that fixes the length of a result, by function.
_SIZES = {
    "nonzero": "size",
    "flatnonzero": "size",
    "argwhere": "size",
    "where": "size",
    "unique": "size",
    "unique_values": "size",
    "union1d": "size",
    "intersect1d": "size",
    "setdiff1d": "size",
    "bincount": "length",
    "repeat": "total_repeat_length",
    "extract": "size",
}


def _size(failure: Failure, _: re.Match[str]) -> Explanation | None:
    call = failure.calls(*_SIZES)
    if call is None or any(keyword.arg == _SIZES[last_name(call.func)] for keyword in call.keywords):
        return None
    name = last_name(call.func)
    written, parameter = failure.text(call), _SIZES[name]
    array = call.args[0] if call.args else None
    names = [one for one in failure.traced(array) if is_array(failure.variables[one])]
    size = {"bincount": "N", "repeat": "N"}.get(name, f"{names[0]}.size" if names else "N")
    code = failure.with_(call, f"{written[:-1].rstrip().rstrip(',')}, {parameter}={size})")
    cures = list(static_cures(failure)) or [
        Cure(f"Give the length that the result shall have; what is left over is filled up ({parameter}=):", code)
    ]
    counts = call.args[1] if name == "repeat" and len(call.args) > 1 else None
    if counts is not None and not failure.traced(counts):
        # What is computed of nothing that is traced can be computed by NumPy, at once.
        known = failure.with_(counts, failure.text(counts).replace("jnp.", "np."))
        cures.insert(0, Cure("Compute the counts with NumPy, which JAX does not trace:", known))
    if name in ("nonzero", "where", "flatnonzero", "argwhere") and array is not None:
        cures.append(Cure("Or keep the shape and compute with a mask:", f"jnp.where({failure.text(array)}, values, 0)"))
    title = f"`{name}` gives an array whose length depends on values"
    reason = (
        f"{stand_ins(failure, call)} The shape of every array must be known then, but how many elements `{written}` "
        f"has {depends(failure)}."
    )
    return Explanation("length", title, reason, tuple(cures), failure.link or error_page("ConcretizationTypeError"))


def length(failure: Failure, _: re.Match[str]) -> Explanation:
    call = failure.find(ast.Call)
    written = failure.text(call) or "the array"
    if call is not None and last_name(call.func) == "delete" and call.args:
        return _deleted(failure, call)
    title = f"the shape of `{written}` depends on a value"
    static = static_cures(failure)
    why = "The shape of every array must be known then, but this one"
    return told(
        failure,
        "shape from a value",
        title,
        why,
        static or _of_a_shape(failure, call),
        error_page("ConcretizationTypeError"),
    )


def _number_for_shape(failure: Failure, _: re.Match[str]) -> Explanation | None:
    """One traced number for a shape, which a function of JAX takes apart, as of `jax.random.normal(key, n)`."""
    call = failure.find(ast.Call)
    shape = parameter_of(failure, call, "shape")
    if call is None or shape is None or not failure.traced(shape):
        return None
    given = given_by(failure, failure.text(shape))
    if given is not None and getattr(given, "shape", None) != ():
        return None
    traced = failure.traced(shape)
    arrays = [name for name in traced if getattr(failure.variables[name], "shape", ())]
    text = "Take a shape that is known while tracing, and mask what is too much:"
    of_array = tuple(Cure(text, failure.with_(shape, f"{name}.shape")) for name in arrays[:1])
    title = f"the shape of `{failure.text(call)}` depends on a value"
    why = f"The shape of every array must be known then, but `{failure.text(shape)}`"
    cures = static_cures(failure, traced) or of_array
    return told(failure, "shape from a value", title, why, cures, error_page("ConcretizationTypeError"))


def _deleted(failure: Failure, call: ast.Call) -> Explanation:
    array = failure.text(call.args[0])
    index = failure.text(call.args[1]) if len(call.args) > 1 else "index"
    cures = (
        Cure(
            "Keep the shape, and put a number where something is left out:",
            f"{array}.at[{index}].set(0)",
        ),
        Cure(
            "Or, of indices that are all different, say so; the length is then known:",
            failure.with_(call, f"{failure.text(call)[:-1].rstrip()}, assume_unique_indices=True)"),
        ),
    )
    title = f"the length of `{failure.text(call)}` depends on a value"
    why = "The shape of every array must be known then, but how many different indices there are"
    return told(failure, "shape from a value", title, why, cures, api_page("jax.numpy.delete"))


def _asked_length(failure: Failure, call: ast.Call | None) -> str:
    """Of the arguments of a call, the length that is not known."""
    arguments = [
        part
        for argument in (call.args if call is not None else [])
        for part in (argument.elts if isinstance(argument, (ast.Tuple, ast.List)) else [argument])
        if failure.traced(part)
    ]
    numbers = [part for part in arguments if getattr(failure.value(part), "shape", None) == ()]
    found = numbers or arguments[-1:]
    return failure.text(found[0]) if found else "n"


def _of_a_shape(failure: Failure, call: ast.Call | None) -> tuple[Cure, ...]:
    """The length of the array that a length is computed from, in the call that asks for it."""
    if call is None:
        return ()
    asked_for = _asked_length(failure, call)
    arrays = [name for name in failure.causes if getattr(failure.variables.get(name), "shape", ())]
    parts = [part for argument in call.args for part in ast.walk(argument) if isinstance(part, ast.expr)]
    found = next((part for part in parts if failure.text(part) == asked_for), None)
    if found is None or not arrays or asked_for == arrays[0]:
        return ()
    text = "Take the length from a shape, which is known while tracing, and mask what is too much:"
    return (Cure(text, failure.with_(found, f"{arrays[0]}.shape[0]")),)


def _slice(failure: Failure, _: re.Match[str]) -> Explanation | None:
    node = failure.find(ast.Subscript)
    if node is None:
        return None
    slices = [one for one in getattr(node.slice, "elts", [node.slice]) if isinstance(one, ast.Slice)]
    part = next((one for one in slices if failure.traced(one)), slices[0] if slices else None)
    if part is None:
        return None
    title = f"the length of `{failure.text(node)}` depends on a value"
    cures = _slice_cures(failure, node, part)
    listed = ", ".join(f"`{name}`" for name in failure.causes or failure.traced(part)) or "a value"
    reason = (
        f"{stand_ins(failure, node)} The shape of every array must be known then, but how many elements this slice "
        f"has depends on {listed}, known only when the program runs."
    )
    static = static_cures(failure, failure.traced(part))
    return Explanation("slice", title, reason, (*static, *cures), api_page("jax.lax.dynamic_slice_in_dim"))


def _slice_cures(failure: Failure, node: ast.Subscript, part: ast.Slice) -> list[Cure]:
    """All of the axis, masked; of a slice whose length does not depend on where it begins, that many elements."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    others = [one for one in parts if one is not part]
    plain = all(isinstance(one, ast.Slice) and not (one.lower or one.upper or one.step) for one in others)
    array, held = failure.text(node.value), failure.value(node.value)
    if not plain or part.step is not None or not isinstance(node.value, (ast.Name, ast.Attribute, ast.Subscript)):
        return []
    axis = parts.index(part)
    after = len(held.shape) - axis - 1 if is_array(held) else 0
    size = f"{array}.shape[{axis}]"
    start, stop = (_from_start(failure, one, size) for one in (part.lower, part.upper))
    places = f"jnp.arange({size})" + (f"[:, {', '.join(['None'] * after)}]" if after else "")
    asked = [f"({places} >= {start})"] * (part.lower is not None) + [f"({places} < {stop})"] * (part.upper is not None)
    mask = " & ".join(asked)
    cures = []
    width = _width(failure, part)
    if width:
        among = f", axis={axis}" if axis else ""
        cures.append(
            Cure(
                "Take that many elements from a place that is computed:",
                failure.with_(node, f"jax.lax.dynamic_slice_in_dim({array}, {start or 0}, {width}{among})"),
            )
        )
    text = "Or keep the shape, and leave out" if cures else "Keep the shape, and leave out"
    masked = failure.with_(node, f"jnp.where({mask}, {array}, 0)")
    return [*cures, Cure(f"{text} by a mask what is not wanted:", masked)]


def _from_start(failure: Failure, bound: ast.expr | None, size: str) -> str:
    """A bound of a slice, counted from the beginning."""
    if isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub):
        return f"{size} - {failure.text(bound.operand)}"
    return failure.text(bound)


def _width(failure: Failure, part: ast.Slice) -> str:
    """How many elements `x[i:i + 3]` has."""
    start, stop = part.lower, part.upper
    if start is None or not isinstance(stop, ast.BinOp) or not isinstance(stop.op, ast.Add):
        return ""
    for one, other in ((stop.left, stop.right), (stop.right, stop.left)):
        if ast.dump(one) == ast.dump(start) and not failure.traced(other):
            return failure.text(other)
    return ""


# Python's range and lists.


def _index(failure: Failure, _: re.Match[str]) -> Explanation:
    loop = failure.statement
    call = failure.calls("range")
    if isinstance(loop, ast.For) and call is not None and loop.iter is call:
        return _range(failure, loop, call)
    node = failure.find(ast.Subscript)
    if node is not None:
        return _item(failure, node)
    title = f"Python needs `{failure.text(failure.expression) or 'a traced value'}` as a whole number while JAX traces"
    code = failure.with_(failure.expression, "N") if failure.expression is not None else "N"
    cure = Cure("Use a number of Python that is known while tracing:", f"{code}  # such as x.shape[0]")
    why = "Python needs a whole number there, and that"
    cures = (*static_cures(failure), cure)
    return told(failure, "index", title, why, cures, error_page("TracerIntegerConversionError"))


def _range(failure: Failure, loop: ast.For, call: ast.Call) -> Explanation:
    turn = failure.text(loop.target)
    bounds = [_bound(failure, argument) for argument in call.args]
    start, stop = ("0", bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
    carried = [name for name in names_assigned(loop.body) if name in failure.variables]
    names = ", ".join(carried) or "carry"
    body = textwrap.indent("\n".join(failure.text(statement) for statement in loop.body), "    ")
    one = len(carried) <= 1
    received = f"{turn}, {names}" if one else f"{turn}, carry"
    unpacked = "" if one else f"    {names} = carry\n"
    first = names if one else f"({names})"
    code = (
        f"def body({received}):\n{unpacked}{body}\n    return {names}\n\n"
        f"{names} = jax.lax.fori_loop({start}, {stop}, body, {first})"
    )
    title = f"Python's `range` needs the number behind `{stop}` while JAX traces"
    why = "Python must know how many turns there are, and that"
    cures = static_cures(failure)
    if carried and not may_end(loop):
        cures = (Cure("Let the program loop; what changes from turn to turn is carried:", code), *cures)
    return told(failure, "range", title, why, cures, error_page("TracerIntegerConversionError"))


def _bound(failure: Failure, argument: ast.expr) -> str:
    """A bound of a loop that the program makes: what is made a number of Python stays an array."""
    made = isinstance(argument, ast.Call) and last_name(argument.func) == "int" and failure.traced(argument)
    if not made or not isinstance(argument, ast.Call) or len(argument.args) != 1:
        return failure.text(argument)
    inner = argument.args[0]
    text = failure.text(inner)
    return f"{text}.astype(int)" if not isinstance(inner, (ast.BinOp, ast.UnaryOp)) else f"({text}).astype(int)"


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
        cure = Cure("Give the number, and take the item outside, where it is known:", failure.with_(node, index))
    else:
        cure = Cure(
            "Make an array of them, which can be indexed by a traced value:",
            failure.with_(node.value, f"jnp.array({things})"),
        )
    title = f"Python needs `{index}` as a number to take an item out of `{things}`"
    kind = type(value).__name__ if value is not None else "list"
    why = f"An item of a Python {kind} can only be taken with a number, and `{index}`"
    return told(failure, "item", title, why, (cure, *static_cures(failure)), error_page("TracerIntegerConversionError"))


def _written_item(failure: Failure, node: ast.Subscript) -> Explanation:
    """`things[i] = value` for a list, in the body of a loop: turns that Python makes know their number."""
    things, index = failure.text(node.value), failure.text(node.slice)
    there, call = failure.calling("fori_loop", "scan")
    cures = turns_in_python(there, Loop(there)) if call is not None else []
    title = f"Python needs `{index}` as a number to write an item of `{things}`"
    why = f"An item of a Python list is written at a place that is a number, and `{index}`"
    outside = tuple(replace(cure, inside=False) for cure in cures)
    return told(failure, "item", title, why, outside, error_page("TracerIntegerConversionError"))


def _parameter(failure: Failure, match: re.Match[str]) -> Explanation:
    """A traced value for a parameter of an operation that is a part of the program: a shape, a count, a power."""
    operation, parameter = match[1], match[2]
    call = failure.find(ast.Call)
    written = failure.text(call) or operation
    counted = [name for name in failure.traced(call) if failure.static_among([name])]
    traced = counted[0] if counted else _asked_length(failure, call)
    title = f"`{parameter}` of `{operation}` must be known while JAX traces"
    shown = f" `{traced}` is computed from what is traced." if call is not None and traced in written else ""
    reason = (
        f"{stand_ins(failure, call)} How `{written}` works, and the shape that it gives, is a part of the program, so "
        f"`{parameter}` must be a number of Python.{shown}"
    )
    cures = [*static_cures(failure, counted)] if counted else []
    if operation == "integer_pow" and call is not None and len(call.args) > 1:
        code = failure.with_(call, f"{failure.text(call.args[0])} ** {failure.text(call.args[1])}")
        cures.append(Cure("Use an operator, which takes a traced power too:", code))
    return Explanation("shape from a value", title, reason, tuple(cures), error_page("ConcretizationTypeError"))


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


def _pickled(failure: Failure, _: re.Match[str]) -> Explanation:
    """A value that is written out while it is traced."""
    call = failure.find(ast.Call)
    written = failure.text(call) or "the value"
    names = failure.traced(call)
    title = f"`{written}` writes out a value that JAX traces"
    why = "To write a value out takes its numbers, and what they are"
    cures = []
    if call is not None and isinstance(failure.source.parent(call) if failure.source else None, ast.Expr) and names:
        given = ", ".join(names)
        code = f"jax.debug.callback(lambda {given}: {written}, {given})"
        cures = [Cure("Have it written while the program runs:", failure.with_(call, code))]
    return told(failure, "pickled", title, why, tuple(cures), error_page("ConcretizationTypeError"))


_CONCRETE = ("ConcretizationTypeError",)

CASES = (
    Case("pickled", _CONCRETE, r"__reduce__ method", _pickled),
    Case("conversion", _CONCRETE, r"problem arose with the `", _converted),
    Case("taken out", _CONCRETE, r"(item|tolist|__?\w+)\(\) method", _taken_out),
    Case("length", _CONCRETE, "", _size),
    Case("length by value", _CONCRETE, r"argument|num_classes|static", length),
    Case("concrete", _CONCRETE, "", _concrete),
    Case("number for a shape", ("TypeError",), r"iteration over a 0-d array", _number_for_shape),
    Case("length of a shape", ("TypeError",), r"Shapes must be 1D sequences of (?:concrete|integer)", length),
    Case(
        "slice", ("IndexError", "TypeError"), r"Slice entries must be static|must have static start/stop/step", _slice
    ),
    Case("index", ("TracerIntegerConversionError",), "", _index),
    Case("index of a float", ("TypeError",), r"Only integer scalar arrays can be converted to a scalar index", _index),
    Case("too large", ("OverflowError",), r"overflow|too large|out of bounds for", _too_large),
    Case(
        "shape from a value",
        ("TypeError",),
        r"In a call to primitive (\w+), the value of parameter (\w+) was not hashable: .*Tracer",
        _parameter,
    ),
)
