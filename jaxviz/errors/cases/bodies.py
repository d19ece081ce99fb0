"""Functions that are given to scan, while_loop, fori_loop, cond and switch, and do not fit together."""

from __future__ import annotations

import ast
import re
from typing import Any

from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, plain
from jaxviz.errors.failure import Failure, last_name

_LOOPS = ("scan", "while_loop", "fori_loop")
_BRANCHES = ("cond", "switch")


def _function(failure: Failure, position: int, *calls: str) -> Any | None:
    """The definition of the function that was passed to a loop or a branch, where it stands in the same file."""
    call = failure.calls(*calls)
    if call is None or position >= len(call.args) or failure.source is None:
        return None
    given = call.args[position]
    if isinstance(given, ast.Lambda):
        return given
    code: Any = getattr(failure.value(given), "__code__", None)
    same = code is not None and code.co_filename == failure.source.path
    return failure.source.function_at(code.co_firstlineno) if same else None


def _result(function: Any | None) -> ast.expr | None:
    """What a function gives: the value of a lambda, or that of the last return."""
    if isinstance(function, ast.Lambda):
        return function.body
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)] if function is not None else []
    return returns[-1].value if returns else None


def _given(failure: Failure, function: Any | None) -> str:
    """What a function gives, as text: None where nothing is returned; empty where the function is not known."""
    if function is None:
        return ""
    result = _result(function)
    return failure.text(result) if result is not None else "None"


def _begin(failure: Failure, function: Any | None) -> str:
    """How code that gives another result begins."""
    if isinstance(function, ast.Lambda):
        arguments = failure.text(function.args)
        return f"lambda {arguments}: "
    return "return "


def _loop_of(failure: Failure, words: str) -> tuple[str, int]:
    """The loop, as the person called it, and the place of its body among the arguments."""
    call = failure.calls(*_LOOPS)
    name = last_name(call.func) if call is not None else words.partition(" ")[0]
    return name, {"scan": 0, "while_loop": 1, "fori_loop": 2}.get(name, 0)


def _carry_type(failure: Failure, match: re.Match[str]) -> Explanation:
    loop, position = _loop_of(failure, failure.message)
    found = re.search(
        r"input carry (.*?) has type (\w+\[[^\]]*\]) but the corresponding output carry component has type "
        r"(\w+\[[^\]]*\])",
        failure.message,
    )
    name, before, after = found.groups() if found else ("carry", "its type", "another")
    name = name.strip() or "carry"
    function = _function(failure, position, loop)
    result = _result(function)
    dtype = re.match(r"[a-z]+[0-9]*", before)
    shapes = "shapes do not match" in failure.message
    begin = _begin(failure, function)
    cures = []
    if not shapes and dtype is not None and "[" in before:
        carried = _carried(result, loop, name)
        if carried is not None and result is not None and failure.source is not None:
            text = failure.text(carried)
            text = text if isinstance(carried, (ast.Name, ast.Call, ast.Subscript, ast.Attribute)) else f"({text})"
            code = begin + failure.source.replaced(result, {carried: f"{text}.astype(jnp.{dtype[0]})"})
        else:
            code = f"return {name}.astype(jnp.{dtype[0]})"
        cures.append(Cure(f"Give it back in the type in which it came in, {before}:", code))
        init = failure.calls(loop)
        start = (
            init.args[{"scan": 1, "while_loop": 2, "fori_loop": 3}.get(loop, 1)]
            if init is not None and len(init.args) > 1
            else None
        )
        other = re.match(r"[a-z]+[0-9]*", after)
        if start is not None and init is not None and other is not None:
            changed = failure.with_(start, f"jnp.asarray({failure.text(start)}, jnp.{other[0]})")
            if not isinstance(start, (ast.Tuple, ast.List, ast.Dict)):
                cures.append(Cure("Or begin with the other type:", changed))
    elif _stretches(before, after):
        cures += _wider_start(failure, loop, after)
    else:
        size = before.partition("[")[2].rstrip("]") or "N"
        cures.append(
            Cure(
                "A carry keeps its shape. Begin with one of the full size and write into it:",
                f"{name} = jnp.zeros((STEPS, {size}))  # before the loop\n"
                f"{name} = {name}.at[i].set(value)  # in each turn",
            )
        )
        if loop == "scan":
            cures.append(Cure("Or give what grows as the second result; scan stacks it:", "return carry, value"))
    reason = (
        f"`{loop}` becomes one loop of the compiled program, whose state has the same memory in each turn. "
        f"`{name}` comes in as {before} and is given back as {after}."
    )
    return Explanation(
        "carry type",
        f"the body of `{loop}` changes the type of `{name}`",
        reason,
        tuple(cures),
        api_page(f"jax.lax.{loop}"),
    )


def _sizes(type_: str) -> list[str]:
    return [size for size in type_.partition("[")[2].rstrip("]").split(",") if size]


def _stretches(before: str, after: str) -> bool:
    """Whether the first type becomes the second by broadcasting, as a number does to which an array is added."""
    one, other = _sizes(before), _sizes(after)
    return len(one) <= len(other) and all(
        size in (wide, "1") for size, wide in zip(reversed(one), reversed(other), strict=False)
    )


def _wider_start(failure: Failure, loop: str, after: str) -> list[Cure]:
    place = {"scan": 1, "while_loop": 2, "fori_loop": 3}.get(loop, 1)
    call = failure.calls(loop)
    start = call.args[place] if call is not None and len(call.args) > place else None
    sizes = _sizes(after)
    shape = f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
    dtype = after.partition("[")[0]
    text = failure.text(start) if start is not None and not isinstance(start, (ast.Tuple, ast.List, ast.Dict)) else ""
    begin = f"jnp.full({shape}, {text or 0}, jnp.{dtype})"
    if text and not isinstance(start, ast.Constant):
        begin = f"jnp.broadcast_to({text}, {shape}).astype(jnp.{dtype})"
    code = failure.with_(start, begin) if text and start is not None else begin
    return [Cure(f"Begin with the shape that it has after one turn, {shape}:", code)]


def _carried(result: ast.expr | None, loop: str, name: str) -> ast.expr | None:
    """Of what a body gives, the expression that becomes a value of the carry, where that is plain to see."""
    if result is None:
        return None
    if loop == "scan":
        if not isinstance(result, ast.Tuple) or not result.elts:
            return None
        result = result.elts[0]
    place = re.search(r"\[(\d+)\]$", name)
    if place is not None:
        elements = getattr(result, "elts", [])
        return elements[int(place[1])] if int(place[1]) < len(elements) else None
    return None if isinstance(result, (ast.Tuple, ast.List, ast.Dict)) else result


def _carry_tree(failure: Failure, match: re.Match[str]) -> Explanation:
    loop, position = _loop_of(failure, failure.message)
    function = _function(failure, position, loop)
    result = _result(function)
    given = _given(failure, function) or "another structure"
    arguments = function.args.args if function is not None else []
    carry = (
        arguments[-1].arg
        if loop in ("fori_loop", "while_loop") and arguments
        else arguments[0].arg
        if arguments
        else "carry"
    )
    second = failure.text(result.elts[1]) if isinstance(result, ast.Tuple) and len(result.elts) == 2 else "y"
    again = f"{carry}, {second}" if loop == "scan" else carry
    call = failure.calls(loop)
    start = call.args[{"scan": 1, "while_loop": 2}.get(loop, 3)] if call is not None and len(call.args) > 2 else None
    carried = result
    if loop == "scan":
        carried = result.elts[0] if isinstance(result, ast.Tuple) and result.elts else None
    if isinstance(start, ast.Tuple) and isinstance(carried, ast.Tuple) and len(carried.elts) > len(start.elts):
        # What is too much is left out.
        kept = ", ".join(failure.text(one) for one in carried.elts[: len(start.elts)])
        again = f"({kept}), {second}" if loop == "scan" else kept
    elif isinstance(start, ast.Tuple) and carried is not None and not isinstance(carried, ast.Tuple):
        rest = [f"{carry}[{place}]" for place in range(1, len(start.elts))]
        first = f"({', '.join([failure.text(carried), *rest])})"
        again = f"{first}, {second}" if loop == "scan" else first
    begin = _begin(failure, function)
    reason = (
        f"`{loop}` hands what its body gives to the next turn, so it must be built of the same tuples, lists and "
        f"dictionaries as `{carry}`, which it was given. The body gives `{given}`, which is built differently."
    )
    if given == "None":
        reason = (
            f"`{loop}` hands what its body gives to the next turn. The body gives nothing: it has no `return`, so what "
            "it computes is lost."
        )
    cure = Cure(f"Give `{carry}` back as it came in, each part in its place:", begin + again)
    return Explanation(
        "carry structure",
        f"the body of `{loop}` gives back another structure",
        reason,
        (cure,),
        api_page(f"jax.lax.{loop}"),
    )


def _pair(failure: Failure, match: re.Match[str]) -> Explanation:
    function = _function(failure, 0, "scan")
    result = _result(function)
    text = _given(failure, function) or "carry"
    begin = _begin(failure, function)
    text_of = f"The body gives `{text}` alone."
    pair = f"{text}, None"
    if text == "None":
        arguments = function.args.args if function is not None else []
        text_of = "The body gives nothing: it has no `return`."
        pair = f"{arguments[0].arg if arguments else 'carry'}, None"
    elif isinstance(result, ast.Tuple) and len(result.elts) > 2:
        first, *rest = (failure.text(one) for one in result.elts)
        text_of = f"The body gives {len(result.elts)}: `{text}`."
        pair = f"{first}, ({', '.join(rest)})"
    pair = f"({pair})" if isinstance(function, ast.Lambda) else pair
    reason = (
        "`scan` takes two things from each turn: what is carried to the next, and what is stacked into an array. "
        f"{text_of}"
    )
    cure = Cure("Give a pair; None where nothing shall be stacked:", begin + pair)
    return Explanation("scan pair", "the body of `scan` must give a pair", reason, (cure,), api_page("jax.lax.scan"))


def _while_condition(failure: Failure, match: re.Match[str]) -> Explanation:
    function = _function(failure, 0, "while_loop")
    result = failure.text(_result(function)) or "condition"
    begin = _begin(failure, function)
    compared = any(sign in result for sign in ("<", ">", "=", "&", "|", "~"))
    code = f"{begin}jnp.any({result})" if compared else f"{begin}jnp.any({result} > 0)"
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


def _branch_types(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls(*_BRANCHES)
    name = last_name(call.func) if call is not None else "cond"
    found = re.search(
        r"output of (\S+(?: \d+)?) has type (\w+\[[^\]]*\]) but the corresponding output of (\S+) has type "
        r"(\w+\[[^\]]*\])",
        failure.message,
    )
    results = [_result(_function(failure, place, name)) for place in (1, 2)] if name == "cond" else [None, None]
    words = "Each branch must give the same types."
    code = "return result.astype(other.dtype)"
    if found is not None:
        words = f"Here one gives {found[2]} and the other {found[4]}."
        no = failure.text(results[1])
        begin = _begin(failure, _function(failure, 2, name))
        wide = found[2]
        if no and "shapes do not match" in failure.message:
            shape = wide.partition("[")[2].rstrip("]")
            code = f"{begin}jnp.broadcast_to({no}, ({shape}{',' if shape and ',' not in shape else ''}))"
        elif no and isinstance(results[1], (ast.Constant, ast.UnaryOp)):
            code = f"{begin}jnp.asarray({no}, jnp.{wide.partition('[')[0]})"
        elif no:
            simple = re.fullmatch(r"[\w.\[\]]+|.*\)", no)
            code = f"{begin}{no if simple else f'({no})'}.astype(jnp.{wide.partition('[')[0]})"
        else:
            code = f"return result.astype(jnp.{wide.partition('[')[0]})  # in each branch"
    reason = f"`{name}` is compiled with all its branches, and what comes after must fit each of them. {words}"
    return Explanation(
        "branch types",
        f"the branches of `{name}` give different types",
        reason,
        (Cure("Bring one branch to the type of the other:", code),),
        api_page(f"jax.lax.{name}"),
    )


def _branch_trees(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls(*_BRANCHES)
    name = last_name(call.func) if call is not None else "cond"
    yes, no = (_given(failure, _function(failure, place, name)) if name == "cond" else "" for place in (1, 2))
    seen = f" Here one gives `{yes}` and the other `{no}`." if yes and no else ""
    parts = yes.strip("()").split(", ") if yes else []
    code = (
        f"{_begin(failure, _function(failure, 2, name))}({', '.join([no] * len(parts))})"
        if no and parts
        else "return result"
    )
    if "None" in (yes, no):
        # One of them has no return, or returns nothing on purpose.
        place = 2 if no == "None" else 1
        code = f"{_begin(failure, _function(failure, place, name))}{yes if place == 2 else no}"
    reason = (
        f"`{name}` is compiled with all its branches, and what comes after must fit each of them: "
        f"the same tuples, lists and dictionaries.{seen}"
    )
    return Explanation(
        "branch structure",
        f"the branches of `{name}` give different structures",
        reason,
        (Cure("Give as many values from both:", code),),
        api_page(f"jax.lax.{name}"),
    )


def _predicate(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("cond")
    asked = call.args[0] if call is not None and call.args else None
    condition = failure.text(asked) or "condition"
    results = [failure.text(_result(_function(failure, place, "cond"))) for place in (1, 2)]
    cures = []
    if call is not None and all(results):
        functions = [_function(failure, place, "cond") for place in (1, 2)]
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
    for argument, value in zip(function.args.args, given, strict=False):
        text = re.sub(rf"\b{argument.arg}\b", value, text)
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


_TYPE = ("TypeError",)

CASES = (
    Case("carry type", _TYPE, r"carry input and carry output must have equal types", _carry_type),
    Case("carry structure", _TYPE, r"carry input and carry output must have the same pytree structure", _carry_tree),
    Case("scan pair", _TYPE, r"scan body output must be a pair", _pair),
    Case("while condition", _TYPE, r"cond_fun must return a boolean scalar", _while_condition),
    Case(
        "branch types",
        _TYPE,
        r"(?:branches must have equal output types|branch outputs must have equal types)",
        _branch_types,
    ),
    Case(
        "branch structure",
        _TYPE,
        r"branch(?:es| outputs) must have (?:the )?same (?:pytree|type) structure",
        _branch_trees,
    ),
    Case("predicate", _TYPE, r"Pred (?:must be a scalar|type must be)", _predicate),
    plain(
        "scan lengths",
        ("ValueError",),
        r"scan got values with different leading axis sizes: ([\d, ]+)",
        "`scan` goes along axes of different lengths: $1",
        "`scan` takes one entry of each array in every turn, so their first axes have one length. $types",
        [
            ("Cut all of them to the shortest:", "jax.tree.map(lambda x: x[:SHORTEST], xs)"),
            (
                "Or leave out of `xs` what is the same in each turn; the body may read it from around it:",
                "jax.lax.scan(body, carry, xs)",
            ),
        ],
        api_page("jax.lax.scan"),
    ),
    plain(
        "scan lengths",
        ("ValueError",),
        r"scan got no values to scan over and `length` not provided",
        "nothing says how many turns `scan` makes",
        "`scan` makes a turn for each entry of the arrays that it goes along. Without any, it must be told the number.",
        [("Say how many turns there are:", "jax.lax.scan(body, carry, None, length=N)")],
        api_page("jax.lax.scan"),
    ),
    plain(
        "scan lengths",
        ("ValueError",),
        r"scan got value with no leading axis to scan over: (.*?)\.?$",
        "`scan` cannot go along one number",
        "`scan` takes one entry in every turn along the first axis, and a single number has none: $1.",
        [
            (
                "Give the number of turns, and read the number from around the body:",
                "jax.lax.scan(body, carry, None, length=N)",
            ),
            ("Or repeat it:", "jax.lax.scan(body, carry, jnp.full((N,), value))"),
        ],
        api_page("jax.lax.scan"),
    ),
    plain(
        "scan lengths",
        ("ValueError",),
        r"scan got `length` argument of `?(\d+)`? which disagrees with leading axis sizes? \[?([\d, ]+)\]?",
        "`length` says $1 turns, and the arrays have $2",
        "`scan` makes a turn for each entry of the arrays that it goes along; `length` may be given beside "
        "these only if it says the same. $types",
        [("Leave `length` out:", "jax.lax.scan(body, carry, xs)")],
        api_page("jax.lax.scan"),
    ),
    plain(
        "branches",
        _TYPE,
        r"true_fun and false_fun arguments should be callable",
        "`cond` wants functions, and was given values",
        "`cond` runs only one of its branches, so these are functions, called with what comes after them. To choose "
        "between values that are there already is another thing. $types",
        [
            ("Choose between two values:", "jnp.where(condition, x, y)"),
            ("Or make functions of them:", "jax.lax.cond(condition, lambda: x, lambda: y)"),
        ],
        api_page("jax.lax.cond"),
    ),
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
