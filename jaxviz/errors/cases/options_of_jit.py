"""Options of `jax.jit`, such as static arguments, that are given where the jitted function is called."""

from __future__ import annotations

import ast
import re

from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, last_name

_OPTIONS = ("static_argnums", "static_argnames", "donate_argnums", "donate_argnames")


def _at_the_call(failure: Failure, match: re.Match[str]) -> Explanation | None:
    call = failure.find(ast.Call)
    if call is None or last_name(call.func) == "jit":
        return None
    options = [one for one in call.keywords if one.arg in _OPTIONS]
    if not options or options[0].arg not in failure.message:
        return None
    made = call.func if isinstance(call.func, ast.Call) and last_name(call.func.func) == "jit" else None
    name = failure.text(made.args[0] if made is not None and made.args else call.func)
    if made is None and hasattr(failure.value(call.func), "__wrapped__"):
        name += ".__wrapped__"
    told = ", ".join(failure.text(one) for one in [*(made.keywords if made is not None else []), *options])
    given = ", ".join(failure.text(one) for one in (*call.args, *call.keywords) if one not in options)
    code = failure.with_(call, f"jax.jit({name}, {told})({given})")
    reason = (
        f"`{options[0].arg}` is an option of `jax.jit`, which is told of it once, when it makes the function. Whoever "
        "calls that gives arguments alone, so the option was taken for one of them."
    )
    title = f"`{options[0].arg}` is given to the function, not to `jax.jit`"
    cure = Cure("Give it to `jax.jit`:", code)
    return Explanation("option of jit", title, reason, (cure,), api_page("jax.jit"))


CASES = (
    Case(
        "option of jit",
        ("TypeError", "ValueError"),
        "(static|donate)_arg(nums|names)|as an abstract array",
        _at_the_call,
    ),
)
