"""Names, attributes, keys and arguments that are not there: of arrays, of modules, and of the person's own things."""

from __future__ import annotations

import ast
import difflib
import inspect
import re
from collections.abc import Iterable
from typing import Any

from jaxviz.arrays import is_array
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, plain
from jaxviz.errors.failure import Failure, type_text
from jaxviz.errors.trial import given_by

# What other libraries call it, and what JAX does: of methods, `x` is the array and `...` the arguments.
_METHODS = {
    "numpy": ("x", "Inside a traced function there are no numbers; it stays an array."),
    "detach": ("jax.lax.stop_gradient(x)", "What no gradient shall flow through goes through `stop_gradient`."),
    "cpu": ("x", "Where an array lies is decided outside: with `jax.device_put`, or by the shardings of `jit`."),
    "cuda": ("x", "Where an array lies is decided outside: with `jax.device_put`, or by the shardings of `jit`."),
    "to": ("x.astype(jnp.float32)", "Types change with `astype`; where an array lies is decided outside of the "
        "function."),
    "float": ("x.astype(jnp.float32)", "Types change with `astype`."),
    "long": ("x.astype(jnp.int32)", "Types change with `astype`."),
    "int": ("x.astype(jnp.int32)", "Types change with `astype`."),
    "half": ("x.astype(jnp.float16)", "Types change with `astype`."),
    "double": ("x.astype(jnp.float64)", "Types change with `astype`."),
    "permute": ("x.transpose(...)", "Axes change their order with `transpose`."),
    "unsqueeze": ("jnp.expand_dims(x, ...)", "A new axis comes from `expand_dims`, or from `x[:, None]`."),
    "contiguous": ("x", "Arrays of JAX have no strides; XLA lays them out."),
    "clone": ("x", "Arrays of JAX never change, so there is no need of a copy."),
    "dim": ("x.ndim", "The number of axes is `ndim`."),
    "numel": ("x.size", "The number of elements is `size`."),
    "backward": ("jax.grad(loss)(parameters)", "Derivatives are taken of functions, with `jax.grad`."),
    "masked_fill": ("jnp.where(mask, value, x)", "What a mask chooses is written with `where`."),
    "fill": ("x = jnp.full_like(x, ...)", "Arrays of JAX never change; a new one is made."),
    "block_until_ready": ("x", "Inside a traced function nothing runs that could be waited for; wait outside, "
        "on the result."),
    "append": ("x = jnp.append(x, ...)", "Arrays of JAX never change; a longer one is made, which in a loop costs more "
        "with each turn: a list can be filled instead, and stacked."),
    "pop": ("x[...]", "Arrays of JAX never change: an entry is read, and what is left without the last is `x[:-1]`."),
    "extend": ("x = jnp.append(x, ...)", "Arrays of JAX never change; a longer one is made, which in a loop costs more "
        "with each turn: a list can be filled instead, and stacked."),
    "insert": ("x = jnp.insert(x, ...)", "Arrays of JAX never change; a longer one is made."),
    "view": ("x.reshape(...)", "Another shape comes from `reshape`; `view` is another type of the same bits."),
    "map": ("jax.vmap(...)(x)", "A function is called with each entry by `vmap`."),
    "apply": ("jax.vmap(...)(x)", "A function is called with each entry by `vmap`."),
    "requires_grad": ("jax.grad(f)", "Derivatives are taken of functions, with `jax.grad`."),
}  # fmt: skip


# What stands for `...` where a method is called with nothing.
_ALONE = {"pop": "-1"}
# Modules that may have a function by the name of a method, or of a function of another library.
_FUNCTIONS = ("jnp", "jax.nn", "jax.lax", "jnp.linalg", "jax.scipy.special", "jax.scipy.linalg", "jax.random", "jax")
# What functions of other libraries are called here, besides `reduce_sum` and its like.
_RENAMED = {
    **{"cat": "concatenate", "clamp": "clip", "clip_by_value": "clip", "mm": "matmul", "bmm": "matmul"},
    **{"mul": "multiply", "sub": "subtract", "div": "divide", "pow": "power", "eq": "equal", "ne": "not_equal"},
    **{"unsqueeze": "expand_dims", "permute": "transpose", "norm": "linalg.norm", "inverse": "linalg.inv"},
    **{"cast": "asarray", "boolean_mask": "compress", "range": "arange", "gather": "take"},
}


def _elsewhere(name: str) -> str:
    """A function of JAX by the name that another library gives it, or by its own name in another module."""
    import jax

    bare = name.removeprefix("reduce_")
    for wanted in dict.fromkeys((_RENAMED.get(name, name), bare)):
        for module in _FUNCTIONS:
            held: Any = {"jax": jax, "jnp": jax.numpy}
            for part in f"{module}.{wanted}".split("."):
                held = held.get(part) if isinstance(held, dict) else getattr(held, part, None)
            if callable(held) and not isinstance(held, type):
                return f"{module}.{wanted}"
    return ""


def _as_jax_has_it(name: str, array: str, arguments: str) -> str:
    """What a method of other libraries does, by JAX; empty where that is not known."""
    known = _METHODS.get(name)
    if known is not None:
        filled = arguments or _ALONE.get(name, "...")
        return re.sub(r"\bx\b", lambda _: array, known[0]).replace("...", filled)
    function = _elsewhere(name)
    return f"{function}({', '.join(one for one in (array, arguments) if one)})" if function else ""


def _with_all_after(failure: Failure, whole: ast.AST, code: str) -> str:
    """The failing statement with a method in it, and those that are called on what it gives, as JAX has them."""
    source = failure.source
    while source is not None:
        after = source.parent(whole)
        call = source.parent(after) if isinstance(after, ast.Attribute) and after.value is whole else None
        if not isinstance(after, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not after:
            break
        if after.attr in dir(_AN_ARRAY) and after.attr not in _METHODS:
            break
        changed = _as_jax_has_it(after.attr, code, _arguments(failure, call))
        if not changed:
            break
        whole, code = call, changed
    return failure.with_(whole, code)


def _arguments(failure: Failure, call: ast.AST) -> str:
    if not isinstance(call, ast.Call):
        return ""
    return ", ".join([*map(failure.text, call.args), *(failure.text(one) for one in call.keywords)])


def _attribute(failure: Failure, match: re.Match[str]) -> Explanation | None:
    name = match[1] or match[2]
    node = failure.find(ast.Attribute)
    if node is None:
        return None
    if name == "__delitem__":
        return None
    array = failure.text(node.value)
    call = failure.source.parent(node) if failure.source is not None else None
    whole: ast.AST = call if isinstance(call, ast.Call) and call.func is node else node
    types = failure.types(node.value)
    code = _as_jax_has_it(name, array, _arguments(failure, whole)) if name in _METHODS or whole is call else ""
    if code:
        statement = failure.statement
        if code.startswith(f"{array} = ") and not (isinstance(statement, ast.Expr) and statement.value is whole):
            # Where what is made is used at once, it needs no name.
            code = code.removeprefix(f"{array} = ")
        cure = Cure("In JAX:", _with_all_after(failure, whole, code))
        how = _METHODS[name][1] if name in _METHODS else f"Here it is the function `{code.partition('(')[0]}`."
        reason = f"An array of JAX has no `{name}`; other libraries call it so. {how} {types}"
        return Explanation("attribute", f"arrays of JAX have no `{name}`", reason.strip(), (cure,), _ARRAYS)
    near = difflib.get_close_matches(name, dir(_AN_ARRAY), 1)
    cures = (Cure(f"Did you mean `{near[0]}`?", failure.with_(node, f"{array}.{near[0]}")),) if near else ()
    reason = f"`{array}` is an array while JAX traces, and arrays have no attribute of that name. {types}"
    cures = cures or (Cure("See what they have:", "dir(jax.Array)"),)
    return Explanation("attribute", f"arrays of JAX have no `{name}`", reason.strip(), cures, _ARRAYS)


_ARRAYS = "https://docs.jax.dev/en/latest/jax.numpy.html#jax-array"


class _Names:
    def __dir__(self) -> Iterable[str]:
        import jax

        return [name for name in dir(jax.Array) if not name.startswith("_")]


_AN_ARRAY = _Names()


def _of_module(failure: Failure, match: re.Match[str]) -> Explanation | None:
    node = failure.find(ast.Attribute)
    module = failure.value(node.value) if node is not None else None
    if node is None or not inspect.ismodule(module):
        return None
    name, text = match[2], failure.text(node.value)
    near = difflib.get_close_matches(name, dir(module), 2)
    cures = [Cure(f"Did you mean `{one}`?", failure.with_(node, f"{text}.{one}")) for one in near]
    if match[1].partition(".")[0] == "jax" and (function := _elsewhere(name)):
        cures = [Cure(f"There is `{function}`:", failure.with_(node, function))]
    if not cures:
        cures.append(Cure("See what it has:", f"dir({text})"))
    reason = (
        f"Nothing in `{match[1]}` is called so. Functions of NumPy that JAX has not are those that work in place, or "
        "whose result has another shape for other numbers."
    )
    return Explanation(
        "name", f"`{text}` has no `{name}`", reason, tuple(cures), "https://docs.jax.dev/en/latest/jax.numpy.html"
    )


def _name(failure: Failure, match: re.Match[str]) -> Explanation:
    name = match[1]
    place = failure.place
    known = [*failure.variables, *(place.frame.f_globals if place is not None else ())]
    near = difflib.get_close_matches(name, known, 1, 0.8)
    node = failure.expression
    cures = (
        [Cure(f"Did you mean `{near[0]}`?", failure.with_(node, near[0]))]
        if near and isinstance(node, ast.Name)
        else []
    )
    cures.append(Cure("Or assign it first:", f"{name} = ..."))
    reason = (
        f"{failure.kind}: nothing of the name `{name}` is known where the function stands. JAX calls it as "
        f"Python does, when it traces; there is nothing special in this."
    )
    return Explanation("undefined", f"`{name}` is not defined", reason, tuple(cures), "")


def _key(failure: Failure, match: re.Match[str]) -> Explanation | None:
    node = failure.find(ast.Subscript)
    container = failure.value(node.value) if node is not None else None
    if node is None or not isinstance(container, dict):
        return None
    text, key = failure.text(node.value), match[0]
    keys = [str(one) for one in container]
    listed = ", ".join(repr(one) for one in keys[:8]) + (" and more" if len(keys) > 8 else "")
    near = difflib.get_close_matches(key.strip("'\""), keys, 1)
    to = near[0] if near else (keys[0] if len(keys) == 1 else "")
    asked = f"Did you mean `{to}`?" if near else f"There is only `{to}`:"
    cure = Cure("See what is there:", f"{text}.keys()")
    if to:
        cure = Cure(asked, failure.with_(node.slice, repr(to)))
    cures = (cure,)
    reason = (
        f"`{text}` has {f'the keys {listed}' if keys else 'no keys'}. Keys of a dictionary are a part of the program: "
        "JAX traces with those that are there when the function is called."
    )
    return Explanation("key", f"`{text}` has no {key}", reason, cures, "https://docs.jax.dev/en/latest/pytrees.html")


# What other libraries call a parameter.
_PARAMETERS = {"dim": "axis", "dims": "axis", "keepdim": "keepdims", "input": "a"}


def _argument(failure: Failure, match: re.Match[str]) -> Explanation | None:
    function, name = match[1].lstrip("_"), match[2]
    call = failure.find(ast.Call)
    keyword = next((one for one in call.keywords if one.arg == name), None) if call is not None else None
    if call is None or keyword is None:
        return None
    known: list[str] = []
    called = failure.value(call.func)
    try:
        known = list(inspect.signature(called).parameters) if callable(called) else []
    except (TypeError, ValueError):
        known = []
    near = [_PARAMETERS[name]] if name in _PARAMETERS else difflib.get_close_matches(name, known, 1)
    cures = []
    if near:
        changed = f"{near[0]}={failure.text(keyword.value)}"
        cures.append(Cure(f"Here it is called `{near[0]}`:", failure.with_(keyword, changed)))
    else:
        shown = f"{failure.text(call.func)}({', '.join(known)})" if known else f"help({failure.text(call.func)})"
        cures.append(Cure("It takes:", shown))
    reason = (
        f"`{function}` has no parameter of that name. Functions of jax.numpy name theirs as NumPy does: `axis`, "
        "`keepdims`, `dtype`."
    )
    own = called is not None and str(getattr(called, "__module__", "")).startswith("jax")
    if not own and not is_array(failure.value(getattr(call.func, "value", None))):
        reason = f"`{function}` has no parameter of that name, so nothing of it was run. It is called as it is defined."
    return Explanation("argument name", f"`{function}` takes no `{name}`", reason, tuple(cures), "")


def _callable(failure: Failure, match: re.Match[str]) -> Explanation | None:
    call = failure.find(ast.Call)
    if call is None:
        return None
    function = failure.text(call.func)
    arguments = ", ".join(failure.text(argument) for argument in call.args)
    array = failure.value(call.func)
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("size", "shape", "ndim", "T", "dtype"):
        owner = failure.text(call.func.value)
        code = f"{owner}.shape[{arguments}]" if call.func.attr in ("size", "shape") and arguments else function
        reason = (
            f"Of an array, `{call.func.attr}` is a value and no method: sizes are read from the shape. "
            f"{failure.types(call.func.value)}"
        )
        cure = Cure("Read it:", failure.with_(call, code))
        return Explanation("not callable", f"`{function}` is no function", reason.strip(), (cure,), _ARRAYS)
    if "IndexUpdate" in match[1]:
        owner = failure.text(call.func)
        code = failure.with_(call, f"{owner}[{arguments or '...'}]")
        reason = (
            "`at` names a place of an array with square brackets, as an index does. What is done there comes after it."
        )
        return Explanation(
            "not callable",
            f"`{owner}` wants square brackets",
            reason,
            (Cure("Write:", code),),
            api_page("jax.numpy.ndarray.at"),
        )
    if "Tracer" not in match[1]:
        return None
    code = failure.with_(call, f"{function}[{arguments}]")
    what = f"`{function}` is {type_text(array)}" if is_array(array) else f"`{function}` is an array"
    reason = f"{what} while JAX traces: a value, which cannot be called. An element is taken with square brackets."
    return Explanation(
        "not callable", f"`{function}` is no function", reason, (Cure("Take an element:", code),), _ARRAYS
    )


def _unpacked_shape(failure: Failure, match: re.Match[str]) -> Explanation | None:
    statement = failure.statement
    value = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or not isinstance(value, ast.Attribute) or value.attr != "shape":
        return None
    array = failure.text(value.value)
    held: Any = failure.value(value.value)
    if not is_array(held):
        return None
    names = getattr(statement.targets[0], "elts", [])
    kept = [failure.text(one) for one in names][-len(held.shape) :] if held.shape else []
    target = ", ".join(kept) + ("," if len(kept) == 1 else "")
    reason = (
        f"`{array}` is {type_text(held)}: its shape has {len(held.shape)} numbers, for {len(names)} names. "
        "Under `vmap` the mapped axis is already gone."
    )
    cures = (
        [Cure("Take those that are there:", f"{target} = {array}.shape")]
        if len(kept) == len(held.shape) and kept
        else [Cure("Take the last, whatever comes before:", f"*batch, features = {array}.shape")]
    )
    return Explanation(
        "unpacking",
        f"the shape of `{array}` has {len(held.shape)} numbers, not {len(names)}",
        reason,
        tuple(cures),
        _ARRAYS,
    )


def _callback(failure: Failure, match: re.Match[str]) -> Explanation | None:
    call = failure.calls("pure_callback", "io_callback")
    if call is None or len(call.args) < 2:
        return None
    name = failure.text(call.func)
    given = failure.text(call.args[1])
    arrays = failure.arrays(ast.Tuple(call.args[2:], ast.Load()))
    array = next(iter(arrays), "x")
    code = failure.with_(call.args[1], f"jax.ShapeDtypeStruct({array}.shape, {array}.dtype)")
    reason = (
        f"`{name}` is compiled before Python is called, so it must be told the shape and the type of what will "
        f"come back. `{given}` has no type."
    )
    cure = Cure("Say both:", code)
    return Explanation(
        "callback", f"`{given}` does not say what comes back", reason, (cure,), api_page("jax.pure_callback")
    )


def _debug_print(failure: Failure, match: re.Match[str]) -> Explanation | None:
    call = failure.find(ast.Call)
    function = failure.text(call.func) if call is not None else ""
    if call is None or not function.endswith("debug.print"):
        return None
    values = [failure.text(one) for one in call.args[1:]] + [failure.text(one.value) for one in call.keywords]
    if call.args and isinstance(call.args[0], ast.JoinedStr):
        values = [failure.text(one.value) for one in ast.walk(call.args[0]) if isinstance(one, ast.FormattedValue)]
    named = [value for value in dict.fromkeys(values) if value.isidentifier()] or ["x"]
    places = " ".join(f"{name} = {{{name}}}" for name in named)
    code = failure.with_(call, f'{function}("{places}", {", ".join(f"{name}={name}" for name in named)})')
    reason = (
        "Each value has a place in the text, by its number or by the name under which it is given, and each place a "
        "value. An f-string has no places left: Python has filled them with tracers already."
    )
    cure = Cure("Name the values, and their places by the same names:", code)
    title = f"the text and the values of `{function}` do not fit"
    return Explanation("debug print", title, reason, (cure,), api_page("jax.debug.print"))


def _entry(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """An entry of a dictionary is asked for as if it were an object's."""
    node = failure.find(ast.Attribute)
    held = failure.value(node.value) if node is not None else None
    text = failure.text(node.value) if node is not None else ""
    held = held if held is not None else given_by(failure, text)
    if node is None or type(held) is not dict or match[1] not in held:
        return None
    keys = ", ".join(f"`{key}`" for key in list(held)[:8])
    reason = (
        f"`{text}` is a dictionary with the keys {keys}: its entries are taken out by these. What a dictionary has as "
        "attributes are its methods."
    )
    cure = Cure("Take the entry:", failure.with_(node, f'{text}["{match[1]}"]'))
    return Explanation("key", f"`{match[1]}` is an entry of `{text}`, not an attribute", reason, (cure,))


_ATTRIBUTE, _TYPE = ("AttributeError",), ("TypeError",)

CASES = (
    Case(
        "attribute",
        _ATTRIBUTE,
        r"Tracer'? (?:object )?has no attribute '?(\w+)|The '(\w+)' (?:method|attribute) is not available on",
        _attribute,
    ),
    Case("key", _ATTRIBUTE, r"^'dict' object has no attribute '(\w+)'", _entry),
    Case("name", _ATTRIBUTE, r"module '([\w.]+)' has no attribute '(\w+)'", _of_module),
    Case("undefined", ("NameError",), r"name '(\w+)' is not defined", _name),
    Case("key", ("KeyError",), r"^.+$", _key),
    Case("argument name", _TYPE, r"([\w.<>]+?)\(\) got an unexpected keyword argument '(\w+)'", _argument),
    Case("not callable", _TYPE, r"'(\w+)' object is not callable", _callable),
    Case("unpacking", ("ValueError",), r"values to unpack", _unpacked_shape),
    Case("callback", ("AttributeError", "TypeError"), r"has no attribute '(?:dtype|shape)'", _callback),
    plain(
        "in place",
        _ATTRIBUTE,
        r"__delitem__|doesn't support item deletion",
        "nothing can be deleted from an array",
        "Arrays of JAX never change, and an array without an element is another array. Which one is left out must be "
        "known while tracing, because the shape must be.",
        [("Make a new array without it:", "x = jnp.delete(x, 0, axis=0)")],
        api_page("jax.numpy.delete"),
    ),
    Case("debug print", ("KeyError", "IndexError", "ValueError"), "", _debug_print),
)
