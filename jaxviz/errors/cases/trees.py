"""Trees of arrays that are built differently: arguments of `tree.map`, parameters and gradients, states."""

from __future__ import annotations

import ast
import re
from typing import Any

from jaxviz.errors.explanation import Case, Cure, Explanation
from jaxviz.errors.failure import Failure
from jaxviz.errors.rewriting import called, parameters, with_keyword
from jaxviz.errors.trial import cannot_work

_PAGE = "https://docs.jax.dev/en/latest/pytrees.html"


def _differ(failure: Failure, match: re.Match[str]) -> Explanation:
    path = re.search(r"at key path\s*\n\s*(\S[^\n]*)", failure.message)
    where = re.sub(r"^(tree_map tree|shard_map \w+|vmap \w+|pytree)", "", path[1]).strip().rstrip(".") if path else ""
    at = f" at `{where}`" if where else ""
    how = _how(failure.message)
    call = failure.find(ast.Call)
    trees = [failure.text(one) for one in (call.args[1:] if call is not None and _is_map(call) else [])]
    named = " and ".join(f"`{text}`" for text in trees[:3])
    inside = f" inside `{failure.library}`" if failure.library else ""
    reason = (
        f"A function over trees walks through all of them side by side{inside}, so they must be built of the same "
        f"dictionaries, tuples and lists. {f'Of {named}, ' if named and len(trees) > 1 else ''}"
        f"{how if named and len(trees) > 1 else how[:1].upper() + how[1:]}{at}."
    )
    cures = _shared_keys(failure, call) if call is not None and _is_map(call) else []
    if re.search(r"NoneType|Expected None", failure.message) and call is not None and _is_map(call):
        cures.insert(0, Cure("None is a tree without leaves. To treat it as a leaf:", _with_none(failure, call)))
    if "optax" in failure.library_path:
        cures.insert(0, Cure("Make the state of the very parameters that it is for:", "state = optimizer.init(params)"))
    return Explanation("trees", "the trees are built differently", reason, tuple(cures), _PAGE)


def _shared_keys(failure: Failure, call: ast.Call) -> list[Cure]:
    """A map over dictionaries of which some have more entries than others: over those that all have."""
    held = [_keys_of(failure, one) for one in call.args[1:]]
    if not held or not all(held):
        return []
    shared = set.intersection(*map(set, held))
    least = next((one for one, tree in zip(call.args[1:], held, strict=True) if tree == shared), None)
    if least is None or failure.source is None:
        return []
    name = failure.text(least)
    changes: dict[ast.AST, str] = {
        one: f"{{key: {failure.text(one)}[key] for key in {name}}}"
        for one, tree in zip(call.args[1:], held, strict=True)
        if tree != shared
    }
    code = failure.with_(call, failure.source.replaced(call, changes))
    return [Cure(f"Take those entries alone that `{name}` has too:", code)] if changes else []


def _keys_of(failure: Failure, node: ast.expr) -> set[Any]:
    """The keys of a dictionary, by its value or as it is written; none where that is not known."""
    if isinstance(node, ast.Dict) and all(isinstance(key, ast.Constant) for key in node.keys):
        return {getattr(key, "value", None) for key in node.keys}
    value = failure.value(node)
    return set(value) if type(value) is dict else set()


def _is_map(call: ast.Call) -> bool:
    return isinstance(call.func, (ast.Attribute, ast.Name)) and ast.unparse(call.func).endswith(
        ("tree.map", "tree_map")
    )


def _how(message: str) -> str:
    """What differs, in one clause."""
    keys = re.search(r"symmetric difference on key sets is\s+(.+)", message)
    if keys:
        # From 0.12 on they stand in brackets.
        return f"only one has {', '.join(f'`{_bare(key)}`' for key in keys[1].split())}"
    # Until 0.6.
    mismatch = re.search(r"Dict key mismatch; expected keys: \[(.*?)\]; dict: \{(.*?)\}", message, re.DOTALL)
    if mismatch:
        one = set(re.findall(r"'(\w+)'", mismatch[1]))
        other = set(re.findall(r"'(\w+)':", mismatch[2]))
        if one < other or other < one:
            return f"only one has {', '.join(f'`{key}`' for key in sorted(one ^ other))}"
        return f"one has the keys {_keys(one)}, the other {_keys(other)}"
    metadata = re.findall(r"with metadata\s+(\(.*?\))\s", message)
    if len(metadata) < 2:
        metadata = re.findall(r"with (?:such )?metadata\s*\n?\s*(\([^\n]*\))", message)
    if len(metadata) == 2:
        return f"one has the keys {metadata[0]}, the other {metadata[1]}"
    lengths = re.search(r"of length (\d+), but .* of length (\d+)", message)
    if lengths:
        return f"one has {lengths[1]} parts, the other {lengths[2]}"
    kinds = re.findall(r"<class '([\w.]+)'>", message)
    if len(kinds) > 1:
        before, now = (_kind(kind) for kind in kinds[:2])
        return f"one has {before}, the other {now}"
    return "they differ"


def _with_none(failure: Failure, call: ast.Call) -> str:
    """A map over trees that gives None where one of them has None, unless its function knows what to do there."""
    leaf = "lambda leaf: leaf is None"
    code = failure.with_(call, with_keyword(failure, call, "is_leaf", leaf))
    if not cannot_work(failure, code) or failure.source is None:
        return code
    names = parameters(call.args[0]) if isinstance(call.args[0], ast.Lambda) else []
    names = names or ["one", "other", "third", "fourth"][: len(call.args) - 1]
    asked = " or ".join(f"{name} is None" for name in names)
    body = call.args[0].body if isinstance(call.args[0], ast.Lambda) else None
    given = failure.text(body) if body is not None else f"{called(failure, call.args[0])}({', '.join(names)})"
    text = f"lambda {', '.join(names)}: None if {asked} else {given}"
    rest = ", ".join(map(failure.text, call.args[1:]))
    return failure.with_(call, f"{failure.text(call.func)}({text}, {rest}, is_leaf={leaf})")


def _bare(key: str) -> str:
    return key.strip("[]'\"")


def _keys(names: set[str]) -> str:
    return str(tuple(sorted(names)))


def _kind(name: str) -> str:
    last = name.rpartition(".")[2]
    return "an array" if "Tracer" in last or "Array" in last else "None" if last == "NoneType" else f"a {last}"


CASES = (
    Case(
        "trees",
        ("ValueError", "TypeError"),
        r"pytree structure error|Custom node type mismatch|(?:Dict|Tuple|List|Named tuple|Mismatch custom) "
        r"(?:key|arity|node)[\w ]*mismatch|Expected (?:dict|tuple|list|named tuple|None), got",
        _differ,
    ),
)
