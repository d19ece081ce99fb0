"""What several cases say: a value is asked for while only its shape and type are known."""

from __future__ import annotations

import ast
import copy
import inspect
import re
from collections.abc import Sequence
from contextlib import suppress

from jaxviz.errors.explanation import Cure, Explanation
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.rewriting import explored_again
from jaxviz.errors.source import names_assigned, names_read


def stand_ins(failure: Failure, node: ast.AST | None) -> str:
    """Why there is no value: what the names in an expression are while JAX traces."""
    names = failure.traced(node)
    which = f", here {failure.typed(names)}," if names else ""
    return (
        f"JAX calls the function once with stand-ins that have a shape and a type{which} but no numbers, "
        "to record what it computes."
    )


def depends(failure: Failure) -> str:
    """What a value depends on: `depends on the argument x`."""
    names = failure.causes
    if not names:
        return "is known only when the program runs"
    listed = ", ".join(f"`{name}`" for name in names)
    inside = f" of this {failure.traced_for}" if failure.traced_for not in ("", "jit") else ""
    return f"depends on the argument{'s' * (len(names) > 1)} {listed}{inside}, known only when the program runs"


def told(failure: Failure, case: str, title: str, why: str, cures: tuple[Cure, ...], link: str = "") -> Explanation:
    reason = f"{stand_ins(failure, failure.expression)} {why} {depends(failure)}."
    return Explanation(case, title, reason, cures, failure.link or link)


_STATIC = "JAX then knows the value, and compiles once for each value that you pass."


def static_cures(failure: Failure, names: Sequence[str] = (), every: bool = False) -> tuple[Cure, ...]:
    """To make the arguments that it depends on a part of the program, where they are numbers that the person gave.

    `names` are for where JAX does not say which argument that is; what they were computed of counts.
    With `every`, they are asked for one after the other, and JAX names the first alone.
    """
    causes = failure.causes
    if every or not causes:
        causes = [*causes, *_computed_of(failure, names)]
    static = failure.static_among([*dict.fromkeys([*causes, *_met_in_turns(failure)])])
    inside = failure.traced_function
    if not static:
        return _static_of_many(failure)
    if failure.causes and inside and inside != getattr(failure.fn, "__name__", inside):
        return ()
    quoted = ", ".join(f'"{name}"' for name, _ in static)
    names = quoted if len(static) == 1 else f"({quoted})"
    places = ",".join(str(place) for _, place in static)
    if failure.name.isidentifier():
        code = f"fast = jax.jit({plain_name(failure)}, static_argnames={names})"
        if not is_jitted(failure):
            code += explored_again(failure, places)
    else:
        # A lambda, which the call does not name.
        written = _written(failure)
        if written is None:
            return ()
        code = f"fast = jax.jit({written}, static_argnames={names})"
    told = " and ".join(f"`{name}`" for name, _ in static)
    text = f"Make {told} static: {_STATIC}"
    return (Cure(text, code),)


def _static_of_many(failure: Failure) -> tuple[Cure, ...]:
    """The same for one number of `*args` or `**kwargs`, which has a place or a name in the call alone."""
    many = {one.kind: one.name for one in _parameters(failure)}
    said = re.search(r"depends on the value of the argument (\w+)\[(\d+|'\w+')\]\.?$", failure.message, re.MULTILINE)
    if said is None or not failure.name.isidentifier():
        return ()
    key = ast.literal_eval(said[2])
    by_place, by_name = many.get(inspect.Parameter.VAR_POSITIONAL), many.get(inspect.Parameter.VAR_KEYWORD)
    if said[1] == by_place and type(key) is int and len(_parameters(failure)) == 1:
        held, static = failure.args[key], f"static_argnums={key}"
    elif said[1] == by_name and type(key) is str:
        held, static = failure.kwargs.get(key), f'static_argnames="{key}"'
    else:
        return ()
    if not isinstance(held, (bool, int, float, str)):
        return ()
    text = f"Make `{said[1]}[{key!r}]` static: {_STATIC}"
    return (Cure(text, f"fast = jax.jit({plain_name(failure)}, {static})"),)


def _parameters(failure: Failure) -> list[inspect.Parameter]:
    with suppress(TypeError, ValueError):
        return list(inspect.signature(failure.fn).parameters.values())
    return []


def _computed_of(failure: Failure, names: Sequence[str]) -> list[str]:
    """Names, and for those that the failing function assigned once, the traced names that their value was made of."""
    source, expression = failure.source, failure.expression
    around = source.around(expression) if source is not None and expression is not None else []
    function = next((one for one in around if isinstance(one, ast.FunctionDef)), None)
    assigned: dict[str, list[ast.Assign]] = {}
    for node in ast.walk(function) if function is not None else ():
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            assigned.setdefault(node.targets[0].id, []).append(node)
    found: list[str] = []
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        if name in found:
            continue
        made = assigned.get(name, [])
        of = failure.traced(without_shapes(made[0].value)) if len(made) == 1 else []
        if of and name not in of:
            waiting += of
        else:
            found.append(name)
    return found


def _met_in_turns(failure: Failure) -> list[str]:
    """The other arguments that what a `while` asks is made of, from its second turn on."""
    loop = failure.statement
    if not isinstance(loop, ast.While):
        return []
    found = names_read(loop.test)
    assigned = [one for one in ast.walk(loop) if isinstance(one, (ast.Assign, ast.AugAssign))]
    for _ in assigned:
        found += [name for one in assigned if {*names_assigned([one])} & {*found} for name in names_read(one)]
        found = [*dict.fromkeys(found)]
    return [name for name in failure.traced(loop) if name in found and failure.given(name) is not None]


class _Shapes(ast.NodeTransformer):
    """Takes out what is known of an array while JAX traces: its shape, and what else is not its entries."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return ast.Constant(0) if node.attr in ("shape", "ndim", "size", "dtype") else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return ast.Constant(0) if last_name(node.func) == "len" else self.generic_visit(node)


def without_shapes(node: ast.expr) -> ast.AST:
    """An expression without what of it is known while JAX traces."""
    return _Shapes().visit(copy.deepcopy(node))


def is_jitted(failure: Failure) -> bool:
    """Whether the explored function was jitted before, with the static arguments that it has."""
    return hasattr(failure.fn, "lower") and hasattr(failure.fn, "__wrapped__")


def plain_name(failure: Failure) -> str:
    """The explored function as it was before it was jitted: what is jitted twice is traced by the first as before."""
    return f"{failure.name}.__wrapped__" if is_jitted(failure) else failure.name


def _written(failure: Failure) -> str | None:
    """The explored function as it is written, where it is a lambda that the failing line is in."""
    source = failure.source
    around = source.around(failure.expression) if source is not None and failure.expression is not None else []
    lambdas = [node for node in around if isinstance(node, ast.Lambda)]
    wanted = getattr(getattr(failure.fn, "__code__", None), "co_varnames", ())
    for node in reversed(lambdas):
        if [argument.arg for argument in node.args.args] == list(wanted[: len(node.args.args)]):
            return failure.text(node)
    return None
