"""Loops of Python that fill a list, and are left or cut short where a traced value says so.

How long the list gets would depend on values, and a shape cannot. So all turns are made, with 0 for each entry that the
list would lack.
"""

from __future__ import annotations

import ast

from jaxviz.errors.cases.as_program import assignment
from jaxviz.errors.cases.conditions import elementwise
from jaxviz.errors.cases.loop_state import carried_by, may_end
from jaxviz.errors.explanation import Cure
from jaxviz.errors.failure import Failure
from jaxviz.errors.rewriting import fresh, indented


def filled_list(failure: Failure, loop: ast.stmt) -> tuple[Cure, ...]:
    """The cure of a loop over what Python goes along, of which each turn assigns, adds to lists, leaves or goes on."""
    if not isinstance(loop, ast.For) or loop.orelse:
        return ()
    left, skipped = fresh(failure, "left", "ended"), fresh(failure, "skipped", "cut_short")
    carried, lines = carried_by(failure, loop), list[str]()
    ends = [one.body[0] for one in loop.body if isinstance(one, ast.If)]
    begins = [f"{left} = False"] if any(isinstance(one, ast.Break) for one in ends) else []
    mask = left if begins else ""
    for statement in loop.body:
        if isinstance(statement, ast.If):
            inside, mask = _leaving(failure, statement, left, skipped, mask)
        else:
            inside = _masked(failure, statement, mask, carried)
        if not inside:
            return ()
        lines += inside
    head = f"for {failure.text(loop.target)} in {failure.text(loop.iter)}:"
    text = "Make all turns, in place of the whole loop, with 0 where the list would have ended; it has one length then:"
    return (Cure(text, "\n".join([*begins, head, *indented(lines)])),)


def _leaving(failure: Failure, node: ast.If, left: str, skipped: str, mask: str) -> tuple[list[str], str]:
    """An `if` that leaves the loop or its turn, as what has no effect from there on, and the name of that; no lines for
    any other."""
    test, last = f"({elementwise(failure, node.test)})", node.body[0]
    if node.orelse or not isinstance(last, (ast.Break, ast.Continue)):
        return [], mask
    if isinstance(last, ast.Continue):
        return [f"{skipped} = {f'{mask} | {test}' if mask else test}"], skipped
    if mask == skipped:
        return [f"{left} = {left} | (~{skipped} & {test})", f"{skipped} = {skipped} | {left}"], mask
    return [f"{left} = {left} | {test}"], mask


def _masked(failure: Failure, statement: ast.stmt, mask: str, carried: list[str]) -> list[str]:
    """A statement of a turn that has no effect where the mask is true; nothing where that cannot be said."""
    if may_end(statement):
        return []
    if (added := _added(failure, statement)) is not None:
        things, value = added
        return [f"{things}.append({f'jnp.where({mask}, 0, {value})' if mask else value})"]
    name, value = assignment(failure, statement)
    value = f"jnp.where({mask}, {name}, {value})" if mask and name in carried else value
    return [f"{name} = {value}"] if name else []


def _added(failure: Failure, statement: ast.stmt) -> tuple[str, str] | None:
    """What a statement adds to a list: the list and the entry."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
        return None
    if len(call.args) != 1 or call.keywords or not isinstance(failure.value(call.func.value), list):
        return None
    return failure.text(call.func.value), failure.text(call.args[0])
