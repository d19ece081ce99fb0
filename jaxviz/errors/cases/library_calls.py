"""Calls of Flax and Optax that lack something, or are given it in another form: the person's call, mended."""

from __future__ import annotations

import ast
import re
from typing import Any

from jaxviz.arrays import is_array
from jaxviz.errors.explanation import Case, Cure, Explanation
from jaxviz.errors.failure import Failure, type_text
from jaxviz.errors.rewriting import fresh, with_keyword
from jaxviz.errors.trial import cannot_work, given_by

_FLAX = "https://flax.readthedocs.io/en/latest/api_reference/flax.errors.html"
_OPTAX = "https://optax.readthedocs.io/en/latest/api/"
_APPLY = ("apply", "init", "init_with_output")


# Flax.


def _random(failure: Failure, match: re.Match[str]) -> Explanation:
    module, name = match.groups()
    outside, call = failure.calling(*_APPLY)
    cures = []
    if call is not None:
        written = f'{{"{name}": jax.random.key(0)}}'
        code = outside.with_(call, with_keyword(outside, call, "rngs", written))
        cures = [Cure("Give one, a new one in each step:", code)]
    reason = (
        f"A module of Flax gets its keys at the call, each with a name; `{module}` asks for the one named `{name}`, "
        "and none was given. In evaluation nothing is drawn."
    )
    title = f"`{module}` draws random numbers, and has no key for `{name}`"
    return Explanation("flax random numbers", title, reason, tuple(cures), f"{_FLAX}#flax.errors.InvalidRngError")


def _immutable(failure: Failure, match: re.Match[str]) -> Explanation:
    variable, module, collection = match.groups()
    outside, call = failure.calling("apply")
    cures = []
    if call is not None:
        written = with_keyword(outside, call, "mutable", f'["{collection}"]')
        statement = outside.statement
        code = f"out, changed = {written}"
        if isinstance(statement, ast.Return) and statement.value is call:
            code += "\nreturn out"
        elif isinstance(statement, ast.Assign) and statement.value is call:
            code = f"{outside.text(statement.targets[0])}, changed = {written}"
        elif statement is not None and not hasattr(statement, "body"):
            code += f"\n{outside.with_(call, 'out')}"
        cures = [Cure("Name it; the call then gives its new values too:", code)]
    reason = (
        "`apply` changes nothing that it is not allowed to, because a traced function gives everything back. "
        f"`{module}` keeps `{variable}` in the collection `{collection}`, which was not named."
    )
    title = f"`{variable}` of `{module}` may not be changed in this call"
    return Explanation("flax immutable", title, reason, tuple(cures), f"{_FLAX}#flax.errors.ModifyScopeVariableError")


def _without_collection(failure: Failure, match: re.Match[str]) -> Explanation:
    outside, call = failure.calling("apply")
    given = call.args[0] if call is not None and call.args else None
    cures = []
    if given is not None:
        code = outside.with_(given, f'{{"params": {outside.text(given)}}}')
        cures = [Cure("Give them with the name of their collection around them:", code)]
    shown = f"`{outside.text(given)}`" if given is not None else "What it was given"
    reason = (
        "A module of Flax holds no parameters: `apply` gets them as its first argument, a dictionary of collections, "
        f'such as {{"params": ...}}. {shown} is what stands inside of one.'
    )
    title = "`apply` was given parameters without the name of their collection"
    page = f"{_FLAX}#flax.errors.ApplyScopeInvalidVariablesTypeError"
    return Explanation("flax parameters", title, reason, tuple(cures), page)


def _missing(failure: Failure, match: re.Match[str]) -> Explanation:
    name, collection, module = match[1], match[2], match[3] or "/"
    outside, call = failure.calling("apply")
    given = call.args[0] if call is not None and call.args else None
    cures = []
    if given is not None and (collection == "params" or name == "params"):
        code = outside.with_(given, f'{{"params": {outside.text(given)}}}')
        if not cannot_work(outside, code):
            cures = [Cure("Give what `init` made, with the name of the collection around it:", code)]
    reason = (
        "A module of Flax holds no parameters: `apply` gets them as its first argument, a dictionary of collections, "
        f'such as {{"params": ...}}. In this one `{collection}` is missing or empty.'
    )
    title = f"there is no `{name}` of `{module}` in what `apply` was given"
    return Explanation("flax parameters", title, reason, tuple(cures), f"{_FLAX}#flax.errors.ScopeCollectionNotFound")


# Optax.


def _needs_parameters(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("update")
    given = _initialized(failure, call)
    cures = []
    if call is not None and given:
        code = failure.with_(call, f"{failure.text(call)[:-1].rstrip().rstrip(',')}, {given})")
        cures = [Cure("Pass them as the third argument:", code)]
    reason = (
        "This optimizer looks at the parameters too, as weight decay does, and `update` gets them after the gradients "
        "and the state. They were not passed."
    )
    title = f"`{failure.text(call.func) if call is not None else 'update'}` was not given the parameters"
    return Explanation("optax parameters", title, reason, tuple(cures), f"{_OPTAX}transformations.html")


def _initialized(failure: Failure, call: ast.Call | None) -> str:
    """What the same optimizer was initialized with, as that is written in the same function."""
    owner = failure.text(call.func.value) if call is not None and isinstance(call.func, ast.Attribute) else ""
    source = failure.source
    around = source.around(call) if source is not None and call is not None else []
    function = next((one for one in around if isinstance(one, ast.FunctionDef)), None)
    body = function.body if function is not None else []
    for node in (node for statement in body for node in ast.walk(statement)):
        if isinstance(node, ast.Call) and failure.text(node.func) == f"{owner}.init" and len(node.args) == 1:
            return failure.text(node.args[0])
    named = [name for name in ("params", "parameters", "model", "weights") if name in failure.variables]
    return named[0] if len(named) == 1 else ""


def _labels(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """A loss over classes that is given numbers of classes for probabilities, or the other way round."""
    names = ("softmax_cross_entropy", "softmax_cross_entropy_with_integer_labels")
    call = failure.calls(*names)
    if call is None or len(call.args) < 2 or "optax" not in failure.library_path:
        return None
    name = failure.text(call.func).rpartition(".")[2]
    labels: Any = given_by(failure, failure.text(call.args[1]))
    if not is_array(labels):
        return None
    whole = labels.dtype.kind in "iu"
    logits: Any = given_by(failure, failure.text(call.args[0]))
    if not whole and name == names[1] and is_array(logits) and labels.ndim == logits.ndim - 1:
        return _labels_of_floats(failure, call, name)
    if whole != (name == names[0]):
        return None
    other = names[1] if whole else names[0]
    root = failure.text(call.func).rpartition(".")[0]
    code = failure.with_(call.func, f"{root}.{other}" if root else other)
    text = failure.text(call.args[1])
    reason = (
        f"`{name}` wants {'a probability for each class' if whole else 'the number of the class'} of each example. "
        f"`{text}` holds {'the numbers of the classes' if whole else 'a probability for each of them'}."
    )
    title = f"`{name}` was given {'numbers of classes' if whole else 'probabilities'}"
    return Explanation("labels", title, reason, (Cure("Use the loss for these:", code),), f"{_OPTAX}losses.html")


def _labels_of_floats(failure: Failure, call: ast.Call, name: str) -> Explanation:
    text, given = failure.text(call.args[1]), call.args[1]
    reason = (
        f"`{name}` takes the number of the class of each example, and looks up what belongs to it, so it must be an "
        f"integer. `{text}` holds one number for each example, as floating-point numbers."
    )
    whole = text if isinstance(given, (ast.Name, ast.Call, ast.Attribute, ast.Subscript)) else f"({text})"
    cure = Cure("Make integers of them:", failure.with_(given, f"{whole}.astype(int)"))
    return Explanation("labels", f"`{name}` was given floats for classes", reason, (cure,), f"{_OPTAX}losses.html")


def _other_gradients(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """`update` with gradients that are no tree like the parameters."""
    call = failure.calls("update")
    if call is None or not call.args or "optax" not in failure.library_path:
        return None
    given, parameters = failure.text(call.args[0]), _initialized(failure, call)
    reason = (
        "An optimizer goes through the gradients and its own state side by side, so both are built as the parameters "
        f"are{f', here `{parameters}`' if parameters else ''}. `{given}` is built otherwise: it is "
        f"{type_text(failure.value(call.args[0])) if call.args[0] in _looked_up(call) else 'something else'}."
    )
    return Explanation(
        "optax tree", f"`{given}` is not built as the parameters are", reason, (), f"{_OPTAX}transformations.html"
    )


def _looked_up(call: ast.Call) -> list[ast.expr]:
    return [one for one in call.args if isinstance(one, (ast.Name, ast.Attribute))]


def _other_state(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """`update` with the state that another optimizer made, or with something else in its place."""
    call = failure.calls("update")
    if call is None or len(call.args) < 2 or "optax" not in failure.library_path:
        return None
    optimizer, state = failure.text(getattr(call.func, "value", None)), failure.text(call.args[1])
    parameters = failure.text(call.args[2]) if len(call.args) > 2 else _initialized(failure, call)
    held = [name for name, value in failure.variables.items() if _is_state(value)]
    cures = []
    if _is_state(failure.value(call.args[1])) or state == parameters or not parameters:
        cures = _made_anew(failure, call, optimizer, state, parameters)
    if _is_state(failure.value(call.args[0])) and failure.source is not None:
        gradients, own = (failure.text(one) for one in call.args[:2])
        code = failure.with_(call, failure.source.replaced(call, {call.args[0]: own, call.args[1]: gradients}))
        cures = [Cure("Give the gradients first, and the state after them:", code)]
    elif len(held) == 1 and not _is_state(failure.value(call.args[1])):
        code = _with_state(failure, call, held[0], parameters)
        cures = [Cure("Give the state between the gradients and the parameters:", code)]
    reason = (
        f"The state of an optimizer holds what that one keeps, and no other can read it. `{state}` is not what "
        f"`{optimizer}.init` gives."
    )
    title = f"`{state}` is not the state of this optimizer"
    return Explanation("optax state", title, reason, tuple(cures), f"{_OPTAX}transformations.html")


def _is_state(value: Any) -> bool:
    """Whether a value is the state of an optimizer, or a chain of these."""
    if type(value).__module__.partition(".")[0] == "optax":
        return not hasattr(value, "update")  # which is an optimizer
    return type(value) is tuple and any(_is_state(one) for one in value)


def _with_state(failure: Failure, call: ast.Call, state: str, parameters: str) -> str:
    """The call with the state that is at hand, and with the gradients first."""
    gradients, other = (failure.text(one) for one in call.args[:2])
    if gradients == parameters:
        gradients, other = other, gradients
    given = [gradients, state] + [other] * (other == parameters)
    return failure.with_(call, f"{failure.text(call.func)}({', '.join(given)})")


def _made_anew(failure: Failure, call: ast.Call, optimizer: str, state: str, parameters: str) -> list[Cure]:
    """A state of this optimizer; the parameters themselves may have been given in its place."""
    if not optimizer or not state.isidentifier() or not parameters:
        return []
    name = state if state != parameters else fresh(failure, "state", "opt_state")
    code = f"{name} = {optimizer}.init({parameters})"
    if not hasattr(failure.statement, "body"):
        code += f"\n{failure.with_(call.args[1], name)}"
    return [Cure("Make the state with the optimizer that reads it, where it is made first:", code)]


def _in_other_order(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """`apply_updates` with the state of the optimizer, for `update` gives the updates first."""
    call = failure.calls("apply_updates")
    source = failure.source
    if call is None or len(call.args) < 2 or not isinstance(failure.value(call.args[1]), tuple) or source is None:
        return None
    text = failure.text(call.args[1])
    updates = [
        node
        for node in ast.walk(source.tree or ast.Module([], []))
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and failure.text(node.value.func).endswith(".update")
    ]
    for node in updates:
        if failure.text(node.targets[0]) == text:
            return _both(failure, node, text)
    made = [node for node in updates if [*map(failure.text, getattr(node.targets[0], "elts", []))][1:] == [text]]
    if not made:
        return None
    first = failure.text(getattr(made[0].targets[0], "elts", [])[0])
    code = source.replaced(made[0], {made[0].targets[0]: f"{text}, {first}"})
    reason = (
        f"`update` gives the updates first and the state of the optimizer second. `{text}` is the state, which is "
        "built otherwise than the parameters."
    )
    title = f"`{text}` is the state of the optimizer, not the updates"
    return Explanation(
        "optax order", title, reason, (Cure("Take them in this order:", code),), f"{_OPTAX}apply_updates.html"
    )


def _both(failure: Failure, made: ast.Assign, text: str) -> Explanation:
    """`apply_updates` with all that `update` gives."""
    given = made.value.args[1:2] if isinstance(made.value, ast.Call) else []
    state = failure.text(given[0]) if given and isinstance(given[0], ast.Name) else fresh(failure, "state", "opt_state")
    source = failure.source
    code = source.replaced(made, {made.targets[0]: f"{text}, {state}"}) if source is not None else ""
    reason = (
        "`update` gives two things: the updates, which are built as the parameters are, and the new state of the "
        f"optimizer. `{text}` is a tuple of both."
    )
    cure = Cure("Take them apart:", code)
    return Explanation(
        "optax order",
        f"`{text}` is a tuple of the updates and the state",
        reason,
        (cure,),
        f"{_OPTAX}apply_updates.html",
    )


_BOTH = ("ValueError", "TypeError")

CASES: tuple[Case, ...] = (
    Case("flax random numbers", ("InvalidRngError",), r"(\w+) needs PRNG for \"(\w+)\"", _random),
    Case(
        "flax immutable",
        ("ModifyScopeVariableError",),
        r"Cannot update variable \"(\w+)\" in \"(\S+?)\" because collection \"(\w+)\" is immutable",
        _immutable,
    ),
    Case(
        "flax parameters",
        ("ScopeCollectionNotFound", "ScopeParamNotFoundError", "ScopeVariableNotFoundError"),
        r"\"(\w+)\" (?:from|in) (?:collection|scope) \"([\w/]+)\"(?: in \"(\S+?)\")?",
        _missing,
    ),
    Case("flax parameters", ("ApplyScopeInvalidVariablesTypeError",), "", _without_collection),
    Case("optax parameters", ("ValueError",), r"requires the current value of param", _needs_parameters),
    Case("labels", _BOTH, r"broadcast|dtype that is a subdtype|shape", _labels),
    Case("optax tree", ("TypeError",), r"unsupported operand type", _other_gradients),
    Case("optax state", ("AttributeError",), r"object has no attribute", _other_state),
    Case("optax state", _BOTH, r"number of updates and states has to be the same", _other_state),
    Case("optax order", _BOTH, r"Expected|mismatch|structure|Custom node|and 'tuple'", _in_other_order),
)
