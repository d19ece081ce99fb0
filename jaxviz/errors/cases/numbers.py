"""Python or NumPy asks a traced value for its number: float, range, an index of a list, a length, an array of NumPy."""

from __future__ import annotations

import ast
import re
import textwrap

from jaxviz.errors.cases.in_place import assigned, without
from jaxviz.errors.cases.values import depends, stand_ins, static_cures
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, error_page
from jaxviz.errors.failure import Failure, is_array, last_name
from jaxviz.errors.source import names_assigned


def _told(failure: Failure, case: str, title: str, why: str, cures: tuple[Cure, ...], link: str = "") -> Explanation:
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
    title = f"`{name}(...)` needs the number behind `{inner}` while JAX traces"
    why = f"A number of Python can be made only of a number, and that {depends(failure)}."
    return Explanation(
        "conversion",
        title,
        f"{stand_ins(failure, call)} {why}",
        (Cure("Keep the array; it computes as a number does:", code), *static_cures(failure)),
        failure.link or error_page("ConcretizationTypeError"),
    )


def _of_math(failure: Failure) -> Explanation | None:
    """A function of Python's `math`, which works on numbers."""
    call = failure.find(ast.Call)
    module = call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None
    if call is None or module is None or getattr(failure.value(module), "__name__", "") != "math":
        return None
    function, value = failure.text(call.func), ", ".join(failure.text(argument) for argument in call.args)
    cure = Cure("Use the function of jax.numpy, which becomes part of the program:", failure.with_(module, "jnp"))
    title = f"`{function}` needs the number behind `{value}` while JAX traces"
    why = "Python's `math` computes with numbers at once, and this one"
    return _told(failure, "conversion", title, why, (cure,), error_page("ConcretizationTypeError"))


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
        Cure("Keep the array; it computes as a number does:", code),
        Cure("Or take it out of the result:", outside),
    )
    return _told(
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
    cures = [Cure(f"Give the length that the result shall have; what is left over is filled up ({parameter}=):", code)]
    if name in ("nonzero", "where", "flatnonzero", "argwhere") and array is not None:
        cures.append(Cure("Or keep the shape and compute with a mask:", f"jnp.where({failure.text(array)}, values, 0)"))
    title = f"`{name}` gives an array whose length depends on values"
    reason = (
        f"{stand_ins(failure, call)} The shape of every array must be known then, but how many elements `{written}` "
        f"has {depends(failure)}."
    )
    return Explanation("length", title, reason, tuple(cures), failure.link or error_page("ConcretizationTypeError"))


def _length(failure: Failure, _: re.Match[str]) -> Explanation:
    call = failure.find(ast.Call)
    written = failure.text(call) or "the array"
    if call is not None and last_name(call.func) == "delete" and call.args:
        return _deleted(failure, call)
    title = f"the shape of `{written}` depends on a value"
    static = static_cures(failure)
    masked = (
        Cure(
            "Or make it as long as it can get, and mask what is too much:",
            f"jnp.where(jnp.arange(MOST) < {_asked_length(failure, call)}, values, 0)",
        ),
    )
    of_array = (
        Cure(
            "Take the length from a shape, which is known while tracing:",
            f"{_shape_of(failure)}  # a number of Python",
        ),
    )
    why = "The shape of every array must be known then, but this one"
    cures = (*static, *masked) if static else (*of_array, *masked)
    return _told(failure, "shape from a value", title, why, cures, error_page("ConcretizationTypeError"))


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
    return _told(failure, "shape from a value", title, why, cures, api_page("jax.numpy.delete"))


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


def _shape_of(failure: Failure) -> str:
    arrays = [name for name in failure.causes if getattr(failure.variables.get(name), "shape", ())]
    return f"n = {arrays[0] if arrays else 'x'}.shape[0]"


def _slice(failure: Failure, _: re.Match[str]) -> Explanation | None:
    node = failure.find(ast.Subscript)
    if node is None:
        return None
    array = failure.text(node.value)
    part = (
        node.slice
        if isinstance(node.slice, ast.Slice)
        else next((item for item in getattr(node.slice, "elts", []) if isinstance(item, ast.Slice)), None)
    )
    if part is None:
        return None
    start, stop = failure.text(part.lower) or "0", failure.text(part.upper)
    span = f"(jnp.arange({array}.shape[0]) >= {start})" if part.lower is not None else ""
    below = f"(jnp.arange({array}.shape[0]) < {stop})" if part.upper is not None else ""
    mask = " & ".join(text for text in (span, below) if text)
    title = f"the length of `{failure.text(node)}` depends on a value"
    cures = (
        Cure(
            "Keep the shape, and leave out by a mask what is not wanted:",
            failure.with_(node, f"jnp.where({mask}, {array}, 0)"),
        ),
        Cure(
            "Or take a fixed number of elements from a place that is computed:",
            failure.with_(node, f"jax.lax.dynamic_slice_in_dim({array}, {start}, SIZE)"),
        ),
    )
    listed = ", ".join(f"`{name}`" for name in failure.causes or failure.traced(part)) or "a value"
    reason = (
        f"{stand_ins(failure, node)} The shape of every array must be known then, but how many elements this slice "
        f"has depends on {listed}, known only when the program runs."
    )
    static = static_cures(failure, failure.traced(part))
    return Explanation("slice", title, reason, (*static, *cures), api_page("jax.lax.dynamic_slice_in_dim"))


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
    return _told(failure, "index", title, why, cures, error_page("TracerIntegerConversionError"))


def _range(failure: Failure, loop: ast.For, call: ast.Call) -> Explanation:
    turn = failure.text(loop.target)
    bounds = [failure.text(argument) for argument in call.args]
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
    cures = (Cure("Let the program loop; what changes from turn to turn is carried:", code), *static_cures(failure))
    return _told(failure, "range", title, why, cures, error_page("TracerIntegerConversionError"))


def _item(failure: Failure, node: ast.Subscript) -> Explanation:
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
    else:
        cure = Cure(
            "Make an array of them, which can be indexed by a traced value:",
            failure.with_(node.value, f"jnp.array({things})"),
        )
    title = f"Python needs `{index}` as a number to take an item out of `{things}`"
    kind = type(value).__name__ if value is not None else "list"
    why = f"An item of a Python {kind} can only be taken with a number, and `{index}`"
    return _told(
        failure, "item", title, why, (cure, *static_cures(failure)), error_page("TracerIntegerConversionError")
    )


# NumPy.


def _numpy(failure: Failure, _: re.Match[str]) -> Explanation:
    call = failure.find(ast.Call)
    if call is not None and _of_jax(failure, call):
        return _length(failure, _)
    target = next(iter(getattr(failure.statement, "targets", [])), None)
    if call is None and isinstance(target, ast.Subscript):
        return _into_numpy(failure, target)
    if call is None and failure.statement is not None:
        call = next((node for node in ast.walk(failure.statement) if isinstance(node, ast.Call)), None)
    function = failure.text(call.func) if call is not None else "the function"
    argument = failure.text(call.args[0]) if call is not None and call.args else "x"
    cures = []
    module = call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None
    if call is not None and module is not None and getattr(failure.value(module), "__name__", "") == "numpy":
        written = failure.with_(module, "jnp")
        if any(keyword.arg == "out" for keyword in call.keywords):
            target = next(keyword.value for keyword in call.keywords if keyword.arg == "out")
            function_text = f"jnp.{call.func.attr}" if isinstance(call.func, ast.Attribute) else ""
            text = without(failure, call, ["out"]).replace(failure.text(call.func), function_text, 1)
            written = assigned(failure, call, target, text)
        cures.append(Cure("Use the function of jax.numpy, which becomes part of the program:", written))
    shape = f"jax.ShapeDtypeStruct({argument}.shape, {argument}.dtype)"
    cures.append(
        Cure(
            "Or have Python called while the program runs; the result must have a known shape:",
            f"jax.pure_callback({function}, {shape}, {argument})",
        )
    )
    title = f"`{function}` needs the numbers behind `{argument}` while JAX traces"
    why = "NumPy computes at once and asks for the numbers in the array, but what these are"
    return _told(failure, "numpy", title, why, tuple(cures), error_page("TracerArrayConversionError"))


def _filled(failure: Failure, _: re.Match[str]) -> Explanation | None:
    """One entry of an array of NumPy, which asks for a number."""
    target = next(iter(getattr(failure.statement, "targets", [])), None)
    traced = failure.traced(getattr(failure.statement, "value", None))
    return _into_numpy(failure, target) if isinstance(target, ast.Subscript) and traced else None


def _of_jax(failure: Failure, call: ast.Call) -> bool:
    """Whether a function of JAX is called: it asks for the number of what must be a part of the program."""
    return str(getattr(failure.value(call.func), "__module__", "")).startswith("jax.")


def _into_numpy(failure: Failure, target: ast.Subscript) -> Explanation:
    """A traced value written into an array of NumPy."""
    array, index = failure.text(target.value), failure.text(target.slice)
    value = failure.text(getattr(failure.statement, "value", None))
    cures = (
        Cure(
            "Make it an array of JAX, and a new one with the change in it:",
            f"{array} = jnp.asarray({array}).at[{index}].set({value})",
        ),
        Cure("Or collect the rows and stack them:", f"{array} = jnp.stack(rows)"),
    )
    title = f"`{array}` is an array of NumPy, and cannot hold traced values"
    why = f"An array of NumPy holds numbers, and what `{value}` is"
    return _told(failure, "numpy", title, why, cures, error_page("TracerArrayConversionError"))


def _parameter(failure: Failure, match: re.Match[str]) -> Explanation:
    """A traced value for a parameter of an operation that is a part of the program: a shape, a count, a power."""
    operation, parameter = match[1], match[2]
    call = failure.find(ast.Call)
    written = failure.text(call) or operation
    traced = _asked_length(failure, call)
    title = f"`{parameter}` of `{operation}` must be known while JAX traces"
    shown = f" `{traced}` is computed from what is traced." if call is not None and traced in written else ""
    reason = (
        f"{stand_ins(failure, call)} How `{written}` works, and the shape that it gives, is a part of the program, so "
        f"`{parameter}` must be a number of Python.{shown}"
    )
    cures = [*static_cures(failure, failure.traced(call))]
    if operation == "integer_pow" and call is not None and len(call.args) > 1:
        code = failure.with_(call, f"{failure.text(call.args[0])} ** {failure.text(call.args[1])}")
        cures.append(Cure("Use an operator, which takes a traced power too:", code))
    if not cures:
        cures.append(Cure("Use a number that is known while tracing, such as a size:", "n = x.shape[0]"))
    return Explanation("shape from a value", title, reason, tuple(cures), error_page("ConcretizationTypeError"))


def _formatted(failure: Failure, _: re.Match[str]) -> Explanation:
    node = failure.find(ast.JoinedStr) or failure.find(ast.FormattedValue)
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
    code = (
        failure.with_(large, f"{text}.0" if isinstance(large, ast.Constant) else f"float({text})")
        if large
        else "jnp.float32(number)"
    )
    reason = f"Whole numbers have 32 bits in JAX unless it is told otherwise, up to 2,147,483,647. `{text}` needs more."
    cures = (
        Cure("Compute with floating-point numbers:", code),
        Cure(
            "Or have 64 bits everywhere, before anything else is computed:", 'jax.config.update("jax_enable_x64", True)'
        ),
    )
    return Explanation("too large", f"`{text}` does not fit into 32 bits", reason, cures, api_page("jax.enable_x64"))


def _concrete(failure: Failure, _: re.Match[str]) -> Explanation:
    """Any other value that is asked for; the words of JAX say by whom."""
    lines = failure.message.splitlines()
    asked = lines[1] if len(lines) > 1 and not lines[1].startswith("The error occurred") else ""
    title = f"`{failure.text(failure.expression) or failure.name}` needs a value while JAX traces"
    why = f"{asked.rstrip('.')}, but it" if asked else "Its value is asked for, and it"
    reason = f"{stand_ins(failure, failure.expression)} {why} {depends(failure)}."
    cures = static_cures(failure)
    return Explanation("concrete", title, reason, cures, failure.link or error_page("ConcretizationTypeError"))


_CONCRETE = ("ConcretizationTypeError",)

CASES = (
    Case("conversion", _CONCRETE, r"problem arose with the `", _converted),
    Case("taken out", _CONCRETE, r"(item|tolist|__?\w+)\(\) method", _taken_out),
    Case("length", _CONCRETE, "", _size),
    Case("length by value", _CONCRETE, r"argument|num_classes|static", _length),
    Case("concrete", _CONCRETE, "", _concrete),
    Case("length of a shape", ("TypeError",), r"Shapes must be 1D sequences of (?:concrete|integer)", _length),
    Case(
        "slice", ("IndexError", "TypeError"), r"Slice entries must be static|must have static start/stop/step", _slice
    ),
    Case("index", ("TracerIntegerConversionError",), "", _index),
    Case("index of a float", ("TypeError",), r"Only integer scalar arrays can be converted to a scalar index", _index),
    Case("numpy", ("TracerArrayConversionError",), "", _numpy),
    Case("numpy", ("ValueError", "TypeError"), r"setting an array element with a sequence", _filled),
    Case("too large", ("OverflowError",), r"overflow|too large|out of bounds for", _too_large),
    Case(
        "shape from a value",
        ("TypeError",),
        r"In a call to primitive (\w+), the value of parameter (\w+) was not hashable: .*Tracer",
        _parameter,
    ),
    Case("format", ("TypeError",), r"unsupported format string passed to \w*Tracer", _formatted),
)
