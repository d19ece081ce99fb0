"""Random keys that are none, and keys that are computed with."""

from __future__ import annotations

import ast
import re

import jax

from jaxviz.errors.cases.given import argument
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, plain
from jaxviz.errors.failure import Failure


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
    number = isinstance(first, ast.Constant) and isinstance(first.value, int)
    code = (
        failure.with_(first, f"jax.random.key({text if number else 0})") if first is not None else "jax.random.key(0)"
    )
    cure = Cure("Make a key of the seed:", code)
    return Explanation("no key", f"`{text}` is not a random key", reason, (cure,), api_page("jax.random.key"))


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


CASES = (
    Case("no key", ("TypeError", "ValueError"), r"invalid PRNG key data|unexpected PRNG key type", _no_key),
    Case(
        "many keys",
        ("ValueError", "TypeError"),
        r"(\w+) accepts a single key, but was given a key array of(?: shape)? (\(.*?\))",
        _many,
    ),
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
