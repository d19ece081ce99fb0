"""What arrays of JAX do not do: be taken apart without an axis, be indexed by lists, be added to tuples."""

from __future__ import annotations

import ast
import re
from typing import Any

from jaxviz.arrays import is_array
from jaxviz.errors.cases import choices
from jaxviz.errors.cases.given import argument, function_given, gives_nothing
from jaxviz.errors.cases.loop_calls import swapped
from jaxviz.errors.cases.numbers import repeated
from jaxviz.errors.cases.outside import is_whole_number
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, last_name, type_text
from jaxviz.errors.source import names_assigned
from jaxviz.errors.trial import cannot_work


def _many_indices(failure: Failure, match: re.Match[str]) -> Explanation:
    node = failure.find(ast.Subscript)
    array = node.value if node is not None else None
    value = failure.value(array)
    text = failure.text(array) or "the array"
    rank = len(value.shape) if is_array(value) else None
    given = len(node.slice.elts) if node is not None and isinstance(node.slice, ast.Tuple) else 2
    kind = f" (`{text}` is {type_text(value)})" if is_array(value) else ""
    kept = (
        ", ".join(failure.text(item) for item in node.slice.elts[: rank or 1])
        if node is not None and isinstance(node.slice, ast.Tuple)
        else "0"
    )
    code = failure.with_(node, f"{text}[{kept}]") if node is not None else f"{text}[{kept}]"
    reason = (
        f"Each index takes one axis, and there are {given} of them for {rank if rank is not None else 'fewer'} "
        f"{'axis' if rank == 1 else 'axes'}{kind}. Under `vmap` the mapped axis is already gone."
    )
    cure = Cure("Use one index for each axis:", code)
    return Explanation(
        "indices", f"`{text}` has fewer axes than indices", reason, (cure,), api_page("jax.numpy.ndarray.at")
    )


_FORI = api_page("jax.lax.fori_loop")


def _index_type(failure: Failure, match: re.Match[str]) -> Explanation:
    inside = (
        [one for one in ast.walk(failure.expression) if isinstance(one, ast.Subscript)] if failure.expression else []
    )
    # What stands around it may be of the call that this is a part of.
    node = next(iter(inside), None) or failure.find(ast.Subscript)
    index = node.slice if node is not None else None
    text = failure.text(index) or "index"
    if isinstance(index, ast.Name) and (turned := swapped(failure, index.id)) is not None:
        reason = (
            "An index says which element, so it is an integer or a mask of booleans. `fori_loop` hands the number of "
            f"the turn on as the first argument, so that `{text}` is what it carries."
        )
        return Explanation("index type", f"`{text}` is not the number of the turn", reason, (turned,), _FORI)
    if isinstance(index, ast.Constant) and isinstance(index.value, float):
        changed = str(int(index.value))
    else:
        changed = f"({text}).astype(int)" if not isinstance(index, (ast.Name, ast.Call)) else f"{text}.astype(int)"
    code = failure.with_(index, changed) if index is not None else "x[i.astype(int)]"
    reason = (
        f"An index says which element, so it is an integer or a mask of booleans. `{text}` is a floating-point number."
    )
    cure = Cure("Make it an integer:", code)
    return Explanation("index type", f"`{text}` is no index", reason, (cure,), api_page("jax.numpy.ndarray.at"))


def _list_index(failure: Failure, match: re.Match[str]) -> Explanation:
    node = failure.find(ast.Subscript)
    text = failure.text(node.slice) if node is not None else "[0, 1]"
    code = failure.with_(node.slice, f"jnp.array({text})") if node is not None else f"x[jnp.array({text})]"
    reason = (
        "NumPy turns a list used as an index into an array, element by element. "
        "In JAX each element of a list would be an operation of its own, so it asks you to make the array."
    )
    cure = Cure("Make an array of the list:", code)
    return Explanation("list as index", "a list cannot be an index", reason, (cure,), api_page("jax.numpy.array"))


def _text_index(failure: Failure, match: re.Match[str]) -> Explanation:
    node = failure.find(ast.Subscript)
    array = failure.text(node.value) if node is not None else "the array"
    reason = (
        f"`{array}` is an array, whose entries have places and no names: what has names is a dictionary of arrays. "
        f"{failure.types(node)}"
    )
    cure = [Cure("Take an entry by its place, such as the first:", failure.with_(node.slice, "0"))] if node else []
    if node is not None and getattr(failure.value(node.value), "shape", None) == ():
        cure = [Cure("One number has no entries; use it as it is:", failure.with_(node, array))]
    title = f"{match[1]} is no place of an array"
    return Explanation("index type", title, reason.strip(), tuple(cure), api_page("jax.numpy.ndarray.at"))


def _list_argument(failure: Failure, match: re.Match[str]) -> Explanation | None:
    if match[2] == "NoneType":
        return _none_argument(failure, match[1])
    call = failure.calls(match[1]) or failure.find(ast.Call)
    given = call.args if call is not None else []
    listed = [one for one in given if isinstance(one, (ast.List, ast.Tuple)) or _is_listed(failure.value(one))]
    first = next(iter(listed or given), None)
    code = f"jnp.array({failure.text(first) or 'values'})"
    if call is not None and first is not None and failure.source is not None:
        changes: dict[ast.AST, str] = {one: f"jnp.array({failure.text(one)})" for one in listed or [first]}
        code = failure.with_(call, failure.source.replaced(call, changes))
    reason = (
        f"Functions of jax.numpy take arrays and numbers; `{match[1]}` was given a {match[2]}. "
        "To turn one into an array silently would cost an operation for each element, while tracing too."
    )
    cure = Cure("Make an array of it where you want one:", code)
    return Explanation(
        "list", f"`{match[1]}` wants an array, not a {match[2]}", reason, (cure,), api_page("jax.numpy.array")
    )


def _is_listed(value: object) -> bool:
    return type(value) in (list, tuple)


def _none_written(failure: Failure, function: str, written: ast.expr) -> Explanation:
    reason = (
        f"Functions of jax.numpy take arrays and numbers, and `{function}` was given None. An array has a number in "
        f"each place, and what stands for nothing is one too. {failure.types(failure.expression)}"
    )
    cure = Cure("Say nothing with a number:", failure.with_(written, "jnp.nan"))
    title = f"`{function}` was given None for an array"
    return Explanation("operand", title, reason.strip(), (cure,), api_page("jax.numpy.array"))


def _none_argument(failure: Failure, function: str) -> Explanation:
    call = failure.calls(function) or failure.find(ast.Call)
    given = call.args if call is not None else []
    first = next(iter(given), None)
    for one in given:
        # Of what nothing is known, the value is None as well.
        written = isinstance(one, ast.Constant) and one.value is None
        if written or (isinstance(one, ast.Name) and failure.variables.get(one.id, 0) is None):
            first = one
            break
    if isinstance(first, ast.Constant):
        return _none_written(failure, function, first)
    if function == "where" and call is not None and len(given) == 2 and not call.keywords:
        return _half_chosen(failure, call)
    text = failure.text(first) or "x"
    reason = (
        f"Functions of jax.numpy take arrays and numbers; `{function}` was given `{text}`, which is None when the "
        "function is traced. Often that is a function that returns nothing, or a default that was not replaced."
    )
    head = failure.text(failure.statement).splitlines()[0] if failure.statement is not None else f"{function}({text})"
    code = f"if {text} is not None:  # known while tracing, so Python's if is right\n    {head}"
    return Explanation(
        "operand",
        f"`{text}` is None, not an array",
        reason,
        (Cure("Ask for it first:", code),),
        api_page("jax.numpy.array"),
    )


def _half_chosen(failure: Failure, call: ast.Call) -> Explanation:
    """`where` that is told what to take where something is so, and not what otherwise."""
    asked, value = map(failure.text, call.args)
    reason = (
        f"`where` chooses for each element one of two values. What stands where `{asked}` is true is `{value}`; what "
        "stands elsewhere is not given."
    )
    code = failure.with_(call, f"{failure.text(call.func)}({asked}, {value}, 0)")
    cure = Cure("Say what stands elsewhere:", code)
    return Explanation("operand", "`where` was given one of two values", reason, (cure,), api_page("jax.numpy.where"))


def _no_axis(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("len", "iter", "list", "tuple", "enumerate", "zip")
    if call is not None and call.args and not isinstance(call.args[0], ast.Name):
        text = failure.text(call.args[0])
        cure = Cure("Give it an axis, if one is meant:", failure.with_(call.args[0], f"jnp.atleast_1d({text})"))
        reason = f"A single number has no axis to go along, and no length. `{text}` has the shape ()."
        return Explanation("no axis", f"`{text}` is one number", reason, (cure,), api_page("jax.numpy.atleast_1d"))
    sliced = failure.calls("dynamic_slice", "dynamic_update_slice")
    start = argument(
        sliced, 1 if sliced is not None and last_name(sliced.func) == "dynamic_slice" else 2, "start_indices"
    )
    if start is not None and getattr(failure.value(start), "shape", None) == ():
        text = failure.text(start)
        cure = Cure("Give a tuple with one place for each axis:", failure.with_(start, f"({text},)"))
        name = last_name(sliced.func) if sliced is not None else ""
        reason = f"`{name}` takes a place on each axis, as a tuple. `{text}` is one number."
        return Explanation("no axis", f"`{text}` is one number", reason, (cure,), api_page("jax.lax.dynamic_slice"))
    names = failure.traced(failure.statement)
    scalars = [name for name in names if getattr(failure.variables[name], "shape", None) == ()]
    text = scalars[0] if scalars else (names[0] if names else "x")
    reason = (
        f"A single number has no axis to go along. `{text}` is {type_text(failure.variables[text])}."
        if text in failure.variables
        else "A single number has no axis to go along. The value here has the shape ()."
    )
    cure = Cure("Give it an axis, if one is meant:", f"{text} = jnp.atleast_1d({text})")
    return Explanation(
        "no axis", f"`{text}` is one number and has no elements", reason, (cure,), api_page("jax.numpy.atleast_1d")
    )


def _split_into(failure: Failure, statement: ast.Assign, call: ast.Call) -> Explanation | None:
    """`jax.random.split` gives two keys where it is not told how many."""
    called = failure.value(call.func)
    names = getattr(statement.targets[0], "elts", [])
    one_more = len(call.args) == 1 and not call.keywords
    of_keys = re.match(r"jax\.(?:\w+\.)?random\b", str(getattr(called, "__module__", "")))
    if not of_keys or getattr(called, "__name__", "") != "split" or not call.args:
        return None
    said = call.args[1] if len(call.args) == 2 and not call.keywords else None
    told = isinstance(said, ast.Constant) and isinstance(said.value, int)
    if not (one_more or told) or any(isinstance(one, ast.Starred) for one in names):
        return None
    there = failure.text(said) if said is not None else 2
    function, key = failure.text(call.func), failure.text(call.args[0])
    reason = (
        f"`{function}` gives two keys unless it is told how many: it gives {there} here, for {len(names)} names. "
        "Each key is for one draw."
    )
    cure = Cure("Say how many:", failure.with_(call, f"{function}({key}, {len(names)})"))
    title = f"`{failure.text(call)}` does not come apart into {len(names)}"
    return Explanation("unpacking", title, reason, (cure,), api_page("jax.random.split"))


def _unpacked(failure: Failure, match: re.Match[str]) -> Explanation | None:
    statement = failure.statement
    value: Any = failure.value(statement.value) if isinstance(statement, ast.Assign) else None
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
        of_split = _split_into(failure, statement, statement.value)
        if of_split is not None:
            return of_split
    if not is_array(value) or not isinstance(statement, ast.Assign):
        return None
    name, target = failure.text(statement.value), statement.targets[0]
    names = [failure.text(one) for one in getattr(target, "elts", [])]
    there, wanted = value.shape[0] if value.shape else 0, len(names)
    reason = (
        f"To take an array apart gives one value for each position of its first axis. `{name}` is {type_text(value)}: "
        f"{there} values for {wanted} names."
    )
    other = next((axis for axis, size in enumerate(value.shape) if axis and size == wanted), None)
    cures = []
    if other is not None:
        code = f"{', '.join(names)} = jnp.moveaxis({name}, {other}, 0)"
        cures.append(Cure(f"Axis {other} has {wanted}; to take it apart along that:", code))
    if there > wanted:
        cures.append(Cure("Take as many as there are names:", f"{', '.join(names)} = {name}[:{wanted}]"))
    elif there > 0:
        kept = ", ".join(names[:there]) + ("," if there == 1 else "")
        cures.append(Cure("Take as many names as there are values:", f"{kept} = {name}"))
    return Explanation("unpacking", f"`{name}` does not come apart into {wanted}", reason, tuple(cures), "")


def _compared(failure: Failure, other: str) -> Explanation | None:
    """An array that is compared with a list: whether all are equal is another question."""
    node = failure.find(ast.Compare)
    if node is None or len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return None
    left, right = failure.text(node.left), failure.text(node.comparators[0])
    other = next((one for one in ("list", "tuple") if one in failure.message), other)
    sign = "~" if isinstance(node.ops[0], ast.NotEq) else ""
    text = f"{sign}jnp.array_equal({left}, jnp.array({right}))"
    # What chooses by it is written with the comparison in it.
    cures = [Cure(one.text, one.code.replace(failure.text(node), text)) for one in choices.cures_of(failure)]
    cures = cures or [Cure("Ask whether all are equal:", failure.with_(node, text))]
    reason = (
        f"Python compares lists as wholes and JAX compares arrays element by element, and makes no array of a {other} "
        f"unasked. Whether all are equal is a question of its own. {failure.types(node)}"
    )
    title = f"an array is compared with a {other}"
    return Explanation("operand", title, reason.strip(), tuple(cures), api_page("jax.numpy.array_equal"))


def _nothing(failure: Failure, match: re.Match[str]) -> Explanation | None:
    node = failure.find(ast.BinOp)
    if node is None:
        return _compared(failure, match[1] or "")
    other = next((part for part in match.groups() if part and "Tracer" not in part), "NoneType")
    if isinstance(node.op, ast.Mult) and any(is_whole_number(failure, side) for side in (node.left, node.right)):
        told = repeated(failure, node)
        if told is not None:
            return told
    odd = [side for side in (node.left, node.right) if _kind_of(failure, side) == other]
    if other == "NoneType":
        odd = [side for side in odd if isinstance(side, ast.Name)]
        odd = odd or [side for side, kind in zip((node.left, node.right), match.groups(), strict=True) if kind == other]
    if other == "NoneType" and odd and isinstance(odd[0], ast.Call):
        return _gave_nothing(failure, odd[0])
    name = failure.text(odd[0]) if odd else other
    why = {
        "NoneType": "often a function that returns nothing, or a default that was not replaced",
        "str": "text is no number, even if it looks like one",
        "list": "to a list, `+` means something else, and JAX makes no array of it unasked",
        "dict": "a tree of arrays is computed with leaf by leaf",
        "tuple": "to a tuple, `+` means something else, and JAX makes no array of it unasked",
    }.get(other, "operators work on arrays and numbers alone")
    reason = f"Arrays are computed with arrays and numbers. `{name}` is a {other} when the function is traced: {why}."
    first = failure.text(failure.statement).splitlines()[0]
    if other == "NoneType":
        code = f"if {name} is not None:  # known while tracing, so Python's if is right\n    {first}"
        cure = Cure("Ask for it first:", code)
    elif other == "dict" and odd:
        cure = Cure("Compute leaf by leaf:", failure.with_(node, leaf_by_leaf(failure, node, odd)))
    elif other == "str" and odd:
        cure = Cure("Make a number of it first:", failure.with_(odd[0], f"float({name})"))
    else:
        cure = _arrays_first(failure, node, odd)
    return Explanation("operand", f"`{name}` is a {other}, not an array", reason, (cure,), "")


def _gave_nothing(failure: Failure, call: ast.Call) -> Explanation:
    name = failure.text(call)
    reason = (
        f"Arrays are computed with arrays and numbers. `{name}` gave None, as a function does that has no `return`, or "
        "one that finds nothing."
    )
    function = function_given(failure, call.func)
    giving = _returning(failure, function) if function is not None else ""
    cures = (Cure("Let it give what it computes:", giving, inside=False),) if giving else ()
    return Explanation("operand", f"`{name}` gives nothing", reason, cures, "")


def _returning(failure: Failure, function: ast.FunctionDef | ast.Lambda) -> str:
    """A function that ends with an assignment to a name, giving that; empty for any other."""
    last = function.body[-1] if isinstance(function, ast.FunctionDef) and gives_nothing(function) else None
    names = names_assigned([last]) if isinstance(last, (ast.Assign, ast.AugAssign)) else []
    return f"{failure.text(function)}\n    return {names[0]}" if len(names) == 1 else ""


_WRITTEN = {ast.List: "list", ast.ListComp: "list", ast.Tuple: "tuple", ast.Dict: "dict", ast.DictComp: "dict"}


def _kind_of(failure: Failure, side: ast.expr) -> str:
    """The class of what stands at a side of an operation, as it is written there or was held."""
    return _WRITTEN.get(type(side)) or type(failure.value(side)).__name__


def _sequence(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """A list that is multiplied, which to Python means to repeat it."""
    node = failure.find(ast.BinOp)
    odd = [one for one in (node.left, node.right) if _is_listed(failure.value(one))] if node is not None else []
    if node is None or not odd:
        return None
    name, kind = failure.text(odd[0]), type(failure.value(odd[0])).__name__
    reason = (
        f"Arrays are computed with arrays and numbers. `{name}` is a {kind} when the function is traced, which Python "
        "repeats when it is multiplied: as often as a whole number says."
    )
    return Explanation(
        "operand", f"`{name}` is a {kind}, not an array", reason, (_arrays_first(failure, node, odd),), ""
    )


def _arrays_first(failure: Failure, node: ast.BinOp, odd: list[ast.expr]) -> Cure:
    """Lists that are computed with: as arrays, or where their entries have other shapes, leaf by leaf."""
    source, statement = failure.source, failure.statement
    changes: dict[ast.AST, str] = {one: f"jnp.asarray({failure.text(one)})" for one in odd}
    code = "jnp.asarray(values)"
    if odd and source is not None:
        whole = node if statement is None or hasattr(statement, "body") else statement
        code = source.replaced(whole, changes)
        leaves = failure.with_(node, leaf_by_leaf(failure, node, odd))
        if cannot_work(failure, code) and not cannot_work(failure, leaves):
            return Cure("Compute leaf by leaf:", leaves)
    return Cure("Make an array of it first:", code)


def leaf_by_leaf(failure: Failure, node: ast.BinOp, trees: list[ast.expr]) -> str:
    """An operation of which one side or both are trees, computed for each leaf."""
    names = ["leaf"] if len(trees) == 1 else ["one", "other"]
    changes: dict[ast.AST, str] = dict(zip(trees, names, strict=True))
    body = failure.source.replaced(node, changes) if failure.source is not None else ""
    return f"jax.tree.map(lambda {', '.join(names)}: {body}, {', '.join(map(failure.text, trees))})"


_TYPE = ("TypeError",)

CASES = (
    Case("indices", ("IndexError",), r"[Tt]oo many indices", _many_indices),
    Case("index type", _TYPE, r"Indexer must have integer or boolean type", _index_type),
    Case("index type", _TYPE, r"does not support string indexing; got idx=(.+)", _text_index),
    Case("list as index", _TYPE, r"non-tuple sequence for multidimensional indexing", _list_index),
    Case("list", _TYPE, r"(\w+) requires ndarray or scalar arguments, got <class '(\w+)'>", _list_argument),
    Case("no axis", _TYPE, r"iteration over a 0-d array|len\(\) of unsized object", _no_axis),
    Case("unpacking", ("ValueError",), r"values to unpack", _unpacked),
    Case("operand", _TYPE, r"unsupported operand type\(s\) for .*: '(\w+)' and '(\w+)'", _nothing),
    Case("operand", _TYPE, r"can't multiply sequence by non-int of type '\w+'", _sequence),
)
