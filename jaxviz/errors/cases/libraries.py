"""What Flax, Equinox and Optax ask of those who use them inside traced functions."""

from __future__ import annotations

import ast
import math
import re

from jaxviz.errors.cases.leaks import definition_with_source
from jaxviz.errors.cases.operands import shapes_in
from jaxviz.errors.explanation import Case, Cure, Explanation, plain
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.rewriting import called, fresh, with_keyword
from jaxviz.errors.source import names_read

_FLAX = "https://flax.readthedocs.io/en/latest/"
_EQUINOX = "https://docs.kidger.site/equinox/"
_ERRORS = f"{_FLAX}api_reference/flax.errors.html"


def _parameter_shape(failure: Failure, match: re.Match[str]) -> Explanation:
    name, module, wanted, there = match.groups()
    reason = (
        f"The parameters were made for inputs of another shape: `{name}` of `{module}` is {there}, and with this input "
        f"it would have to be {wanted}. {failure.types(failure.expression)}"
    )
    outside, call = failure.calling("apply")
    cures = []
    if call is not None and isinstance(call.func, ast.Attribute) and call.args and isinstance(call.args[0], ast.Name):
        given = [outside.text(one) for one in (*call.args[1:], *call.keywords)]
        made = f"{outside.text(call.func.value)}.init({', '.join(['jax.random.key(0)', *given])})"
        code = f"{call.args[0].id} = {made}\n{outside.with_(call, outside.text(call))}"
        cures = [Cure("Make the parameters with an input of the shape that they get:", code)]
        cures = _as_rows(outside, call.args[1:2], there, wanted) or cures
    title = f"`{name}` of `{module}` is {there}, and this input needs {wanted}"
    return Explanation("flax shape", title, reason.strip(), tuple(cures), f"{_ERRORS}#flax.errors.ScopeParamShapeError")


def _as_rows(failure: Failure, given: list[ast.expr], there: str, wanted: str) -> list[Cure]:
    """An input of several axes, such as an image, laid out as the parameters were made for."""
    shape = tuple(getattr(failure.value(given[0]), "shape", ())) if given else ()
    (features, *_), (asked, *_) = shapes_in(there)[0], shapes_in(wanted)[0]
    if len(shape) < 2 or shape[-1] != asked:
        return []
    text = failure.text(given[0])
    for rows, reshaped in ((shape[1:], f"{text}.reshape({text}.shape[0], -1)"), (shape, f"{text}.reshape(-1)")):
        if math.prod(rows) == features:
            told = f"It has {' x '.join(map(str, rows))} = {features} entries in several axes. Make one axis of them:"
            return [Cure(told, failure.with_(given[0], reshaped))]
    return []


def _derivative_of_all(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """A derivative by a model that holds functions: they are no numbers."""
    call = failure.calls("grad", "value_and_grad", "jit", "vmap", "jacfwd", "jacrev", "hessian")
    kind = match[1].rpartition(".")[2]
    if (
        call is None
        or not isinstance(call.func, ast.Attribute)
        or kind not in ("custom_jvp", "function", "PjitFunction")
    ):
        return None
    name = call.func.attr
    filtered = {"grad": "filter_grad", "value_and_grad": "filter_value_and_grad", "jit": "filter_jit"}.get(name)
    reason = (
        f"A model of Equinox is a tree of arrays and of what is no array, such as its activation, here a {kind}. "
        f"`jax.{name}` wants arrays alone; the forms of Equinox look them out."
    )
    cures = []
    if filtered is not None:
        cures.append(Cure("Use the form of Equinox:", failure.with_(call.func, f"eqx.{filtered}")))
    cures += _taken_apart(failure, call)
    title = f"`jax.{name}` was given a model that holds a {kind}"
    return Explanation("model of functions", title, reason, tuple(cures), f"{_EQUINOX}all-of-equinox/")


def _taken_apart(failure: Failure, call: ast.Call) -> list[Cure]:
    """A transformation by the arrays of a model alone; the rest is read from around it."""
    outer = failure.source.parent(call) if failure.source is not None else None
    if not isinstance(outer, ast.Call) or outer.func is not call or len(call.args) != 1 or not outer.args:
        return []
    if isinstance(outer.args[0], ast.Starred):
        return []
    arrays, rest = fresh(failure, "arrays"), fresh(failure, "rest")
    function = f"lambda {arrays}, *given: {called(failure, call.args[0])}(eqx.combine({arrays}, {rest}), *given)"
    changes: dict[ast.AST, str] = {call.args[0]: function, outer.args[0]: arrays}
    whole = failure.with_(outer, failure.source.replaced(outer, changes)) if failure.source is not None else ""
    apart = f"{arrays}, {rest} = eqx.partition({failure.text(outer.args[0])}, eqx.is_array)"
    return [Cure("Or take the model apart:", f"{apart}\n{whole}")]


def _unwatched(failure: Failure, match: re.Match[str]) -> Explanation:
    source = failure.source
    around = source.around(failure.expression) if source is not None and failure.expression is not None else []
    method = next((one for one in around if isinstance(one, ast.FunctionDef)), None)
    cures = [Cure("Mark the method:", f"@nn.compact\n{failure.text(method)}")] if method is not None else []
    reason = (
        "Flax gives each submodule a name and its parameters a place when it is made. It does so in `setup`, and in "
        "a method that is marked as compact."
    )
    title = f"`{match[1]}` is made in a method that Flax does not watch"
    return Explanation("flax compact", title, reason, tuple(cures), f"{_ERRORS}#flax.errors.AssignSubModuleError")


def _unbound(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.find(ast.Call)
    text = " ".join(failure.text(failure.expression).split())
    cures = []
    if call is not None and not any(isinstance(one, ast.Starred) for one in call.args):
        module, given = failure.text(call.func), ", ".join(map(failure.text, [*call.args, *call.keywords]))
        code = f"variables = {module}.init(jax.random.key(0), {given})\n"
        code += failure.with_(call, f"{module}.apply(variables, {given})")
        cures = [Cure("Make them once, then apply the module to them:", code)]
    reason = (
        "A module of Flax describes a computation; parameters are made by `init` and handed over by `apply`. "
        "Called by itself, outside of another module, it has none."
    )
    title = f"`{text}` calls a module of Flax that has no parameters"
    page = f"{_ERRORS}#flax.errors.CallCompactUnboundModuleError"
    return Explanation("flax unbound", title, reason, tuple(cures), page)


def _nnx_outside(failure: Failure, match: re.Match[str]) -> Explanation:
    """A module of NNX that a traced function reads from around it, and changes."""
    changed = " ".join(failure.text(failure.expression).split()) or failure.name
    frame = failure.own[0].frame if failure.own else None
    known = {**frame.f_globals, **frame.f_locals} if frame is not None else {}
    source, function = definition_with_source(failure.fn)
    names = names_read(function) if function is not None else []
    modules = [name for name in names if _is_of_nnx(known.get(name))]
    cures: list[Cure] = []
    if isinstance(function, ast.FunctionDef) and source is not None and modules:
        own = [one.arg for one in function.args.args]
        given = ", ".join([*modules, *own])
        body = [f"    {line}" for one in function.body for line in source.text(one).splitlines()]
        header = ["@nnx.jit", f"def {function.name}({', '.join([*modules, ast.unparse(function.args)])}):"]
        code = "\n".join([*header, *body, "", f"result = {function.name}({given})"])
        listed = " and ".join(f"`{name}`" for name in modules)
        text = f"Give {listed} as an argument, and let NNX trace it; it hands changes out again:"
        cures = [Cure(text, code, inside=False)]
        if match[2] in ("BatchStat", "RngCount", "RngKey"):
            # Of layers that do something else when they are not trained.
            still = "Or, where nothing shall change, switch to evaluation before:"
            cures.append(Cure(still, f"{modules[0]}.eval()", inside=False))
    reason = (
        f"`{changed}` changes a {match[2]} of a module that the function takes from around it. JAX would never see "
        "that change: what a traced function changes, it must get as an argument."
    )
    title = f"a {match[2]} made outside is changed inside the traced function"
    if match[1] == "extract":
        reason = (
            f"`{changed}` traces a module that the function takes from around it, with its {match[2]}. NNX hands back "
            "what changes in it, and it can only do so where the module comes in as an argument."
        )
        title = "a module made outside is traced inside the traced function"
    return Explanation("nnx outside", title, reason, tuple(cures), f"{_ERRORS}#flax.errors.TraceContextError")


def _optimizer_of_functions(failure: Failure, match: re.Match[str]) -> Explanation:
    """An optimizer that is given a model of Equinox as it is."""
    call = failure.calls("init")
    shown = failure.text(call) or "the optimizer"
    model = call.args[0] if call is not None and call.args else None
    code = failure.with_(model, f"eqx.filter({failure.text(model)}, eqx.is_array)") if model is not None else ""
    reason = (
        "An optimizer keeps arrays like the parameters, and wants a tree of arrays alone. A model of Equinox holds its "
        "activation too."
    )
    title = f"`{shown}` was given a tree that holds functions"
    cures = (Cure("Look the arrays out:", code),) if code else ()
    return Explanation("optimizer of functions", title, reason, cures, f"{_EQUINOX}api/manipulation/#equinox.filter")


def _random_numbers(failure: Failure, match: re.Match[str]) -> Explanation:
    """A layer that draws, called without what it draws from: a key for Equinox, `Rngs` for NNX."""
    call = failure.find(ast.Call)
    of_nnx = match[1] is not None
    known = "key" in failure.variables
    cures = []
    if call is not None:
        name, given = ("rngs", "nnx.Rngs(0)") if of_nnx else ("key", "key" if known else "jax.random.key(0)")
        cures = [
            Cure("Give it one, a new one in each step:", failure.with_(call, with_keyword(failure, call, name, given)))
        ]
    explored = last_name(call.func) if call is not None and len(failure.own) == 1 else ""
    if explored:
        switched = f"{explored}.eval()" if of_nnx else f"{explored} = eqx.nn.inference_mode({explored})"
        cures.append(Cure("Or switch it off before, in evaluation:", switched, inside=False))
    reason = (
        f"{match[1] or match[2]} chooses at random what it leaves out, and random numbers of JAX need a key. In "
        "evaluation nothing is drawn."
    )
    title = f"`{' '.join(failure.text(call).split()) or failure.name}` draws random numbers, and has no key"
    page = f"{_FLAX}api_reference/flax.nnx/nn/stochastic.html" if of_nnx else f"{_EQUINOX}api/nn/dropout/"
    return Explanation("random numbers of a layer", title, reason, tuple(cures), page)


def _is_of_nnx(value: object) -> bool:
    return any(one.__module__.startswith("flax.nnx") for one in type(value).__mro__)


def _jitted_model(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """A model of Equinox that `jax.jit` is given for a function: it looks functions up by their hash."""
    call = failure.find(ast.Call)
    jitted = call.func if call is not None and isinstance(call.func, ast.Call) else call
    if not failure.library.startswith("Module.__hash__") or not isinstance(jitted, ast.Call) or not jitted.args:
        return None
    model = failure.text(jitted.args[0])
    reason = (
        f"`{failure.text(jitted.func)}` looks functions up, and what it compiled of them, by their hash. `{model}` is "
        "a module of Equinox, a tree of arrays, and arrays have none."
    )
    cure = Cure("Use that of Equinox, which traces the arrays:", failure.with_(jitted.func, "eqx.filter_jit"))
    title = f"`{model}` holds arrays, and cannot be looked up"
    page = f"{_EQUINOX}api/transformations/#equinox.filter_jit"
    return Explanation("model that is jitted", title, reason, (cure,), page)


CASES = (
    Case(
        "flax shape",
        ("ScopeParamShapeError",),
        r"parameter \"(\w+)\" in \"(\S+?)\", the given initializer is expected to generate shape (\([\d, ]*\)).*"
        r"received has shape (\([\d, ]*\))",
        _parameter_shape,
    ),
    Case(
        "flax compact",
        ("AssignSubModuleError",),
        r"Submodule (\w+) must be defined in `setup\(\)` or in a method wrapped in `@compact`",
        _unwatched,
    ),
    plain(
        "flax name",
        ("NameInUseError",),
        r"Could not create (\w+) \"(\w+)\" in Module (\w+)",
        "two parts of `$3` are named `$2`",
        "The parameters of a module are found by the names of its parts, so each name is there once. `$2` is "
        "there twice.",
        [
            ("Leave the name out, and Flax counts: Dense_0, Dense_1:", "nn.Dense(features)"),
            (
                "Or make it once, and call it twice with the same parameters:",
                "layer = nn.Dense(features)\ny = layer(layer(x))",
            ),
        ],
        f"{_ERRORS}#flax.errors.NameInUseError",
    ),
    Case(
        "flax unbound",
        ("CallCompactUnboundModuleError", "CallSetupUnboundModuleError", "CallUnbindOnUnboundModuleError"),
        r"[Cc]an't call|setup",
        _unbound,
    ),
    Case("nnx outside", ("TraceContextError",), r"Cannot (\w+) (\w+) from a different trace level", _nnx_outside),
    Case(
        "nnx outside",
        ("ValueError",),
        r"Cannot (extract) graph node from different trace level, got (\w+)",
        _nnx_outside,
    ),
    Case(
        "random numbers of a layer",
        ("ValueError", "RuntimeError"),
        r"no `rngs` argument was provided to (Dropout)|(Dropout) requires a key when running",
        _random_numbers,
    ),
    Case(
        "model of functions",
        ("TypeError",),
        r"of type <class '([\w.]+)'> is not a valid JAX type",
        _derivative_of_all,
    ),
    Case(
        "optimizer of functions",
        ("TypeError",),
        r"(zeros_like|ones_like|full_like) requires ndarray or scalar arguments, got <class "
        r"'([\w.]*(?:custom_jvp|function|PjitFunction))'>",
        _optimizer_of_functions,
    ),
    plain(
        "heads",
        ("AssertionError", "ValueError"),
        r"(?:Memory dimension|qkv_features|embed_dim|query_size)?\D*\(?(\d+)\)? must be divisible by "
        r"(?:number of heads|num_heads|`num_heads`)\D*\(?(\d+)\)?",
        "$1 features cannot be shared by $2 heads",
        "Attention gives each head an equal part of the features, and $2 does not divide $1. $types",
        [("Use a number of heads that divides it:", "num_heads = 2  # or features = 8 * num_heads")],
        f"{_FLAX}api_reference/flax.linen/layers.html#attention-primitives",
    ),
    Case("model that is jitted", ("TypeError",), r"unhashable type: '[\w.]*Array\w*'", _jitted_model),
)
