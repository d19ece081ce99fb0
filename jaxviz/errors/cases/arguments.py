"""What can go into a traced function and come out of it: arguments, static arguments, results."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from contextlib import suppress
from typing import Any

import jax

from jaxviz.arrays import is_array
from jaxviz.errors.cases.known_numbers import by_numpy
from jaxviz.errors.cases.objects import REGISTER, as_tree, class_in, object_of_class
from jaxviz.errors.cases.outside import computed_before
from jaxviz.errors.cases.values import is_jitted, plain_name, static_cures
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, plain
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.rewriting import explored_again
from jaxviz.errors.source import Source, definition_of

# What cannot be hashed may be in the argument, which is named first.
_OF_TYPE = ("object of type", "of type")


def _static(failure: Failure, match: re.Match[str]) -> Explanation:
    """A list, a dictionary, an array or a traced value where a static argument is wanted."""
    kind = next(filter(None, (re.search(rf"{of} <class '([\w.]+)'>", failure.message) for of in _OF_TYPE)), None)
    what = kind[1].rpartition(".")[2] if kind else "list"
    call = failure.find(ast.Call)
    arguments = [*call.args, *(one.value for one in call.keywords)] if call is not None else []
    given = next((one for one in arguments if _is_of_kind(failure, one, what)), None)
    page = failure.link or api_page("jax.jit")
    if "Tracer" in what:
        return _traced_static(failure, call, page)
    # Of what a call inside is given, nothing of the explored function says more.
    name = _first_of_kind(failure, what) if call is None else ""
    text = failure.text(given) or name or "values"
    wrapped = {"dict": f"tuple(sorted({text}.items()))", "set": f"frozenset({text})"}.get(what, f"tuple({text})")
    if "Array" in what or what == "ndarray":
        wrapped = f"tuple({text}.ravel().tolist())"
    if given is not None and _tuple_of(failure, given):
        wrapped = _tuple_of(failure, given)
    code = failure.with_(given, wrapped) if given is not None else wrapped if name else ""
    reason = (
        "JAX compiles once for each value of a static argument and looks the program up by it, so it must be hashable: "
        f"it must not change. {_a(what)[:1].upper()}{_a(what)[1:]} can change."
    )
    cures = [Cure("Pass something that cannot change:", code)]
    if isinstance(failure.value(given), (list, tuple)) and failure.traced_inside(given):
        reason += f" Its entries are traced here, and cannot be static: `{text}` is an argument of what is traced."
        cures = []
    if not ("Array" in what or what in ("ndarray", "list", "dict", "set", "bytearray")):
        cures = []
        reason += (
            " Arrays that it holds are traced if it is a pytree that is passed like any other argument; an object that "
            "never changes says so by `__eq__` and `__hash__`, as a frozen dataclass does."
        )
    traced = "Array" in what or what == "ndarray" or (what == "dict" and _is_of_numbers(failure, given))
    if traced and (anew := _without_static(failure, call)):
        # What reads a dictionary by its keys cannot read a tuple so.
        others = [] if what == "dict" else cures
        cures = [Cure("Let it be traced, as arrays are, by leaving it out of the static ones:", anew), *others]
    return Explanation("static argument", f"{_a(what)} cannot be a static argument", reason, tuple(cures), page)


def _is_of_kind(failure: Failure, node: ast.expr, what: str) -> bool:
    """Whether an argument is of a class, as its value or the way in which it is written says."""
    written = {ast.List: "list", ast.Dict: "dict", ast.Set: "set", ast.ListComp: "list", ast.DictComp: "dict"}
    made = isinstance(node, ast.Call) and last_name(node.func) in ("array", "asarray", "arange")
    kind = "ndarray" if made else written.get(type(node), type(failure.value(node)).__name__)
    return kind == what or (made and "Array" in what)


def _is_of_numbers(failure: Failure, node: ast.expr | None) -> bool:
    """Whether a dictionary, by its value or as it is written, holds numbers and arrays alone."""
    held = failure.value(node) or (list(map(failure.value, node.values)) if isinstance(node, ast.Dict) else None)
    leaves = jax.tree.leaves(held)
    return bool(leaves) and all(is_array(leaf) or isinstance(leaf, (int, float, complex)) for leaf in leaves)


def _tuple_of(failure: Failure, node: ast.expr) -> str:
    """A list that is written out, alone or as that of which an array is made, as a tuple; empty for any other."""
    if isinstance(node, ast.Call) and last_name(node.func) in ("array", "asarray") and len(node.args) == 1:
        node = node.args[0]
    if not isinstance(node, (ast.List, ast.Tuple)) or any(isinstance(one, ast.List) for one in node.elts):
        return ""
    return f"({', '.join(map(failure.text, node.elts))}{',' * (len(node.elts) == 1)})"


def _without_static(failure: Failure, call: ast.Call | None) -> str:
    """The statement with what is jitted jitted anew, without static arguments."""
    if call is None:
        return ""
    made = call.func
    if isinstance(made, ast.Call) and last_name(made.func) == "jit" and made.args:
        return failure.with_(made, f"{failure.text(made.func)}({failure.text(made.args[0])})")
    # What JAX itself made static, it cannot do with an array.
    of_jax = str(getattr(failure.value(made), "__module__", "")).startswith("jax")
    if hasattr(failure.value(made), "__wrapped__") and not of_jax:
        return failure.with_(made, f"jax.jit({failure.text(made)}.__wrapped__)")
    return ""


def _traced_static(failure: Failure, call: ast.Call | None, page: str) -> Explanation:
    number = re.search(r"\(index (\d+)\)", failure.message)
    if not failure.own and number is not None:
        return _static_of_itself(int(number[1]), page)
    arguments = [*call.args, *(one.value for one in call.keywords)] if call is not None else []
    written = next((one for one in arguments if isinstance(one, ast.Call) and _tuple_of(failure, one)), None)
    if written is not None:
        return _written_static(failure, written, page)
    traced = next((one for one in arguments[1:] if failure.traced(one)), None)
    text = failure.text(traced) or "the argument"
    static = static_cures(failure, failure.traced(traced)) if failure.place is failure.own[0] else ()
    made = f"is an argument of `{failure.name}`, which is traced" if static else "is computed from what is traced here"
    reason = (
        "A static argument is a part of the program, so its value must be known while JAX traces. "
        f"`{text}` {made}, and has none yet."
    )
    code = _without_static(failure, call)
    traced_too = (Cure("Let it be traced too, by leaving it out of the static ones:", code),) if code else ()
    cures = static or traced_too or by_numpy(failure, traced) or computed_before(failure, traced)
    title = f"`{text}` is traced, and cannot be static"
    return Explanation("static argument", title, reason, cures, page)


def _static_of_itself(number: int, page: str) -> Explanation:
    """An argument that the explored function takes as static, as one of `jax.pmap` may, and JAX does not say so."""
    reason = (
        f"The function itself wants the value of argument {number}, counted from 0, while JAX traces, and does not say "
        "so: it was traced as the others are. Say it where the function is explored, by "
        f"`static_argnums={number}`, or by `--static {number}` in `%jaxviz`."
    )
    return Explanation("static argument", f"argument {number} is traced, and cannot be static", reason, (), page)


def _written_static(failure: Failure, written: ast.expr, page: str) -> Explanation:
    """An array that is made of numbers in the code, which needs not be one."""
    reason = (
        "A static argument is a part of the program, so its value must be known while JAX traces, and hashable. "
        f"`{failure.text(written)}` makes an array of numbers that are known, and what is made then is traced."
    )
    cure = Cure("Give the numbers themselves:", failure.with_(written, _tuple_of(failure, written)))
    title = f"`{failure.text(written)}` is traced, and cannot be static"
    return Explanation("static argument", title, reason, (cure,), page)


def _first_of_kind(failure: Failure, what: str) -> str:
    """The name of the argument of the explored function that is of a class."""
    try:
        bound = inspect.signature(failure.fn).bind(*failure.args, **failure.kwargs).arguments
    except (TypeError, ValueError):
        return ""
    return next((name for name, value in bound.items() if type(value).__name__ == what), "")


def _a(what: str) -> str:
    return (
        f"an {what}"
        if (what[:1].lower() in "aeiou" or what == "ndarray") and what[:2].lower() not in ("us", "un")
        else f"a {what}"
    )


def _not_an_array(failure: Failure, match: re.Match[str]) -> Explanation:
    kind = re.search(r"problematic value is of type <class '([\w.]+)'>|of type <class '([\w.]+)'>", failure.message)
    what = next((part for part in (kind.groups() if kind else ()) if part), "object").rpartition(".")[2]
    path = re.search(r"at path ([\w.\[\]']+)", failure.message)
    name = path[1].rstrip(".") if path else ""
    position = _position(failure, name)
    shown = f"`{name}`" if name else "an argument"
    if _of_equinox(failure, name):
        return _model(failure, name, what)
    code = f'fast = jax.jit({plain_name(failure)}, static_argnames="{name or "option"}")'
    call = failure.find(ast.Call) if failure.source is not None else None
    if call is not None and name != "self":
        # A function inside, jitted where it is called or before.
        inner = call.func.args[0] if isinstance(call.func, ast.Call) and call.func.args else call.func
        code = f'jax.jit({failure.text(inner)}, static_argnames="{name or "option"}")'
        if isinstance(call.func, ast.Call) or hasattr(failure.value(inner), "__wrapped__"):
            # What is jitted twice is traced by the first as before.
            plain = f"{failure.text(inner)}.__wrapped__" if inner is call.func else failure.text(inner)
            code = failure.with_(call.func, f'jax.jit({plain}, static_argnames="{name or "option"}")')
    elif name == "self":
        code = _method(failure, call)
    elif position >= 0 and not is_jitted(failure):
        code += explored_again(failure, str(position))
    if what == "ndarray":
        return _array_of_objects(failure, name, shown)
    reason = (
        "JAX traces functions of arrays and numbers, in tuples, lists and dictionaries. "
        f"{shown[:1].upper()}{shown[1:]} is of the type {what}, of which it can make no array."
    )
    if name == "self":
        reason += " JAX takes the object whose method it is for an argument like any other."
    cures = [Cure("Make it static: then it is a part of the program.", code)]
    if what not in ("str", "function", "NoneType", "type", "custom_jvp", "PjitFunction"):
        held = object_of_class(failure, what)
        register = as_tree(held) if name != "self" else ""
        if register:
            registered = Cure(f"{REGISTER}:", register, inside=False)
            cures = [registered, Cure(f"Or {cures[0].text[0].lower()}{cures[0].text[1:]}", code)]
            if not _is_hashable(held):
                cures = [registered]
    return Explanation(
        "not an array", f"{shown} is no array but of the type {what}", reason, tuple(cures), api_page("jax.jit")
    )


def _is_hashable(held: Any) -> bool:
    """Whether an object may be a static argument, by its class: a dataclass is compared by its fields, and arrays among
    them have no hash."""
    if not dataclasses.is_dataclass(held):
        return type(held).__hash__ is not None
    return type(held).__hash__ is not None and not any(map(is_array, vars(held).values()))


def _method(failure: Failure, call: ast.Call | None) -> str:
    """A jitted method with the object whose it is as a static argument."""
    function = call.func if call is not None else None
    owner = failure.value(function.value) if isinstance(function, ast.Attribute) else failure.value(function)
    name = function.attr if isinstance(function, ast.Attribute) else "__call__"
    if call is None:
        # A method was explored, or an object that is called.
        owner = getattr(failure.fn, "__self__", failure.fn)
        name = getattr(failure.fn, "__name__", name)
    jitted = next((vars(one)[name] for one in type(owner).__mro__ if name in vars(one)), None)
    code = getattr(getattr(jitted, "__wrapped__", None), "__code__", None)
    definition = definition_of(code) if code is not None else None
    if definition is None or code is None:
        return ""
    text = Source(code, 0, code.co_firstlineno).text(definition)
    return f"@functools.partial(jax.jit, static_argnums=0)\n{text}"


def _of_equinox(failure: Failure, name: str) -> bool:
    """Whether what is no array is held by a model of Equinox, among the arguments of the function that JAX names."""
    root, *rest = re.split(r"[.\[]", name)
    held = [failure.variables.get(root)]
    with suppress(TypeError, ValueError):
        held.append(inspect.signature(failure.fn).bind(*failure.args, **failure.kwargs).arguments.get(root))
    call = failure.find(ast.Call)
    held += [failure.value(argument) for argument in (call.args if call is not None else [])]
    classes = [class_ for one in held for class_ in type(one).__mro__]
    return bool(rest) and any(class_.__module__.startswith("equinox") for class_ in classes)


def _model(failure: Failure, name: str, what: str) -> Explanation:
    """A model of Equinox, which holds functions too, given to what is jitted by `jax.jit`."""
    model = name.partition(".")[0]
    call = failure.find(ast.Call) if failure.source is not None else None
    made = call.func if call is not None and isinstance(call.func, ast.Call) else None
    cures = []
    if made is not None and made.args and last_name(made.func) == "jit":
        cures.append(Cure("Use the form of Equinox:", failure.with_(made.func, "eqx.filter_jit")))
    else:
        function = failure.text(call.func) if call is not None else failure.name
        if function.isidentifier():
            code = f"{function} = eqx.filter_jit({function}.__wrapped__)  # or @eqx.filter_jit, in place of @jax.jit"
            cures.append(Cure("Use the form of Equinox:", code))
    reason = (
        f"`{model}` is a model of Equinox: a tree of arrays and of what is no array, such as `{name}`, here a {what}. "
        "`jax.jit` takes arrays alone; `eqx.filter_jit` looks them out, and keeps the rest as it is."
    )
    title = f"`jax.jit` was given a model that holds a {what}"
    link = "https://docs.kidger.site/equinox/api/transformations/#equinox.filter_jit"
    return Explanation("model of functions", title, reason, tuple(cures), link)


def _array_of_objects(failure: Failure, name: str, shown: str) -> Explanation:
    """An array of NumPy whose entries are texts, dates or any objects."""
    dtype = re.search(r"dtype(?:=|\s)\s*'?(object|<U\d+|\|S\d+|datetime64\S*|[<|]?\w+)'?", failure.message)
    value = next((one for one in failure.args if type(one).__name__ == "ndarray" and one.dtype.kind in "OUSMmV"), None)
    kind = str(value.dtype) if value is not None else dtype[1] if dtype else "object"
    words = {"O": "any objects", "U": "text", "S": "bytes", "M": "dates", "m": "times"}.get(
        value.dtype.kind if value is not None else "", "other things than numbers"
    )
    reason = (
        f"Arrays of JAX hold numbers and booleans. {shown[:1].upper()}{shown[1:]} is an array of NumPy that "
        f"holds {words} (its type is {kind}), of which there is no form on a device."
    )
    text = name or "values"
    cures = (
        Cure(
            "Pass numbers for them, such as the place of each in a list:",
            f"codes = np.unique({text}, return_inverse=True)[1]",
        ),
        Cure("Or, if they are numbers, say of which type:", f"np.asarray({text}, np.float32)"),
    )
    return Explanation("not an array", f"{shown} holds no numbers", reason, cures, api_page("jax.numpy.array"))


def _position(failure: Failure, name: str) -> int:
    try:
        return list(inspect.signature(failure.fn).parameters).index(name.partition("[")[0])
    except (TypeError, ValueError):
        return -1


_PLAIN = ("str", "function", "method", "type", "bytes", "generator", "module", "builtin_function_or_method", "NoneType")


def _result(failure: Failure, match: re.Match[str]) -> Explanation:
    what = class_in(failure.message)
    component = re.search(r"at output component (\S+?),", failure.message)
    where = f" at {component[1]}" if component else ""
    code = (
        f"result = {failure.name}(...)  # arrays, in tuples, lists and dictionaries\n"
        f"extra = ...  # the {what} is made outside"
    )
    cures = [Cure("Leave it outside:", code)]
    if what == "custom_jvp" and failure.name.isidentifier() and not is_jitted(failure):
        # Of a model of Equinox, the activation.
        code = f"{failure.name} = eqx.filter_jit({failure.name})"
        cures = [Cure("Use `jit` of Equinox, which lets the rest of a model out as it is:", code, inside=False)]
    elif what not in _PLAIN:
        register = as_tree(object_of_class(failure, what))
        if not register:
            register = f"jax.tree_util.register_dataclass({what})  # of a dataclass: its fields go in and come out"
        cures.insert(0, Cure(f"{REGISTER}:", register, inside=False))
    reason = (
        "What a traced function gives is computed by the device, so it can only be arrays, in tuples, lists and "
        f"dictionaries. This one gives {_a(what)}{where}."
    )
    return Explanation(
        "result",
        f"{_a(what)} cannot come out of a traced function",
        reason,
        tuple(cures),
        api_page("jax.jit"),
    )


def _missing(failure: Failure, match: re.Match[str]) -> Explanation | None:
    if failure.place is not None and failure.place.frame.f_code.co_name != "<module>" and failure.own:
        return None
    try:
        signature = f"{failure.name}{inspect.signature(failure.fn)}"
    except (TypeError, ValueError):
        return None
    reason = (
        "The function is called with other arguments than it has, so nothing of it was traced. "
        f"{failure.message.splitlines()[0].rstrip('.')}."
    )
    cure = Cure("Call it as it is defined:", signature)
    return Explanation("call", f"the arguments do not fit `{failure.name}`", reason, (cure,), api_page("jax.jit"))


CASES = (
    Case("static argument", ("ValueError", "TypeError"), r"Non-hashable static arguments", _static),
    Case(
        "not an array",
        ("TypeError",),
        r"as an abstract array|is not a valid JAX type|Argument .* is not a valid",
        lambda f, m: _result(f, m) if "returned a value" in f.message else _not_an_array(f, m),
    ),
    plain(
        "static argument",
        ("ValueError",),
        r"Jitted function has invalid argnames (\{.*?\}) in (static_argnames|donate_argnames)",
        "`$2` names arguments that the function has not: $1",
        "`$2` holds names of parameters, as they stand in the definition. The function has none of the name $1.",
        [("Use a name from its definition:", 'jax.jit(f, $2=("n",))  # of def f(x, n)')],
        api_page("jax.jit"),
    ),
    plain(
        "static argument",
        ("ValueError",),
        r"Jitted function has (static_argnums|donate_argnums)=(\(.*?\)), but only accepts (\d+) positional arguments",
        "`$1` counts beyond the arguments of the function",
        "`$1` holds places of arguments, counted from 0. The function has $3, and $2 is beyond the last.",
        [("Use a place that there is:", "jax.jit(f, $1=0)")],
        api_page("jax.jit"),
    ),
    Case(
        "call",
        ("TypeError",),
        r"(?:missing \d+ required|takes .* positional arguments? but|unexpected keyword argument)",
        _missing,
    ),
)
