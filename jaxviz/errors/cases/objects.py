"""Objects of classes that JAX does not know, given to loops, mapped functions and derivatives, which take trees of
arrays; and how a class becomes such a tree."""

from __future__ import annotations

import ast
import dataclasses
import re
import types
from collections.abc import Iterator
from typing import Any

import jax

from jaxviz.arrays import is_array
from jaxviz.errors.cases.mapped import mapped
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure
from jaxviz.errors.source import names_read

#: The advice that `as_tree` is the code of.
REGISTER = "Tell JAX, below the class, which arrays it holds"


def class_in(message: str) -> str:
    """The class that a message of JAX names, without its module and the functions that it was made in."""
    found = re.search(r"of type '?<class '([^']+)'>", message)
    return found[1].rpartition(".")[2] if found else "object"


def object_of_class(failure: Failure, name: str) -> Any | None:
    """What of a class with this name the explored function and the failing statement are about, or what JAX was given
    there."""
    return next((one for one in _objects(failure) if type(one).__name__ == name), None)


def _objects(failure: Failure) -> list[Any]:
    statement = failure.statement
    named = [one for one in ast.walk(statement) if isinstance(one, ast.Name)] if statement is not None else []
    inside = [one for place in failure.places for one in list(place.frame.f_locals.values())]
    given = [one for several in inside if type(several) in (list, tuple) for one in several]
    own = [*failure.args, *failure.kwargs.values(), *map(failure.value, named), failure.variables.get("self")]
    return [*own, *inside, *given]


def as_tree(held: Any, mapped_over: bool = False) -> str:
    """The code by which JAX takes the class of an object apart into what is traced, its arrays and numbers, and what is
    a part of the program; empty where it holds nothing that could be traced. Numbers are no rows to be `mapped_over`.
    """
    if dataclasses.is_dataclass(held) and not isinstance(held, type):
        return _registered_dataclass(held, mapped_over)
    return _registered_class(held, mapped_over) if _is_plain_object(held) else ""


def _registered_dataclass(held: Any, mapped_over: bool) -> str:
    fields = {one.name: getattr(held, one.name) for one in dataclasses.fields(held) if one.init}
    traced, known = _taken_apart(fields, mapped_over)
    if not traced:
        return ""
    code = (
        f"jax.tree_util.register_dataclass(\n    {type(held).__name__}, data_fields={traced}, meta_fields={known}\n)"
    ).replace("'", '"')
    return "\n".join(dict.fromkeys([*_inside(fields, mapped_over), code]))


def _registered_class(held: Any, mapped_over: bool) -> str:
    """Any other class, without a call of its `__init__`, which may expect what JAX does not have."""
    traced, known = _taken_apart(vars(held), mapped_over)
    if not traced:
        return ""
    name = type(held).__name__
    lines = [
        *("def taken_apart(one):", f"    return {_fields(traced)}, {_fields(known)}", ""),
        *("def put_together(known, traced):", f"    one = object.__new__({name})"),
        *(f"    {_fields(names)} = {text}" for names, text in ((traced, "traced"), (known, "known")) if names),
        *("    return one", "", f"jax.tree_util.register_pytree_node({name}, taken_apart, put_together)"),
    ]
    return "\n".join([*_inside(vars(held), mapped_over), "\n".join(lines)])


def _fields(names: list[str]) -> str:
    return f"({', '.join(f'one.{name}' for name in names)}{',' * (len(names) == 1)})"


def _inside(fields: dict[str, Any], mapped_over: bool) -> list[str]:
    """The same for the classes of what an object holds."""
    return [code for one in fields.values() if (code := as_tree(one, mapped_over)) and _is_unknown(one)]


def _is_unknown(value: Any) -> bool:
    return jax.tree.structure(value) == jax.tree.structure(0)


def _taken_apart(fields: dict[str, Any], mapped_over: bool) -> tuple[list[str], list[str]]:
    """The fields that are traced, and those that are a part of the program."""
    numbers = () if mapped_over else (int, float, complex)
    kinds = (*numbers, tuple, list, dict)
    traced = [name for name, value in fields.items() if is_array(value) or isinstance(value, kinds) or as_tree(value)]
    return traced, [name for name in fields if name not in traced]


def _is_plain_object(held: Any) -> bool:
    """Whether something is an object of the person's whose fields are all that it is made of."""
    functions = (type, types.ModuleType, types.FunctionType, types.MethodType)
    if isinstance(held, functions) or callable(held) or is_array(held) or not hasattr(held, "__dict__"):
        return False
    return type(held).__mro__[1:] == (object,) and bool(vars(held))


def _told(failure: Failure, match: re.Match[str]) -> Explanation | None:
    if "returned a value" in failure.message:
        return None
    what = class_in(failure.message)
    return _not_taken(failure, object_of_class(failure, what), what)


def _mapped_over(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """The same where JAX, before 0.7, saw only that what it maps over has no axis."""
    given = [one for place in failure.places for one in place.frame.f_locals.get("args_flat", ())]
    odd = [one for one in given if not is_array(one) and not isinstance(one, (bool, int, float, complex))]
    return _not_taken(failure, odd[0], type(odd[0]).__name__) if odd else None


def _not_taken(failure: Failure, held: Any, what: str) -> Explanation:
    text = _text_of(failure, held, what)
    shown = f"`{text}`" if text else "an argument"
    reason = (
        "JAX computes with arrays and numbers, in tuples, lists and dictionaries. "
        f"{shown[:1].upper()}{shown[1:]} is of the type {what}, of which it can make no array"
    )
    register = as_tree(held, _is_mapped_over(failure))
    if register:
        reason += ", and which it does not know how to take apart"
        cures: tuple[Cure, ...] = (Cure(f"{REGISTER}:", register, inside=False),)
    else:
        cures = _handed_on(failure, text)
    reason += "."
    return Explanation(
        "not an array", f"{shown} is no array but of the type {what}", reason, cures, api_page("jax.jit")
    )


def _is_mapped_over(failure: Failure) -> bool:
    """Whether what was given is taken apart along its first axis."""
    return failure.calls("vmap", "filter_vmap", "pmap", "map") is not None or mapped(failure) is not None


def _text_of(failure: Failure, held: Any, what: str) -> str:
    """How the failing call names an object, or makes it; empty where that is not seen."""
    call = failure.find(ast.Call)
    for node in _parts(call) if call is not None else ():
        if held is not None and failure.value(node) is held:
            return failure.text(node)
        made = failure.value(node.func) if isinstance(node, ast.Call) else None
        if isinstance(made, type) and made.__name__ == what:
            return failure.text(node)
    return ""


def _parts(call: ast.Call) -> Iterator[ast.expr]:
    """What a call is given, and what tuples, lists and dictionaries among that hold."""
    waiting = [*call.args, *(one.value for one in call.keywords)]
    while waiting:
        node = waiting.pop(0)
        yield node
        if isinstance(node, (ast.Tuple, ast.List)):
            waiting += node.elts
        elif isinstance(node, ast.Dict):
            waiting += node.values


def _handed_on(failure: Failure, text: str) -> tuple[Cure, ...]:
    """What is the same for all turns of a mapped function, handed on to it as it is, and not mapped."""
    found = mapped(failure)
    if found is None or found.made is not None or not text or len(found.vmap.args) != 1 or found.vmap.keywords:
        return ()
    call = found.call
    if call is None or call.keywords or text not in (given := [failure.text(one) for one in call.args]):
        return ()
    others = [one for one in call.args if failure.text(one) != text]
    taken = {*names_read(call)}
    names = iter([name for name in ("a", "b", "c", "d", "e", "f") if name not in taken])
    if not 1 <= len(others) <= 3:
        return ()
    received = {failure.text(one): failure.text(one) if isinstance(one, ast.Name) else next(names) for one in others}
    function = failure.text(found.vmap.args[0])
    inner = function if isinstance(found.vmap.args[0], (ast.Name, ast.Attribute)) else f"({function})"
    handed = ", ".join(received.get(one, one) for one in given)
    anew = f"{failure.text(found.vmap.func)}(lambda {', '.join(received.values())}: {inner}({handed}))"
    code = failure.with_(call, f"{anew}({', '.join(received)})")
    return (Cure(f"Hand `{text}` on as it is; the others alone are mapped:", code),)


CASES = (
    Case("not an array", ("TypeError", "InvalidInputException"), r"^Argument [\s\S]*is not a valid JAX type", _told),
    Case("not an array", ("ValueError",), r"^vmap was requested to map its argument along axis", _mapped_over),
)
