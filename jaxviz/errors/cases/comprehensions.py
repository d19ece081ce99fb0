"""Comprehensions with an `if` that a traced value decides: all entries are kept, with a number for each left out."""

from __future__ import annotations

import ast

from jaxviz.errors.cases.conditions import elementwise
from jaxviz.errors.failure import Failure, last_name

# What does not change the result of a function of Python, and that function where it would ask for values itself.
_NEUTRAL = {"sum": "0", "max": "-jnp.inf", "min": "jnp.inf", "any": "False", "all": "True", "prod": "1"}
_ASKING = {"max": "jnp.max", "min": "jnp.min", "any": "jnp.any", "all": "jnp.all"}


def kept(failure: Failure, node: ast.comprehension) -> str:
    """The statement without the `if`; empty where entries that are left out cannot be numbers."""
    source = failure.source
    whole = source.parent(node) if source is not None else None
    if source is None or not isinstance(whole, (ast.ListComp, ast.GeneratorExp)) or node is not whole.generators[-1]:
        return ""
    call = source.parent(whole)
    name = last_name(call.func) if isinstance(call, ast.Call) and call.args[:1] == [whole] else ""
    test = " & ".join(f"({elementwise(failure, one)})" for one in node.ifs)
    test = test if node.ifs[1:] else test[1:-1]
    value = "1" if name == "len" else failure.text(whole.elt)
    value = f"jnp.where({test}, {value}, {_NEUTRAL.get(name, '0')})"
    loops = " ".join(f"for {failure.text(one.target)} in {failure.text(one.iter)}" for one in whole.generators)
    if name == "len" and isinstance(call, ast.Call):
        return failure.with_(call, f"sum({value} {loops})")
    if name in _ASKING and isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and len(call.args) == 1:
        return failure.with_(call, f"{_ASKING[name]}(jnp.array([{value} {loops}]))")
    begin, end = "[]" if isinstance(whole, ast.ListComp) else "()"
    return failure.with_(whole, f"{begin}{value} {loops}{end}")
