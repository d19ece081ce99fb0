"""Loops whose state has another shape after each turn: an array of the full size, or turns that Python makes."""

from __future__ import annotations

import ast
from typing import Any

from jaxviz.arrays import is_array
from jaxviz.errors.cases.given import argument, assigned, result_of
from jaxviz.errors.cases.loop import Loop
from jaxviz.errors.explanation import Cure
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.forms import part_of
from jaxviz.errors.rewriting import called, fresh, parameters, rewritten
from jaxviz.errors.source import names_read
from jaxviz.errors.trial import cannot_work

_GROWING = {"append", "concatenate", "concat", "vstack", "hstack", "dstack", "stack", "column_stack", "pad", "tile"}
_FILLING = {"zeros", "ones", "empty", "full"}
# More turns than these are too many to be traced one by one.
_MOST_TURNS = 64


def sizes_of(type_: str) -> list[str]:
    """The sizes in the text of a type: float32[3,4]."""
    return [size for size in type_.partition("[")[2].rstrip("]").split(",") if size]


def grows(body: Any | None) -> bool:
    """Whether a body puts arrays together, as what collects results does."""
    calls = [node for node in ast.walk(body) if isinstance(node, ast.Call)] if body is not None else []
    return any(last_name(call.func) in {*_GROWING, "repeat", "insert", "kron"} for call in calls)


def number(failure: Failure, node: ast.AST | None) -> int | None:
    """A whole number that is known while JAX traces, as far as the code shows which."""
    if isinstance(node, ast.Call) and last_name(node.func) == "len" and len(node.args) == 1:
        held = failure.value(node.args[0])
        return int(held.shape[0]) if is_array(held) and held.shape else None
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        held, place = failure.value(node.value.value), failure.value(node.slice)
        return int(held.shape[place]) if is_array(held) and type(place) is int and place < len(held.shape) else None
    if isinstance(node, ast.BinOp) and type(node.op) in (ast.Add, ast.Sub, ast.Mult):
        left, right = number(failure, node.left), number(failure, node.right)
        if left is None or right is None:
            return None
        added = left - right if isinstance(node.op, ast.Sub) else left + right
        return left * right if isinstance(node.op, ast.Mult) else added
    value = failure.value(node)
    return value if type(value) is int else None


def turns_in_python(failure: Failure, loop: Loop) -> list[Cure]:
    """The same loop in Python, where there are few turns: each is traced by itself, with shapes of its own."""
    call, body = loop.call, loop.given
    if call is None or body is None or loop.start is None:
        return []
    lines = []
    function = failure.text(body)
    if not isinstance(body, (ast.Name, ast.Attribute)):
        function = fresh(failure, "body", "turn")
        lines.append(f"{function} = {failure.text(body)}")
    names, start = parameters(loop.body), failure.text(loop.start)
    state = fresh(failure, loop.carry, "state", "carry") if failure.text(loop.start) != loop.carry else loop.carry
    # Nothing reads what it gives.
    is_left_alone = isinstance(failure.statement, ast.Expr) and failure.statement.value is call
    if loop.name == "fori_loop":
        bounds = [argument(call, 0, "lower"), argument(call, 1, "upper")]
        known = [number(failure, bound) for bound in bounds]
        low, high = known
        if low is None or high is None or high - low > _MOST_TURNS:
            return []
        turn = names[0] if names and names[0] != "_" else "i"
        lines += [
            *([f"{state} = {start}"] if start != state else []),
            f"for {turn} in range({failure.text(bounds[0])}, {failure.text(bounds[1])}):",
            f"    {state} = {function}({turn}, {state})",
        ]
        if not is_left_alone:
            lines.append(failure.with_(call, state))
    elif loop.name == "scan":
        along = _along(failure, call)
        if along is None:
            return []
        turn, over = (names[1] if len(names) > 1 else "x"), along
        stacked = fresh(failure, "results", "stacked")
        second = _second(loop)
        together = "None" if isinstance(second, ast.Constant) and second.value is None else f"jnp.stack({stacked})"
        if second is None or isinstance(second, (ast.Tuple, ast.List, ast.Dict)):
            together = f"jax.tree.map(lambda *turns: jnp.stack(turns), *{stacked})"
        elif second is not None and isinstance(second, ast.Name) and second.id == failure.text(loop.carried):
            # These have other shapes too.
            together = stacked
        lines += [
            f"{state}, {stacked} = {start}, []",
            f"for {turn} in {over}:",
            f"    {state}, result = {function}({state}, {turn})",
            f"    {stacked}.append(result)",
        ]
        if not is_left_alone:
            lines.append(failure.with_(call, f"({state}, {together})"))
    else:
        return []
    text = "Let Python make the turns, if there are few; each is then traced by itself, with shapes of its own:"
    return [Cure(text, "\n".join(lines))]


def _second(loop: Loop) -> ast.expr | None:
    result = loop.result
    return result.elts[1] if isinstance(result, ast.Tuple) and len(result.elts) == 2 else None


def _along(failure: Failure, call: ast.Call) -> str | None:
    """What Python goes along in place of a scan; None where that is not known, or too long."""
    over, length = argument(call, 2, "xs"), argument(call, 3, "length")
    held = failure.value(over)
    if over is None or (isinstance(over, ast.Constant) and over.value is None):
        turns = number(failure, length)
        return f"[None] * {failure.text(length)}" if turns is not None and turns <= _MOST_TURNS else None
    if isinstance(over, ast.Call) and last_name(over.func) == "arange" and len(over.args) == 1:
        turns = number(failure, over.args[0])
        return failure.text(over) if turns is not None and turns <= _MOST_TURNS else None
    if isinstance(over, ast.Tuple):
        parts = [failure.value(one) for one in over.elts]
        if parts and all(is_array(one) and one.shape and one.shape[0] <= _MOST_TURNS for one in parts):
            return f"zip({', '.join(map(failure.text, over.elts))})"
        return None
    return failure.text(over) if is_array(held) and held.shape and held.shape[0] <= _MOST_TURNS else None


def second_turn_fails(failure: Failure, loop: Loop, path: str, after: str) -> bool:
    """Whether the body is sure not to take what it gives: then Python cannot make the turns either."""
    call, body = loop.call, loop.given
    if path or call is None or body is None:
        return False
    function, state = called(failure, body), _zeros(after)
    if loop.name == "fori_loop":
        return cannot_work(failure, f"return {function}({failure.text(argument(call, 0, 'lower'))}, {state})")
    over = argument(call, 2, "xs")
    if loop.name != "scan" or not is_array(failure.value(over)):
        return False
    return cannot_work(failure, f"return {function}({state}, {failure.text(over)}[0])")


def started_alike(failure: Failure, loop: Loop, path: str, after: str) -> list[Cure]:
    """Where the state is filled with one number, of another size than each turn gives: the size that they give."""
    part = part_of(loop.start, path)
    made = assigned(failure, part) if isinstance(part, ast.Name) else None
    filled = made.value if made is not None else part
    shape = (
        argument(filled, 0, "shape") if isinstance(filled, ast.Call) and last_name(filled.func) in _FILLING else None
    )
    source, sizes = failure.source, sizes_of(after)
    if part is None or filled is None or shape is None or source is None or not sizes:
        return []
    text = source.replaced(filled, {shape: sizes[0] if len(sizes) == 1 else f"({', '.join(sizes)})"})
    if cannot_work(failure, failure.with_(part, text)):
        return []
    code = failure.with_(part, text) if made is None else source.replaced(made, {filled: text})
    return [Cure(f"Begin with the shape that each turn gives, {after}:", code)]


def _zeros(type_: str) -> str:
    return f"jnp.zeros(({''.join(f'{size}, ' for size in sizes_of(type_))}), jnp.{type_.partition('[')[0]})"


def full_size(failure: Failure, loop: Loop, before: str, after: str) -> list[Cure]:
    """For an array to which each turn of a counted loop adds a piece: one of the full size, that each turn writes
    into."""
    call = _growing(loop)
    if loop.name != "fori_loop" or call is None or loop.call is None or loop.start is None:
        return []
    bounds = [argument(loop.call, 0, "lower"), argument(loop.call, 1, "upper")]
    low, high = (number(failure, bound) for bound in bounds)
    one, other = (
        [int(size) for size in type_.partition("[")[2].rstrip("]").split(",") if size] for type_ in (before, after)
    )
    changed = [axis for axis, sizes in enumerate(zip(one, other, strict=False)) if sizes[0] != sizes[1]]
    if low is None or high is None or len(one) != len(other) or len(changed) != 1:
        return []
    (axis,) = changed
    step, dtype = other[axis] - one[axis], before.partition("[")[0]
    piece = call[1]
    whole, part = list(other), list(other)
    whole[axis], part[axis] = one[axis] + step * (high - low), step
    turn = parameters(loop.body)[0]
    count = turn if low == 0 else f"({turn} - {failure.text(bounds[0])})"
    at = " + ".join([*([str(one[axis])] if one[axis] else []), count if step == 1 else f"{step} * {count}"])
    shaped = f"jnp.reshape({piece}, {tuple(part)})"
    text = f"jax.lax.dynamic_update_slice_in_dim({loop.carry}, {shaped}, {at}, {axis})"
    begin = f"jnp.zeros({tuple(whole)}, jnp.{dtype})"
    if one[axis]:
        index = ", ".join([":"] * axis + [f":{one[axis]}"])
        begin += f".at[{index}].set({failure.text(loop.start)})"
    body = rewritten(failure, call[0], text)
    outside = failure.with_(loop.start, begin)
    if isinstance(loop.body, ast.Lambda) and failure.source is not None and failure.statement is not None:
        code = failure.source.replaced(failure.statement, {call[0]: text, loop.start: begin})
    else:
        code = _definition(failure, loop, call[0], text) + "\n" + outside
    return [Cure("Begin with an array of the full size, into which each turn writes its piece:", code or body)]


def _definition(failure: Failure, loop: Loop, node: ast.AST, text: str) -> str:
    source = failure.source
    return source.replaced(loop.body, {node: text}) if source is not None and loop.body is not None else ""


def _growing(loop: Loop) -> tuple[ast.Call, str] | None:
    """The call by which a body puts a piece behind what it carries, and the piece, where it does nothing else with
    what it carries."""
    body = loop.body
    if body is None:
        return None
    node: ast.AST | None = result_of(body)
    if isinstance(node, ast.Name) and isinstance(body, ast.FunctionDef):
        found = [one for one in body.body if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == node.id]
        node = found[-1].value if len(found) == 1 else None
    if not isinstance(node, ast.Call) or last_name(node.func) not in ("append", "concatenate", "vstack", "hstack"):
        return None
    parts = node.args
    if last_name(node.func) != "append":
        listed = node.args[0] if node.args else None
        parts = listed.elts if isinstance(listed, (ast.List, ast.Tuple)) else []
    if len(parts) < 2 or ast.unparse(parts[0]) != loop.carry or len(parts) > 2:
        return None
    uses = [one for one in ast.walk(body) if isinstance(one, ast.Name) and one.id == loop.carry]
    read = [one for one in uses if isinstance(one.ctx, ast.Load)]
    later = 2 if isinstance(result_of(body), ast.Name) and ast.unparse(result_of(body)) == loop.carry else 1  # type: ignore[arg-type]
    if len(read) > later or loop.carry in names_read(parts[1]):
        return None
    return node, ast.unparse(parts[1])
