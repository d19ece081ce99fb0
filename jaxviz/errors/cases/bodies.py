"""Functions that are given to scan, while_loop, fori_loop, cond and switch, and do not fit together."""

from __future__ import annotations

import ast
import re
from typing import Any

from jaxviz.arrays import is_array
from jaxviz.errors.cases.given import argument, function_given, result_of
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, plain
from jaxviz.errors.failure import Failure
from jaxviz.errors.rewriting import grouped, parameters, rewritten
from jaxviz.errors.trial import given_by

_BRANCHES = ((1, "true_fun"), (2, "false_fun"))


def _begin(failure: Failure, function: Any | None) -> str:
    """How code that gives another result begins."""
    if isinstance(function, ast.Lambda):
        arguments = failure.text(function.args)
        return f"lambda {arguments}: "
    return "return "


def _pair(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("scan")
    function = function_given(failure, argument(call, 0, "f"))
    result = result_of(function)
    text = failure.text(result) if result is not None else "carry" if function is None else "None"
    begin = _begin(failure, function)
    text_of = f"The body gives `{text}` alone."
    pair = f"{text}, None"
    where = f" at the end of `{function.name}`" if isinstance(function, ast.FunctionDef) else ""
    advice = f"Give a pair{where}; None where nothing shall be stacked:"
    if text == "None":
        arguments = function.args.args if function is not None else []
        text_of = "The body gives nothing: it has no `return`."
        pair = f"{arguments[0].arg if arguments else 'carry'}, None"
    elif isinstance(result, ast.Tuple) and len(result.elts) > 2:
        first, *rest = (failure.text(one) for one in result.elts)
        text_of = f"The body gives {len(result.elts)}: `{text}`."
        pair = f"{first}, ({', '.join(rest)})"
    elif function is not None and parameters(function) and _is_not_carried(failure, call, match[1] or ""):
        pair = f"{parameters(function)[0]}, {text}"
        advice = f"Give what is carried first{where}, as it is or as it shall go on, and `{text}` to be stacked:"
        text_of += " That is not of the type of what is carried."
    pair = f"({pair})" if isinstance(function, ast.Lambda) else pair
    reason = (
        "`scan` takes two things from each turn: what is carried to the next, and what is stacked into an array. "
        f"{text_of}"
    )
    cure = Cure(advice, begin + pair)
    return Explanation("scan pair", "the body of `scan` must give a pair", reason, (cure,), api_page("jax.lax.scan"))


def _is_not_carried(failure: Failure, call: ast.Call | None, given: str) -> bool:
    """Whether an array of a type that JAX names is sure to be something else than what `scan` begins with."""
    start = argument(call, 1, "init")
    begins = failure.value(start)
    if begins is None:
        begins = given_by(failure, failure.text(start))
    if begins is None or not re.fullmatch(r"\w+\[[\d,]*\]", given):
        return False
    if not is_array(begins):
        return not isinstance(begins, (bool, int, float, complex)) or not given.endswith("[]")
    return given != f"{begins.dtype}[{','.join(map(str, begins.shape))}]"


def _while_condition(failure: Failure, match: re.Match[str]) -> Explanation:
    function = function_given(failure, argument(failure.calls("while_loop"), 0, "cond_fun"))
    result = failure.text(result_of(function)) or "condition"
    begin = _begin(failure, function)
    compared = any(sign in result for sign in ("<", ">", "=", "&", "|", "~"))
    text = f"jnp.any({result})" if compared else f"jnp.any({result} > 0)"
    node = result_of(function)
    code = rewritten(failure, node, text) if node is not None else begin + text
    found = re.search(r"output type\(s\) \[(.*)\]", failure.message)
    kind = f" It gives {found[1].replace('ShapedArray', '').strip('()')}." if found else ""
    reason = (
        "Before each turn the program asks the condition whether there is one more, "
        f"so it must be one True or False.{kind}"
    )
    cure = Cure("Make one of many with any or all:", code)
    return Explanation(
        "while condition",
        "the condition of `while_loop` must give one boolean",
        reason,
        (cure,),
        api_page("jax.lax.while_loop"),
    )


def _predicate(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("cond")
    asked = call.args[0] if call is not None and call.args else None
    condition = failure.text(asked) or "condition"
    functions = [function_given(failure, argument(call, place, name)) for place, name in _BRANCHES]
    results = [failure.text(result_of(function)) for function in functions]
    cures = []
    if call is not None and all(results):
        given = [failure.text(argument) for argument in call.args[3:]]
        texts = [
            _with_arguments(failure, function, text, given) for function, text in zip(functions, results, strict=True)
        ]
        cures.append(
            Cure("Choose for each element:", failure.with_(call, f"jnp.where({condition}, {texts[0]}, {texts[1]})"))
        )
    if asked is not None:
        cures.append(Cure("Or make one of many:", failure.with_(asked, f"jnp.any({condition})")))
    other = re.search(r"got (\S+) of type <class '(\w+)'>", failure.message)
    if other is not None and "shape" not in failure.message:
        reason = f"`cond` asks for one True or False, as a boolean or an array. `{condition}` is a {other[2]}."
        cure = Cure(
            "Make a boolean of it first:", failure.with_(asked, f"bool({condition})") if asked is not None else ""
        )
        return Explanation("predicate", f"`{condition}` is no condition", reason, (cure,), api_page("jax.lax.cond"))
    found = re.search(r"of shape (\([\d, ]*\))", failure.message)
    shape = f" `{condition}` has the shape {found[1]}." if found else ""
    reason = f"`cond` runs one of two branches, so it asks for one True or False.{shape or ' This has many.'}"
    return Explanation(
        "predicate", "`cond` chooses once, not for each element", reason, tuple(cures), api_page("jax.lax.cond")
    )


def _with_arguments(failure: Failure, function: Any, text: str, given: list[str]) -> str:
    """The result of a function in which its parameters are what was passed for them."""
    for parameter, value in zip(function.args.args, given, strict=False):
        text = re.sub(rf"\b{parameter.arg}\b", value, text)
    return text


def _switch_index(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("switch")
    index = call.args[0] if call is not None and call.args else None
    text = failure.text(index) or "index"
    code = failure.with_(index, f"{text}.astype(jnp.int32)") if index is not None else "index.astype(jnp.int32)"
    reason = (
        "`switch` takes the branch with a number, so it asks for an integer. "
        f"`{text}` is {match[1] if match.lastindex else 'of another type'}."
    )
    cure = Cure("Make it an integer:", code)
    return Explanation("switch index", "`switch` wants an integer", reason, (cure,), api_page("jax.lax.switch"))


def _bounds(failure: Failure, match: re.Match[str]) -> Explanation:
    """The bounds of a counted loop, of which one is no whole number."""
    call = failure.calls("fori_loop")
    cures, shown = [], "a bound"
    for place, name, dtype in ((0, "lower", match[1]), (1, "upper", match[2])):
        bound = argument(call, place, name)
        if bound is None or dtype.startswith(("int", "uint")):
            continue
        shown = failure.text(bound)
        if getattr(failure.value(bound), "ndim", 0):
            # Not a number at all: what is meant may stand elsewhere in the call.
            continue
        text = f"{grouped(shown, bound)}.astype(int)" if failure.traced(bound) else f"int({shown})"
        cures.append(Cure("Make it a whole number:", failure.with_(bound, text)))
    both = [bound for place, name in ((0, "lower"), (1, "upper")) if (bound := argument(call, place, name)) is not None]
    if not cures and len(both) == 2 and not any(getattr(failure.value(one), "ndim", 0) for one in both):
        shown = failure.text(both[1])
        text = f"jnp.asarray({shown}, {grouped(failure.text(both[0]), both[0])}.dtype)"
        if not failure.traced(both[0]):
            text = f"jnp.asarray({shown}, jnp.{match[1]})"
        cures.append(Cure("Bring both to one type:", failure.with_(both[1], text)))
    reason = (
        f"`fori_loop` counts its turns with whole numbers, both of one type. Here they are {match[1]} and {match[2]}."
    )
    title = f"`{shown}` cannot bound a loop that counts"
    return Explanation("bounds of a loop", title, reason, tuple(cures), api_page("jax.lax.fori_loop"))


_TYPE = ("TypeError",)


def _unchanged(failure: Failure, call: ast.Call) -> Explanation | None:
    """`cond` with None for a branch, in which nothing is to be done."""
    nothing = [one for one in call.args[1:3] if isinstance(one, ast.Constant) and one.value is None]
    operands = call.args[3:]
    if not nothing or not operands or failure.source is None:
        return None
    names = [f"same_{place}" for place in range(len(operands))] if operands[1:] else ["same"]
    given = ", ".join(names)
    back = f"lambda {given}: {f'({given})' if operands[1:] else given}"
    cure = Cure("Give back what it is handed:", failure.with_(call, failure.source.replaced(call, {nothing[0]: back})))
    reason = (
        "`cond` runs one of two functions, and goes on with what that gives. Where nothing is to be done, the function "
        "gives back what it was handed."
    )
    return Explanation("branches", "`cond` wants a function for each way", reason, (cure,), api_page("jax.lax.cond"))


def _values_for_branches(failure: Failure, match: re.Match[str]) -> Explanation:
    """Values in place of the functions that are the branches of `cond`."""
    call = failure.calls("cond")
    sides = call.args[:3] if call is not None else []
    written = len(sides) == 3 and not any(isinstance(one, ast.Starred) for one in sides)
    test, yes, no = map(failure.text, sides) if written else ("condition", "x", "y")
    where, functions = f"jnp.where({test}, {yes}, {no})", f"jax.lax.cond({test}, lambda: {yes}, lambda: {no})"
    if written and call is not None and not any(callable(failure.value(one)) for one in sides):
        where, functions = failure.with_(call, where), failure.with_(call, functions)
    if written and call is not None and (unchanged := _unchanged(failure, call)) is not None:
        return unchanged
    types = failure.types(failure.expression)
    reason = (
        "`cond` runs only one of its branches, so these are functions, called with what comes after them. To choose "
        f"between values that are there already is another thing. {types}"
    )
    cures = (Cure("Choose between two values:", where), Cure("Or make functions of them:", functions))
    title = "`cond` wants functions, and was given values"
    return Explanation("branches", title, reason.strip(), cures, api_page("jax.lax.cond"))


CASES = (
    Case(
        "bounds of a loop",
        _TYPE,
        r"lower and upper arguments to fori_loop must have equal types, got (\w+) and (\w+)",
        _bounds,
    ),
    Case("scan pair", _TYPE, r"scan body output must be a pair(?:, got (.*?)\.?$)?", _pair),
    Case("while condition", _TYPE, r"cond_fun must return a boolean scalar", _while_condition),
    Case("predicate", _TYPE, r"Pred (?:must be a scalar|type must be)", _predicate),
    Case("branches", _TYPE, r"true_fun and false_fun arguments should be callable", _values_for_branches),
    plain(
        "branches",
        ("ValueError", "TypeError"),
        r"Empty branch sequence",
        "`switch` has no branches",
        "`switch` takes a list of functions and runs the one of the index. The list is empty, so there is nothing that "
        "it could give.",
        [("Give at least one:", "jax.lax.switch(index, [lambda x: x, lambda x: -x], x)")],
        api_page("jax.lax.switch"),
    ),
    Case("switch index", _TYPE, r"Index type must be an integer, got .* as (\w+)", _switch_index),
)
