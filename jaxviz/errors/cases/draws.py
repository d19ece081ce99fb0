"""Random numbers that NumPy draws with traced values, and generators and keys of what cannot be a seed."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxviz.arrays import is_array
from jaxviz.errors.cases.values import static_cures, told
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, error_page
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.rewriting import grouped
from jaxviz.errors.trial import given_by

# What functions of NumPy are given, in order, and what draws the same in JAX, of that and a key.
_DRAWS: Mapping[str, tuple[str, str]] = {
    "normal": ("loc scale size", "{loc} + {scale} * jax.random.normal({key}, {size})"),
    "laplace": ("loc scale size", "{loc} + {scale} * jax.random.laplace({key}, {size})"),
    "logistic": ("loc scale size", "{loc} + {scale} * jax.random.logistic({key}, {size})"),
    "gumbel": ("loc scale size", "{loc} + {scale} * jax.random.gumbel({key}, {size})"),
    "lognormal": ("mean sigma size", "jnp.exp({mean} + {sigma} * jax.random.normal({key}, {size}))"),
    "exponential": ("scale size", "{scale} * jax.random.exponential({key}, {size})"),
    "uniform": ("low high size", "jax.random.uniform({key}, {size}, minval={low}, maxval={high})"),
    "randint": ("low high size", "jax.random.randint({key}, {size}, {low}, {high})"),
    "integers": ("low high size", "jax.random.randint({key}, {size}, {low}, {high})"),
    "choice": ("a size replace p", "jax.random.choice({key}, {a}, {size}, {replace}, {p})"),
    "permutation": ("x", "jax.random.permutation({key}, {x})"),
    "poisson": ("lam size", "jax.random.poisson({key}, {lam}, {size})"),
    "binomial": ("n p size", "jax.random.binomial({key}, {n}, {p}, {size})"),
    "gamma": ("shape scale size", "{scale} * jax.random.gamma({key}, {shape}, {size})"),
    "beta": ("a b size", "jax.random.beta({key}, {a}, {b}, {size})"),
    "dirichlet": ("alpha size", "jax.random.dirichlet({key}, {alpha}, {size})"),
    "multivariate_normal": ("mean cov size", "jax.random.multivariate_normal({key}, {mean}, {cov}, {size})"),
}
_OTHERWISE = {"loc": "0.0", "scale": "1.0", "replace": "True", "p": "None"}
# Those that stretch what they draw to what they are given, in JAX too.
_STRETCHED = ("poisson", "binomial", "gamma", "beta", "dirichlet", "multivariate_normal")


def drawn(failure: Failure, call: ast.Call) -> tuple[Cure, ...]:
    """What a call of NumPy's generators draws, drawn by JAX; nothing for any other call."""
    if not _is_random(failure, call.func):
        return ()
    if last_name(call.func) in ("seed", "RandomState"):
        return _seeded(failure, call)
    code = by_jax(failure, call, call.args, key_at_hand(failure))
    text = "Draw with JAX, which asks for a key, a new one for each draw:"
    return (Cure(text, failure.with_(call, code)),) if code else ()


def by_jax(failure: Failure, call: ast.Call, placed: Sequence[ast.expr], key: str) -> str:
    """What draws in JAX what a function of NumPy of the same name draws, of what it is given by place and by name;
    empty where that is not known."""
    name = last_name(call.func)
    if name not in _DRAWS:
        return ""
    parameters, template = _DRAWS[name]
    nodes = dict(zip(parameters.split(), placed, strict=False))
    nodes |= {one.arg: one.value for one in call.keywords if one.arg}
    given = {parameter: failure.text(node) for parameter, node in nodes.items()}
    if "scale" in nodes:
        given["scale"] = grouped(given["scale"], nodes["scale"])
    if "low" in parameters and "high" not in given:
        # One bound alone is the upper one.
        given |= {"low": "0", "high": given.get("low", "1")}
    put = {**_OTHERWISE, "size": _size(failure, name, list(nodes.values())), **given}
    if not {*given} <= {*parameters.split()} or not {*parameters.split()} <= {*put}:
        return ""
    code = template.format(key=key, **put)
    code = re.sub(r"(, True)?(, None)?\)$", ")", code).replace("0.0 + ", "").replace("1.0 * ", "")
    around = failure.source.parent(call) if failure.source is not None else None
    is_operand = isinstance(around, (ast.BinOp, ast.UnaryOp)) and not code.startswith(("jax", "jnp"))
    return f"({code})" if is_operand else code


def _is_random(failure: Failure, function: ast.expr) -> bool:
    """Whether a function is one of `np.random` or of a generator of it."""
    owner = failure.value(function.value) if isinstance(function, ast.Attribute) else None
    name = getattr(owner, "__name__", None) or type(owner).__module__
    return str(name).startswith("numpy.random")


def _size(failure: Failure, name: str, given: list[ast.expr]) -> str:
    """The shape of what is drawn where it is not given: that of the arrays it is drawn with."""
    if name in _STRETCHED:
        return "None"
    shaped = [node for node in given if getattr(given_by(failure, failure.text(node)), "shape", ())]
    if name == "choice" or not shaped:
        return "()"
    text = failure.text(shaped[0])
    return f"{text}.shape" if isinstance(shaped[0], ast.Name) else f"jnp.shape({text})"


def key_at_hand(failure: Failure) -> str:
    """A key that is at hand, or a new one."""
    return next((name for name, held in failure.variables.items() if _is_key(held)), "jax.random.key(0)")


def _is_key(value: Any) -> bool:
    return is_array(value) and value.shape == () and bool(jnp.issubdtype(value.dtype, jax.dtypes.prng_key))


def _seed(failure: Failure, _: re.Match[str]) -> Explanation | None:
    """A generator of NumPy that is made of a traced number."""
    call = failure.find(ast.Call)
    if call is None or not call.args:
        return None
    seed = failure.text(call.args[0])
    title = f"`{failure.text(call)}` needs the number behind `{seed}` while JAX traces"
    why = "A generator of NumPy begins with numbers, and draws at once, the same for all runs; this one"
    return told(failure, "seed", title, why, _seeded(failure, call), error_page("TracerArrayConversionError"))


def _seeded(failure: Failure, call: ast.Call) -> tuple[Cure, ...]:
    code = f"key = jax.random.key({failure.text(call.args[0]) if call.args else 0})"
    key = Cure("Make a key of it, for the functions of `jax.random`:", code, inside=False)
    return (key, *static_cures(failure, failure.traced(call)))


def _no_seed(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """A key that is made of a key, or of several numbers."""
    call = failure.calls("key", "PRNGKey")
    if call is None or not call.args:
        return None
    text = failure.text(call.args[0])
    held: Any = failure.value(call.args[0])
    is_key = "PRNG key" in match[0] or (is_array(held) and held.shape == (2,) and held.dtype == "uint32")
    cure = Cure("Use it as it is:", failure.with_(call, text))
    what = "is a key already"
    if not is_key:
        what = "is no whole number"
        whole = f"{grouped(text, call.args[0])}.astype(int)" if getattr(held, "shape", None) == () else f"{text}[0]"
        cure = Cure("Give it one whole number:", failure.with_(call.args[0], whole))
    reason = f"`{failure.text(call.func)}` makes a key of a seed, which is one whole number. `{text}` {what}."
    return Explanation("seed", f"`{text}` is no seed", reason, (cure,), api_page("jax.random.key"))


CASES = (
    Case("seed", ("TypeError",), r"SeedSequence expects int|Cannot cast .* seed", _seed),
    Case("seed", ("TypeError",), r"(?:key|PRNGKey) (?:accepts a scalar seed|seed must be an integer).*", _no_seed),
)
