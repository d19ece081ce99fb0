"""Numbers that are known, but that JAX was asked to compute and therefore traces: `jnp.prod(jnp.array(x.shape))`."""

from __future__ import annotations

import ast
import copy
from typing import Any

from jaxviz.errors.cases.values import without_shapes
from jaxviz.errors.explanation import Cure
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.source import Source, names_assigned
from jaxviz.errors.trial import cannot_work


def by_numpy(failure: Failure, number: ast.expr | None) -> tuple[Cure, ...]:
    """The failing statement with a number computed by NumPy, which JAX does not trace, if nothing of it is an entry
    of an array."""
    statement, source = failure.statement, failure.source
    if source is None or statement is None or number is None or hasattr(statement, "body"):
        return ()
    assigned = _assigned(failure, source, number)
    text = _in_numpy(failure, assigned if assigned is not None else number)
    if not text:
        return ()
    if not isinstance(number, ast.Name):
        code = source.replaced(statement, {number: text})
    else:
        code = f"{number.id} = {text}\n{source.text(statement)}"
    told = "Compute it with NumPy, which JAX does not trace:" if "np." in text else "Write it as a number of Python:"
    return () if cannot_work(failure, code) else (Cure(told, code),)


def _assigned(failure: Failure, source: Source, number: ast.expr) -> ast.expr | None:
    """What a name was made of, in the one statement of the function that assigns it."""
    function: Any = next((one for one in source.around(number) if isinstance(one, ast.FunctionDef)), None)
    if not isinstance(number, ast.Name) or function is None:
        return None
    made = [one for one in ast.walk(function) if isinstance(one, ast.stmt) and number.id in _targets(one)]
    once = len(made) == 1 and isinstance(made[0], ast.Assign)
    return getattr(made[0], "value", None) if once else None


def _targets(statement: ast.stmt) -> list[str]:
    simple = isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For))
    parts = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    return names_assigned([ast.Expr(one) for one in parts if one is not None]) if simple else []


def _in_numpy(failure: Failure, node: ast.expr) -> str:
    """An expression that JAX computes, as NumPy does; empty where that needs entries of what is traced."""
    known = _ByNumpy().visit(copy.deepcopy(node))
    if failure.traced(without_shapes(known)) or not any(isinstance(one, ast.Call) for one in ast.walk(known)):
        return ""
    if isinstance(known, ast.Call) and last_name(known.func) in _WHOLE and len(known.args) == 1:
        (given,) = known.args
        return ast.unparse(given) if isinstance(given, ast.Constant) else f"int({ast.unparse(given)})"
    text = ast.unparse(known)
    return text if isinstance(known, ast.Call) and last_name(known.func) == "int" else f"int({text})"


# What makes a whole number of one that is given.
_WHOLE = ("array", "asarray", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


class _ByNumpy(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if ast.unparse(node.value) in ("jnp", "jax.numpy"):
            return ast.Attribute(ast.Name("np", ast.Load()), node.attr, node.ctx)
        return self.generic_visit(node)
