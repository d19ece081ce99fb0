"""Random keys that are none, and keys that are computed with."""

from __future__ import annotations

import ast
import re
from typing import Any

import jax

from jaxviz.errors.cases.draws import by_jax, key_at_hand
from jaxviz.errors.cases.given import argument
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, error_page, plain
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.source import Source, definition_of


def _no_key(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.find(ast.Call)
    first = call.args[0] if call is not None and call.args else None
    text = failure.text(first) or "seed"
    reason = (
        "Random numbers of JAX are computed from a key, which is made of a seed once and then split. "
        f"`{text}` is not a key."
    )
    second = call.args[1] if call is not None and len(call.args) > 1 else None
    if _is_key(failure.value(second)) and failure.source is not None and call is not None:
        swapped = failure.source.replaced(call, {call.args[0]: failure.text(second), call.args[1]: text})
        there = Cure("Give the key first:", failure.with_(call, swapped))
        return Explanation("no key", f"`{text}` is not a random key", reason, (there,), api_page("jax.random.key"))
    if call is not None and first is not None and _is_shape(failure, first) and failure.source is not None:
        given = failure.source.replaced(call, {first: f"jax.random.key(0), {text}"})
        before = Cure("Give a key first, a new one for each draw:", failure.with_(call, given))
        return Explanation("no key", f"`{text}` is not a random key", reason, (before,), api_page("jax.random.key"))
    number = isinstance(first, ast.Constant) and isinstance(first.value, int)
    code = (
        failure.with_(first, f"jax.random.key({text if number else 0})") if first is not None else "jax.random.key(0)"
    )
    cure = Cure("Make a key of the seed:", code)
    return Explanation("no key", f"`{text}` is not a random key", reason, (cure,), api_page("jax.random.key"))


def _without_key(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """A draw that is given no key at all, but other things by name."""
    call = failure.calls(match[1])
    module = str(getattr(failure.value(call.func), "__module__", "")) if call is not None else ""
    if call is None or not module.startswith("jax"):
        return None
    reason = (
        "Random numbers of JAX are computed from a key, which is made of a seed once and then split: there is no "
        f"generator that is known everywhere. `{failure.text(call.func)}` is given none."
    )
    given = [failure.text(one) for one in call.args] + [ast.unparse(one) for one in call.keywords]
    code = failure.with_(call, f"{failure.text(call.func)}({', '.join([key_at_hand(failure), *given])})")
    cure = Cure("Give a key first, a new one for each draw:", code)
    return Explanation("no key", f"`{match[1]}` has no random key", reason, (cure,), api_page("jax.random.key"))


def _is_shape(failure: Failure, node: ast.expr) -> bool:
    value = failure.value(node)
    is_shape = isinstance(node, ast.Attribute) and node.attr == "shape"
    of_numbers = isinstance(value, tuple) and all(type(one) is int for one in value)
    return is_shape or of_numbers or isinstance(node, ast.Tuple)


def _by_place(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """`jax.random.uniform(key, 0.0, 1.0)`: bounds by their places, as NumPy takes them."""
    call = failure.find(ast.Call)
    if call is None or len(call.args) < 3 or not _is_key(failure.value(call.args[0])):
        return None
    key, *placed = call.args
    size = [placed.pop(0)] if _is_shape(failure, placed[0]) else []
    with_size = ast.Call(call.func, [], [*call.keywords, *(ast.keyword("size", one) for one in size)])
    code = by_jax(failure, with_size, placed, failure.text(key))
    name = last_name(call.func)
    reason = (
        "Functions of `jax.random` are given the key, the shape and the type first, where those of NumPy are given "
        f"the bounds or the scale. `{failure.text(call)}` gives them in the order of NumPy."
    )
    title = f"what `{name}` is given stands in other places"
    cures = (Cure("Give each in its place:", failure.with_(call, code)),) if code else ()
    return Explanation("draw", title, reason, cures, api_page(f"jax.random.{name}"))


def _is_key(value: object) -> bool:
    dtype = getattr(value, "dtype", None)
    return dtype is not None and jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)


def _arithmetic(failure: Failure, match: re.Match[str]) -> Explanation:
    node = failure.expression
    left = failure.text(node.left) if isinstance(node, ast.BinOp) else "key"
    right = failure.text(node.right) if isinstance(node, ast.BinOp) else "1"
    code = (
        failure.with_(node, f"jax.random.fold_in({left}, {right})")
        if node is not None
        else "jax.random.fold_in(key, i)"
    )
    reason = (
        "A key is no number: there is no adding to it. "
        "New keys come from splitting one, or from folding a number into it."
    )
    cures = (
        Cure("Fold a number into the key:", code),
        Cure("Or split it:", f"{left}, other = jax.random.split({left})"),
    )
    return Explanation(
        "key arithmetic", "a random key cannot be computed with", reason, cures, api_page("jax.random.fold_in")
    )


def _many(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls(match[1])
    given = argument(call, 0, "key")
    cures = []
    if call is not None and given is not None:
        key = failure.text(given)
        each = failure.source.replaced(call, {given: "key"}) if failure.source is not None else ""
        drawn = f"jax.vmap(lambda key: {each})({key})"
        cures = [
            Cure("Draw with each of them:", failure.with_(call, drawn)),
            Cure("Or take one:", failure.with_(given, f"{key}[0]")),
        ]
    reason = (
        "`split` gives an array of keys, each for one draw; a function of `jax.random` takes one of them. To "
        f"draw with each, it is mapped. {failure.types(given)}"
    )
    title = f"`{match[1]}` wants one key, and was given {match[2]} of them"
    return Explanation("many keys", title, reason.strip(), tuple(cures), api_page("jax.random.split"))


def _as_numbers(failure: Failure, match: re.Match[str]) -> Explanation:
    """A key that is given to a function of arrays."""
    call = failure.find(ast.Call)
    given = [one for one in call.args if _is_key(failure.value(one))] if call is not None else []
    text = failure.text(given[0]) if given else "key"
    cures = (
        [Cure("Draw a number with it first:", failure.with_(given[0], f"jax.random.normal({text})"))] if given else []
    )
    reason = (
        f"`{text}` is a random key, and a key is no number: it says which random numbers come. Functions of "
        "`jax.random` draw them."
    )
    return Explanation(
        "key arithmetic", "a random key cannot be computed with", reason, tuple(cures), api_page("jax.random.key")
    )


def _used_twice(failure: Failure, match: re.Match[str]) -> Explanation:
    """A key that was given to two draws, where JAX is asked to look for that."""
    code: Any = getattr(getattr(failure.fn, "__wrapped__", failure.fn), "__code__", None)
    source = Source(code, 0, code.co_firstlineno) if code is not None else None
    function = source.own(definition_of(code)) if source is not None else None
    places = _uses(function) if function is not None else []
    name = places[0].id if places else ""
    cures = []
    if source is not None and isinstance(function, ast.FunctionDef) and places:
        changes: dict[ast.AST, str] = {one: f"{name}s[{place}]" for place, one in enumerate(places)}
        lines = [f"{name}s = jax.random.split({name}, {len(places)})"]
        for statement in function.body:
            inside = {one: text for one, text in changes.items() if one in {*ast.walk(statement)}}
            lines += [source.replaced(statement, inside)] if inside else []
        cures = [Cure("Split it, and give each draw one of its own:", "\n".join(lines), inside=False)]
    reason = (
        f"{f'`{name}`' if name else 'A key'} is given to two draws, which then give the same numbers, or numbers that "
        "depend on each other. JAX was asked to look for that, by `jax_debug_key_reuse`."
    )
    title = f"{f'the key `{name}`' if name else 'a key'} is used twice"
    return Explanation("key reuse", title, reason, tuple(cures), failure.link or error_page("KeyReuseError"))


def _uses(function: ast.AST) -> list[ast.Name]:
    """The places at which functions of `jax.random` are given the first key that several of them are given."""
    uses: dict[str, list[ast.Name]] = {}
    for node in ast.walk(function):
        given = node.args[0] if isinstance(node, ast.Call) and node.args else None
        drawing = isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[0].endswith(("random", "jr"))
        if isinstance(given, ast.Name) and drawing:
            uses.setdefault(given.id, []).append(given)
    several = next((found for found in uses.values() if len(found) > 1), [])
    return sorted(several, key=lambda one: (one.lineno, one.col_offset))


CASES = (
    Case("key reuse", ("KeyReuseError",), "", _used_twice),
    Case("key arithmetic", ("TypeError", "ValueError"), r"^Cannot interpret 'key<\w+>' as a data type", _as_numbers),
    Case("draw", ("TypeError",), r"^\w+\(\) takes from \d+ to \d+ positional arguments but", _by_place),
    Case("draw", ("TypeError",), r"^Cannot interpret '-?[\d.e+-]+' as a data type", _by_place),
    Case("no key", ("TypeError", "ValueError"), r"invalid PRNG key data|unexpected PRNG key type", _no_key),
    Case(
        "many keys",
        ("ValueError", "TypeError"),
        r"(\w+) accepts a single key, but was given a key array of(?: shape)? (\(.*?\))",
        _many,
    ),
    Case("no key", ("TypeError",), r"^(\w+)\(\) missing \d required positional argument: 'key'", _without_key),
    plain(
        "sample",
        ("ValueError",),
        r"Cannot take a larger sample \(size (\d+)\) than population \(size (\d+)\) when 'replace=False'",
        "$1 of $2 cannot be drawn without putting back",
        "With `replace=False` each is drawn at most once, so there can be no more draws than there are entries. $types",
        [("Put each back:", "jax.random.choice(key, values, (N,), replace=True)")],
        api_page("jax.random.choice"),
    ),
    Case("key arithmetic", ("TypeError",), r"does not accept dtypes? .*key<", _arithmetic),
)
