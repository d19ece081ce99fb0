"""What can go into a traced function and come out of it: arguments, static arguments, mapped axes, results, leaks."""

from __future__ import annotations

import ast
import inspect
import re

from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, error_page
from jaxviz.errors.failure import Failure


def _static(failure: Failure, match: re.Match[str]) -> Explanation:
    """A list, a dictionary or an array where a static argument is wanted."""
    kind = re.search(r"object of type <class '([\w.]+)'>", failure.message)
    what = kind[1].rpartition(".")[2] if kind else "list"
    call = failure.find(ast.Call)
    given = next(
        (
            argument
            for argument in (call.args if call is not None else [])
            if type(failure.value(argument)).__name__ == what or isinstance(argument, (ast.List, ast.Dict, ast.Set))
        ),
        None,
    )
    text = failure.text(given) or "values"
    wrapped = {"dict": f"tuple(sorted({text}.items()))", "set": f"frozenset({text})"}.get(what, f"tuple({text})")
    if "Array" in what or what == "ndarray":
        wrapped = f"tuple({text}.tolist())"
    code = failure.with_(given, wrapped) if given is not None else wrapped
    reason = (
        "JAX compiles once for each value of a static argument and looks the program up by it, so it must be hashable: "
        f"it must not change. A {what} can change."
    )
    cure = Cure("Pass something that cannot change:", code)
    return Explanation(
        "static argument", f"a {what} cannot be a static argument", reason, (cure,), failure.link or api_page("jax.jit")
    )


def _not_an_array(failure: Failure, match: re.Match[str]) -> Explanation:
    kind = re.search(r"problematic value is of type <class '([\w.]+)'>|of type <class '([\w.]+)'>", failure.message)
    what = next((part for part in (kind.groups() if kind else ()) if part), "object").rpartition(".")[2]
    path = re.search(r"at path ([\w.\[\]']+)", failure.message)
    name = path[1].rstrip(".") if path else ""
    position = _position(failure, name)
    shown = f"`{name}`" if name else "an argument"
    code = f'fast = jax.jit({failure.name}, static_argnames="{name or "option"}")'
    call = failure.find(ast.Call) if failure.source is not None else None
    if call is not None:
        # A function inside, jitted where it is called or before.
        inner = call.func.args[0] if isinstance(call.func, ast.Call) and call.func.args else call.func
        code = f'jax.jit({failure.text(inner)}, static_argnames="{name or "option"}")'
    elif position >= 0:
        code += f"\n%jaxviz --static {position} {failure.call}"
    reason = (
        "JAX traces functions of arrays and numbers, in tuples, lists and dictionaries. "
        f"{shown[:1].upper()}{shown[1:]} is of the type {what}, of which it can make no array."
    )
    cures = [Cure("Make it static: then it is a part of the program.", code)]
    if what not in ("str", "function", "NoneType", "type"):
        register = f"jax.tree_util.register_dataclass({what})  # fields that are arrays are traced"
        cures.append(Cure("Or tell JAX which arrays it holds:", register))
    return Explanation(
        "not an array", f"{shown} is no array but of the type {what}", reason, tuple(cures), api_page("jax.jit")
    )


def _position(failure: Failure, name: str) -> int:
    try:
        return list(inspect.signature(failure.fn).parameters).index(name.partition("[")[0])
    except (TypeError, ValueError):
        return -1


def _result(failure: Failure, match: re.Match[str]) -> Explanation:
    kind = re.search(r"value of type <class '([\w.]+)'>", failure.message)
    what = kind[1].rpartition(".")[2] if kind else "object"
    component = re.search(r"at output component (\S+?),", failure.message)
    where = f" at {component[1]}" if component else ""
    code = (
        f"result = {failure.name}(...)  # arrays, in tuples, lists and dictionaries\n"
        f"extra = ...  # the {what} is made outside"
    )
    reason = (
        "What a traced function gives is computed by the device, so it can only be arrays, in tuples, lists and "
        f"dictionaries. This one gives a {what}{where}."
    )
    return Explanation(
        "result",
        f"a {what} cannot come out of a traced function",
        reason,
        (Cure("Leave it outside:", code),),
        api_page("jax.jit"),
    )


def _sizes(failure: Failure, match: re.Match[str]) -> Explanation:
    rows = re.findall(
        r"size (\d+): axis (\d+) of (?:argument )?(\S+)(?: of type (\S+?))?;?$", failure.message, re.MULTILINE
    )
    sizes = ", ".join(f"`{name}` has {size}" for size, _, name, _ in rows[:4])
    call = failure.calls("vmap")
    function = failure.text(call.args[0]) if call is not None and call.args else "f"
    count = max(2, len(rows))
    axes = ", ".join("0" if number == 0 else "None" for number in range(count))
    if call is not None and not any(keyword.arg == "in_axes" for keyword in call.keywords):
        code = failure.with_(call, f"{failure.text(call)[:-1]}, in_axes=({axes}))")
    else:
        code = f"jax.vmap({function}, in_axes=({axes}))"
    reason = (
        "`vmap` calls the function once for each position along the mapped axes, so these must have one length"
        f"{f': {sizes}' if sizes else ''}. An argument that is the same for all of them is not mapped."
    )
    cure = Cure("Say which arguments are mapped; None is the same for all:", code)
    return Explanation(
        "vmap sizes", "`vmap` maps over axes of different lengths", reason, (cure,), api_page("jax.vmap")
    )


def _rank(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("vmap")
    outer = failure.source.parent(call) if failure.source is not None and call is not None else None
    given = outer.args if isinstance(outer, ast.Call) and outer.func is call else []
    axes = ", ".join("None" if _is_scalar(failure, argument) else "0" for argument in given) or "0, None"
    axes = f"({axes},)" if len(given) == 1 else f"({axes})"
    code = (
        failure.with_(call, f"{failure.text(call)[:-1]}, in_axes={axes})")
        if call is not None
        else f"jax.vmap(f, in_axes={axes})"
    )
    reason = (
        "`vmap` takes every argument apart along an axis, by default the first. "
        "One of them is a single number, which has none."
    )
    cure = Cure("Say which arguments are mapped; None is the same for all:", code)
    return Explanation(
        "vmap rank", "`vmap` maps over an argument that has no axis", reason, (cure,), api_page("jax.vmap")
    )


def _is_scalar(failure: Failure, node: ast.expr) -> bool:
    value = failure.value(node)
    return isinstance(node, ast.Constant) or getattr(value, "shape", None) == () or isinstance(value, (int, float))


def _leaked(failure: Failure, match: re.Match[str]) -> Explanation:
    made = re.search(
        r"(?:was created on line|leaked intermediate value was created on line):?\s+(\S+?):(\d+)(?::\d+)?\s",
        failure.message,
    )
    where = f" on line {made[2]} of {made[1].rpartition('/')[2]}" if made else ""
    code = "def inner(x):\n    value = ...\n    return result, value   # give it back\n\nresult, value = inner(x)"
    reason = (
        f"A value that was traced inside another function{where} was kept in a variable outside, and is used after "
        "that function has ended. While it was traced it had no number, and now it never gets one."
    )
    cures = (
        Cure("Give the value back instead of storing it:", code),
        Cure("To find where it was stored:", f"with jax.checking_leaks():\n    {failure.name}(...)"),
    )
    return Explanation(
        "leak",
        "a traced value was kept after its function had ended",
        reason,
        cures,
        failure.link or error_page("UnexpectedTracerError"),
    )


def _axis_name(failure: Failure, match: re.Match[str]) -> Explanation:
    name = match[1].strip("'\"")
    reason = (
        "Collectives such as `psum` work over an axis that has a name: of `vmap`, or of the devices under `shard_map`. "
        f"None of those around this line is called `{name}`."
    )
    cures = (
        Cure("Name the mapped axis:", f'jax.vmap({failure.name}, axis_name="{name}")'),
        Cure(
            "Or run it on the devices of a mesh:",
            f'jax.shard_map({failure.name}, mesh=jax.make_mesh((N,), ("{name}",)), in_specs=..., out_specs=...)',
        ),
    )
    return Explanation("axis name", f"there is no axis named `{name}`", reason, cures, api_page("jax.shard_map"))


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
    Case("leak", ("UnexpectedTracerError",), "", _leaked),
    Case("static argument", ("ValueError", "TypeError"), r"Non-hashable static arguments", _static),
    Case(
        "not an array",
        ("TypeError",),
        r"as an abstract array|is not a valid JAX type|Argument .* is not a valid",
        lambda f, m: _result(f, m) if "returned a value" in f.message else _not_an_array(f, m),
    ),
    Case("vmap sizes", ("ValueError",), r"vmap got inconsistent sizes", _sizes),
    Case("vmap rank", ("ValueError",), r"vmap was requested to map its argument along axis", _rank),
    Case("axis name", ("NameError", "KeyError", "ValueError"), r"unbound axis name:? ([\w'\"]+)", _axis_name),
    Case(
        "call",
        ("TypeError",),
        r"(?:missing \d+ required|takes .* positional arguments? but|unexpected keyword argument)",
        _missing,
    ),
)
