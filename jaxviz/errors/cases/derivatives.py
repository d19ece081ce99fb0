"""What grad, value_and_grad and custom derivatives ask of functions."""

from __future__ import annotations

import ast
import re

from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, plain
from jaxviz.errors.failure import Failure, last_name

_GRADS = ("grad", "value_and_grad")


def _call(failure: Failure) -> tuple[ast.Call | None, str, str]:
    """The call of grad, the function in it, and the name of grad as it was used."""
    call = failure.calls(*_GRADS)
    name = last_name(call.func) if call is not None else "grad"
    return call, failure.text(call.args[0]) if call is not None and call.args else "f", name


def _not_scalar(failure: Failure, match: re.Match[str]) -> Explanation:
    call, function, name = _call(failure)
    shape = re.search(r"Output had shape: (\([\d, ]*\))", failure.message)
    tracers = re.search(r"Output was (.*?)\.?$", failure.message, re.DOTALL)
    if shape is None and tracers is not None and tracers[1].startswith(("(", "[")):
        return _auxiliary(failure, call, function, name)
    inner = call.args[0] if call is not None and call.args else None
    if isinstance(inner, ast.Lambda) and failure.source is not None:
        body = failure.text(inner.body)
        summed = failure.with_(inner.body, f"jnp.sum({body})")
    else:
        summed = (
            failure.with_(inner, f"lambda *args: jnp.sum({function}(*args))") if inner is not None else "jnp.sum(...)"
        )
    jacobian = failure.with_(call.func, "jax.jacobian") if call is not None else f"jax.jacobian({function})"
    cures = (
        Cure("Differentiate one number, such as the sum:", summed),
        Cure("Or ask for the derivative of each element:", jacobian),
    )
    given = f"here the result has the shape {shape[1]}" if shape else "here the result is more than one number"
    reason = (
        f"`{name}` gives one slope for each element of the argument, so the function must give one number; {given}."
    )
    reason += " Which combination of the results is meant only you can say."
    return Explanation("grad of array", f"`{name}` differentiates one number", reason, cures, api_page(f"jax.{name}"))


def _auxiliary(failure: Failure, call: ast.Call | None, function: str, name: str) -> Explanation:
    written = failure.text(call) or f"jax.{name}({function})"
    code = f"{written[:-1]}, has_aux=True)"
    cure = Cure(
        "Say that what comes after the first is not differentiated; it is then given back beside the gradient:",
        failure.with_(call, code) if call is not None else code,
    )
    reason = (
        f"`{name}` differentiates one number, and the function gives several values. "
        "JAX must be told that only the first of them is meant."
    )
    return Explanation(
        "grad of several",
        f"the function under `{name}` gives more than one value",
        reason,
        (cure,),
        api_page(f"jax.{name}"),
    )


def _backward(failure: Failure, match: re.Match[str]) -> Explanation:
    found = re.search(
        r"bwd output structure PyTreeDef\((.*?)\) for primal input structure PyTreeDef\((.*?)\)\.", failure.message
    )
    counts = [len(re.findall(r"\*", text)) for text in found.groups()] if found else []
    if counts and counts[0] == counts[1]:
        # As many, but not in a tuple.
        reason = (
            "The backward function must give a tuple with one gradient for each argument of the function itself. "
            "It gives as many, but not in a tuple."
        )
        code = "def backward(residuals, cotangent):\n    ...\n    return (gradient,)  # with a comma: a tuple of one"
        title = "the backward function must give a tuple"
        return Explanation(
            "custom backward", title, reason, (Cure("Make a tuple of it:", code),), api_page("jax.custom_vjp")
        )
    words = f"It gives {counts[0]} for {counts[1]} arguments." if counts else "It does not."
    names = ", ".join(f"gradient_{number + 1}" for number in range(counts[1] if counts else 1))
    code = f"def backward(residuals, cotangent):\n    ...\n    return ({names},)  # one for each argument"
    reason = (
        f"The backward function must give a tuple with one gradient for each argument of the function itself. {words}"
    )
    cure = Cure("Give one for each argument; None for those without a gradient:", code)
    return Explanation(
        "custom backward",
        "the backward function gives another number of gradients",
        reason,
        (cure,),
        api_page("jax.custom_vjp"),
    )


_TYPE = ("TypeError",)

CASES = (
    Case("grad of array", _TYPE, r"(?:Gradient|grad).* only defined for scalar-output functions", _not_scalar),
    Case("custom backward", _TYPE, r"Custom VJP bwd rule .*must produce", _backward),
    plain(
        "custom backward type",
        ("ValueError", "TypeError"),
        r"Custom VJP bwd rule .*must produce an output with the same (?:type|shape/dtypes).*at output\[(\d+)\] "
        r"the bwd rule "
        r"produced an output of (?:type|shape/dtype) (\S+) corresponding to an input of (?:type|shape/dtype) "
        r"(\w+\[[\d,]*\])",
        "the backward function gives a gradient of another type than its argument",
        "A gradient has the type of what it is the gradient of. For argument $1 of the type $3, the backward function "
        "gives $2.",
        [
            (
                "Bring it to the shape of the argument, such as by a sum over what was stretched:",
                "return (jnp.broadcast_to(gradient, x.shape).astype(x.dtype),)",
            )
        ],
        api_page("jax.custom_vjp"),
    ),
    plain(
        "custom forward",
        _TYPE,
        r"Custom VJP fwd rule (\S+) for function (\S+) must produce a pair",
        "the forward function of `$2` must give a pair",
        "Under a derivative JAX calls the forward function of `$2` in its place. It gives what `$2` gives, and "
        "what the backward function needs; here it gives one thing alone.",
        [("Give both; None where nothing is needed:", "def forward(x):\n    return $2(x), x")],
        api_page("jax.custom_vjp"),
    ),
    plain(
        "custom rule missing",
        ("AttributeError", "TypeError"),
        r"No (VJP|JVP) defined for custom_(?:vjp|jvp) function (\S+) using (defvjp|defjvp)",
        "`$2` has no rule for its derivative yet",
        "`$2` is marked as a function with a derivative of its own. That was not given: `$3` was not called.",
        [
            (
                "Give it, before the function is differentiated:",
                "def forward(x):\n    return $2(x), x\n\ndef backward(x, cotangent):\n    return (cotangent,)\n\n"
                "$2.$3(forward, backward)",
            )
        ],
        api_page("jax.custom_vjp"),
    ),
    plain(
        "custom tangent",
        _TYPE,
        r"Custom JVP rule (\S+) for function (\S+) must produce a pair",
        "the rule of `$2` must give a pair",
        "The rule of a custom derivative gives the value of `$2` and its tangent, in this order. `$1` gives "
        "something else.",
        [("Give both:", "def $1(primals, tangents):\n    return $2(*primals), tangent")],
        api_page("jax.custom_jvp"),
    ),
    plain(
        "forward of custom",
        _TYPE,
        r"can't apply forward-mode autodiff \(jvp\) to a custom_vjp function",
        "a function with a backward rule cannot be differentiated forward",
        "`custom_vjp` says how to go backward, and nothing of how to go forward; `jvp`, `jacfwd` and `hessian` "
        "need that.",
        [
            ("Say the derivative forward; JAX finds the way back itself:", "@jax.custom_jvp\ndef f(x):\n    ..."),
            ("Or go backward twice:", "jax.jacrev(jax.grad(f))"),
        ],
        api_page("jax.custom_jvp"),
    ),
    plain(
        "grad of integer",
        _TYPE,
        r"(grad|jacfwd|jacrev|jacobian|hessian) requires real-valued outputs .*but got (int\w*|uint\w*|bool)",
        "the function under `$1` gives $2, which has no derivative",
        "A derivative says what a small change does to the result, and integers have no small changes: "
        "rounding, comparing and counting have no slope. $types",
        [("Differentiate a floating-point number, before it is rounded or counted:", "loss.astype(jnp.float32)")],
        api_page("jax.grad"),
    ),
    plain(
        "grad of complex",
        _TYPE,
        r"(grad|jacfwd|jacrev|jacobian|hessian) requires real-valued (outputs|inputs) .*but got (complex\w*)",
        "`$1` wants real numbers, and has $3 $2",
        "The slope of a complex number depends on the direction, unless the function is holomorphic. Most often "
        "a real number is meant, such as the squared absolute value.",
        [
            ("Differentiate a real number:", "jnp.sum(jnp.abs(z) ** 2)"),
            ("Or say that the function is holomorphic:", "jax.$1(f, holomorphic=True)"),
        ],
        api_page("jax.grad"),
    ),
    plain(
        "grad of integer",
        _TYPE,
        r"(jacfwd|jacrev|jacobian|hessian) requires real-valued inputs .*but got (\w+)",
        "`$1` has no derivative by $2",
        "A derivative says what a small change of the argument does, and integers and booleans have no small "
        "changes. $types",
        [("Differentiate with respect to floating-point numbers:", "x.astype(jnp.float32)")],
        api_page("jax.grad"),
    ),
    plain(
        "grad of while",
        ("ValueError",),
        r"Reverse-mode differentiation does not work for lax\.while_loop",
        "no gradient goes back through a loop whose length is not known",
        "The way back goes through all turns once more and needs a value of each, so their number must be known "
        "when the "
        "program is compiled. `while_loop` ends when its condition says so, and so does `fori_loop` with traced "
        "bounds.",
        [
            (
                "Make a fixed number of turns, and stop changing the state:",
                "def body(state, _):\n    return jnp.where(condition(state), step(state), state), None\n\n"
                "state, _ = jax.lax.scan(body, state, None, length=MOST)",
            ),
            ("Or differentiate forward, which needs nothing of the turns before:", "jax.jacfwd(f)(x)"),
        ],
        api_page("jax.lax.while_loop"),
    ),
    plain(
        "auxiliary",
        ("TypeError", "ValueError"),
        r"expected function with aux output to return a two-element tuple",
        "with `has_aux` the function must give a pair",
        "`has_aux=True` says that the function gives the number to differentiate, and something beside it. This "
        "one gives something else.",
        [
            ("Give both:", "return loss, predictions"),
            ("Or leave `has_aux` out:", "jax.value_and_grad(loss)(parameters)"),
        ],
        api_page("jax.grad"),
    ),
    plain(
        "argnums",
        ("TypeError", "ValueError"),
        r"differentiating with respect to argnums=(\S+) requires at least (\d+) positional arguments.*got only (\d+)",
        "there is no argument $1 to differentiate by",
        "`argnums` counts the arguments of the call from 0, and only those that are given by position. There are $3.",
        [
            ("Differentiate by the first:", "jax.grad(f, argnums=0)"),
            ("Or give it by position:", "jax.grad(f, argnums=$1)(x, y)"),
        ],
        api_page("jax.grad"),
    ),
    plain(
        "tangent",
        ("ValueError", "TypeError"),
        r"jvp called with different primal and tangent shapes;? ?Got primal shape (\([\d, ]*\)) and tangent shape as "
        r"(\([\d, ]*\))|primal and tangent arguments to jax\.jvp do not match",
        "the tangents do not fit the arguments",
        "A tangent is a small change of an argument, so it has its shape and type. $types",
        [("Make it like the argument:", "jax.jvp(f, (x,), (jnp.ones_like(x),))")],
        api_page("jax.jvp"),
    ),
    plain(
        "cotangent",
        ("ValueError", "TypeError"),
        r"for argument to (?:VJP|vjp) function: got (\S+), but expected (\S+)",
        "the way back wants $2, and was given $1",
        "The way back begins with what the result is worth, one number for each of its entries. The result is "
        "$2. $types",
        [("Make it like the result:", "y, back = jax.vjp(f, x)\nback(jnp.ones_like(y))")],
        api_page("jax.vjp"),
    ),
    plain(
        "cotangent",
        ("ValueError", "TypeError"),
        r"The argument to a VJP function returned by `jax.vjp` must match|Tree structure of cotangent input",
        "what goes into the way back is built otherwise than the result",
        "The way back takes one value for each result of the function, in the same tuples and dictionaries.",
        [("Make it like the result:", "y, back = jax.vjp(f, x)\nback(jax.tree.map(jnp.ones_like, y))")],
        api_page("jax.vjp"),
    ),
    plain(
        "no derivative",
        ("NotImplementedError",),
        r"(?:Transpose rule \(for reverse-mode differentiation\)|Differentiation rule) for '(\w+)' not implemented",
        "JAX has no derivative of `$1` here",
        "To go back through `$text`, `$1` must be linear or have a derivative of its own, and it has none that "
        "JAX knows of.",
        [
            ("Give one yourself:", "@jax.custom_vjp\ndef f(x):\n    ..."),
            ("Or let no gradient through:", "jax.lax.stop_gradient($first)"),
        ],
        api_page("jax.custom_vjp"),
    ),
    plain(
        "callback derivative",
        ("ValueError", "NotImplementedError"),
        r"(Pure|IO) callbacks do not support (JVP|transpose)",
        "what Python computes has no derivative",
        "`$call` calls Python while the program runs. JAX sees nothing of what happens there, so it knows no "
        "derivative.",
        [
            (
                "Give one beside it:",
                "@jax.custom_jvp\ndef f(x):\n    return jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, "
                "x.dtype), x)\n\n"
                "@f.defjvp\ndef rule(primals, tangents):\n    return f(*primals), derivative(*primals) * tangents[0]",
            ),
            ("Or let no gradient through:", "jax.pure_callback(host, shape, jax.lax.stop_gradient(x))"),
        ],
        api_page("jax.pure_callback"),
    ),
)
