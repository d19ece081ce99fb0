"""What Python asks of one value after the other, as jax.numpy computes it for all: conditions, any, max, sorted."""

from __future__ import annotations

import ast

from jaxviz.arrays import is_array
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.rewriting import grouped
from jaxviz.errors.trial import given_by

_PAIRWISE = {"max": "jnp.maximum", "min": "jnp.minimum"}
_WHOLE = {"any": "jnp.any", "all": "jnp.all", "max": "jnp.max", "min": "jnp.min", "sum": "jnp.sum"}
_PLACES = {"max": "jnp.argmax", "min": "jnp.argmin"}
#: Functions of Python that ask their values.
ASKING = ("any", "all", "max", "min", "sorted", "bool")

_COMPARED: dict[type[ast.AST], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def elementwise(failure: Failure, node: ast.expr | str) -> str:
    """A condition in which `and`, `or`, `not`, `in`, comparisons of three and Python's own functions are computed for
    each element."""
    if isinstance(node, str):
        return node
    if isinstance(node, ast.BoolOp):
        sign = " & " if isinstance(node.op, ast.And) else " | "
        return sign.join(f"({_true(failure, value)})" for value in node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        value = failure.value(node.operand)
        if is_array(value) and value.dtype != bool:
            # Of whole numbers, `~` turns each bit.
            return f"({failure.text(node.operand)} == 0)"
        return f"~{grouped(elementwise(failure, node.operand), node.operand)}"
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        among = failure.text(node.comparators[0])
        if isinstance(node.comparators[0], ast.Set) or isinstance(failure.value(node.comparators[0]), (set, frozenset)):
            among = f"[{among[1:-1]}]" if isinstance(node.comparators[0], ast.Set) else f"list({among})"
        found = f"jnp.any({failure.text(node.left)} == jnp.array({among}))"
        return found if isinstance(node.ops[0], ast.In) else f"~{found}"
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        operands = [failure.text(part) for part in (node.left, *node.comparators)]
        signs = [_COMPARED.get(type(op), "==") for op in node.ops]
        return " & ".join(f"({operands[place]} {sign} {operands[place + 1]})" for place, sign in enumerate(signs))
    if isinstance(node, ast.Compare) and failure.source is not None:
        changes: dict[ast.AST, str] = {
            part: text for part in (node.left, *node.comparators) if (text := of_python(failure, part))
        }
        return failure.source.replaced(node, changes)
    return of_python(failure, node) or failure.text(node)


def _true(failure: Failure, node: ast.expr) -> str:
    """Whether a value is true: of numbers, whether they are not zero."""
    text = elementwise(failure, node)
    return f"{grouped(text, node)} != 0" if is_number(failure, node) else text


def is_number(failure: Failure, node: ast.expr) -> bool:
    """Whether an expression gives numbers, not booleans, as far as that shows."""
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float, complex)
    value = given_by(failure, failure.text(node))
    return value is not None and is_array(value) and value.dtype != bool


def value_of(failure: Failure, node: ast.expr) -> str:
    """What `and` and `or` give, which is one of their values, chosen for each element."""
    if not isinstance(node, ast.BoolOp) or not any(is_number(failure, one) for one in node.values):
        return elementwise(failure, node)
    *firsts, text = (value_of(failure, one) for one in node.values)
    for value, first in zip(reversed(node.values[:-1]), reversed(firsts), strict=True):
        chosen = f"{text}, {first}" if isinstance(node.op, ast.And) else f"{first}, {text}"
        text = f"jnp.where({_true(failure, value)}, {chosen})"
    return text


def of_python(failure: Failure, node: ast.AST | None) -> str:
    """A call of a function of Python that asks its values, as jax.numpy computes it; empty for anything else."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or last_name(node.func) not in ASKING:
        return ""
    name, keywords = last_name(node.func), {keyword.arg: keyword.value for keyword in node.keywords}
    arguments = [of_python(failure, argument) or failure.text(argument) for argument in node.args]
    if not arguments or any(isinstance(argument, ast.Starred) for argument in node.args):
        return ""
    if name == "bool":
        return f"{grouped(arguments[0], node.args[0])} != 0"
    if len(arguments) > 1:
        if "key" in keywords:
            return ""
        text = arguments[0]
        for argument in arguments[1:]:
            text = f"{_PAIRWISE.get(name, 'jnp.maximum')}({text}, {argument})"
        return text
    values = array_of(failure, node.args[0])
    key = keywords.get("key")
    if name == "sorted":
        order = keywords.get("reverse")
        known = order is None or isinstance(order, ast.Constant)
        backwards = isinstance(order, ast.Constant) and bool(order.value)
        if not known:
            return ""
        text = f"jnp.sort({values})"
        if key is not None:
            text = f"{_operand(values)}[jnp.argsort(jax.vmap({failure.text(key)})({values}))]"
        return f"{text}[::-1]" if backwards else text
    if key is not None:
        return f"{_operand(values)}[{_PLACES[name]}(jax.vmap({failure.text(key)})({values}))]"
    return f"{_WHOLE[name]}({values})"


def _operand(text: str) -> str:
    return text if text.replace("_", "").replace(".", "").isalnum() or text.endswith(")") else f"({text})"


def array_of(failure: Failure, node: ast.expr) -> str:
    """What goes through Python's hands one by one, as one array."""
    if isinstance(node, ast.Call) and last_name(node.func) in ("list", "tuple", "iter") and len(node.args) == 1:
        return array_of(failure, node.args[0])
    if isinstance(node, (ast.List, ast.Tuple)):
        return f"jnp.array({failure.text(node)})"
    if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
        return _of_comprehension(failure, node)
    if isinstance(failure.value(node), (list, tuple)):
        return f"jnp.array({failure.text(node)})"
    return failure.text(node)


def _of_comprehension(failure: Failure, node: ast.GeneratorExp | ast.ListComp) -> str:
    """All values of a comprehension: computed at once where it goes along arrays, else one by one."""
    (first, *more) = node.generators
    over = first.iter
    if not more and not first.ifs:
        each, value = failure.text(first.target), failure.text(node.elt)
        if is_array(failure.value(over)) and isinstance(first.target, ast.Name):
            return failure.text(over) if each == value else f"jax.vmap(lambda {each}: {value})({failure.text(over)})"
        zipped = over.args if isinstance(over, ast.Call) and last_name(over.func) == "zip" else []
        names = getattr(first.target, "elts", [])
        arrays = [failure.value(one) for one in zipped]
        same = all(is_array(one) and one.shape for one in arrays) and len({one.shape[0] for one in arrays}) == 1
        if zipped and same and all(isinstance(one, ast.Name) for one in names):
            given = ", ".join(failure.text(one) for one in zipped)
            return f"jax.vmap(lambda {', '.join(one.id for one in names)}: {value})({given})"
    text = failure.text(node)
    inside = text[1:-1] if text[:1] in "([" and text[-1:] in ")]" and _is_wrapped(text) else text
    return f"jnp.array([{inside}])"


def _is_wrapped(text: str) -> bool:
    """Whether the first bracket is closed by the last."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0:
            return place == len(text) - 1
    return False
