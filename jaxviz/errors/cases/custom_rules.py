"""Derivatives that people wrote themselves and that do not fit their function: `custom_vjp` and `custom_jvp`."""

from __future__ import annotations

import ast
import math
import re
from typing import Any

from jaxviz.errors.cases.given import result_of
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, plain
from jaxviz.errors.failure import Failure
from jaxviz.errors.rewriting import grouped, parameters
from jaxviz.errors.source import Source, definition_of

_VJP, _JVP = api_page("jax.custom_vjp"), api_page("jax.custom_jvp")


class Rule:
    """A function of the person that JAX called for a derivative, as it is written."""

    def __init__(self, function: Any | None) -> None:
        code = getattr(function, "__code__", None)
        self.name = getattr(function, "__name__", "")
        self.source = Source(code, 0, code.co_firstlineno) if code is not None else None
        self.definition = self.source.own(definition_of(code)) if self.source and code is not None else None
        self.result = result_of(self.definition)

    def text(self, node: ast.AST | None) -> str:
        return self.source.text(node) if self.source is not None and node is not None else ""

    @property
    def parts(self) -> list[ast.expr]:
        """What it gives, where that is written as a tuple or a list."""
        return list(self.result.elts) if isinstance(self.result, (ast.Tuple, ast.List)) else []

    def giving(self, text: str) -> str:
        """Its last statement, or all of it where it is a lambda, with another result."""
        if self.source is None or self.result is None:
            return ""
        around = self.source.around(self.result)
        statement = next((one for one in around if isinstance(one, ast.stmt)), None)
        if statement is None or hasattr(statement, "body"):
            return ""
        if isinstance(self.definition, ast.Lambda) and not text.startswith("("):
            text = f"({text})"
        # What stands in brackets of its own keeps them out of the new text.
        return self.source.replaced(statement, {self.result: text})

    @property
    def where(self) -> str:
        return f"`{self.name}`" if self.name and self.name != "<lambda>" else "its rule"


def _parameters(failure: Failure, rule: Rule, count: int) -> str:
    """How many arguments there are, in words."""
    return f"{count} argument{'s' * (count != 1)}"


def _backward(failure: Failure, match: re.Match[str]) -> Explanation:
    rule = Rule(failure.asked_last)
    found = re.search(
        r"bwd output structure PyTreeDef\((.*?)\) for primal input structure PyTreeDef\((.*?)\)\.", failure.message
    )
    given, wanted = found.groups() if found else ("", "")
    one, other = _top(given), _top(wanted)
    begin = "The backward function gives a tuple with one gradient for each argument of the function itself, built as "
    begin += "that argument is. "
    cures = []
    if not found or not other:
        return Explanation("custom backward", "the backward function gives something else", begin, (), _VJP)
    if not given.startswith("("):
        title = "the backward function must give a tuple"
        name = rule.where if rule.where.startswith("`") else "Here it"
        reason = f"{begin}{name} gives what is not in a tuple."
        rest = ", None" * (len(other) - 1)
        text = f"({rule.text(rule.result)}{rest or ','})"
        alike = one == other[:1]
        cures = (
            [Cure(f"Make a tuple of it, in {rule.where}:", rule.giving(text))]
            if rule.result is not None and alike
            else []
        )
    elif len(one) != len(other):
        title = "the backward function gives another number of gradients"
        reason = f"{begin}It gives {len(one)} for {_parameters(failure, rule, len(other))}."
        texts = [rule.text(part) for part in rule.parts]
        if texts and len(texts) < len(other):
            texts += ["None"] * (len(other) - len(texts))
            text = f"Give one for each argument, in {rule.where}; None where no gradient goes:"
        elif texts and all(isinstance(part, ast.Constant) and part.value is None for part in rule.parts[len(other) :]):
            texts = texts[: len(other)]
            text = f"Give one for each argument, in {rule.where}:"
        else:
            texts = []
        if len(texts) == len(other):
            joined = f"({', '.join(texts)}{',' * (len(texts) == 1)})"
            cures = [Cure(text, rule.giving(joined))]
    else:
        place = next((place for place, pair in enumerate(zip(one, other, strict=True)) if len(set(pair)) > 1), 0)
        title = "the backward function gives a gradient that is built otherwise than its argument"
        reason = (
            f"{begin}For argument {place} it gives {_built(one[place])}, and the argument is {_built(other[place])}."
        )
    return Explanation("custom backward", title, reason, tuple(cures), _VJP)


def _top(structure: str) -> list[str]:
    """The parts of a structure as JAX writes it: `({'w': *}, *)` has two."""
    if not structure.startswith("("):
        return [structure] if structure else []
    parts, depth, begin = [], 0, 1
    for place, letter in enumerate(structure):
        depth += (letter in "([{") - (letter in ")]}")
        if (letter == "," and depth == 1) or (depth == 0 and letter == ")"):
            parts.append(structure[begin:place].strip())
            begin = place + 1
    return [part for part in parts if part]


def _built(structure: str) -> str:
    keys = re.findall(r"'(\w+)':", structure)
    if structure.startswith("{"):
        return f"a dictionary of {', '.join(f'`{key}`' for key in keys)}"
    if structure[:1] in "([":
        return f"{'a tuple' if structure[0] == '(' else 'a list'} of {len(_top('(' + structure[1:-1] + ')'))}"
    return "an array" if structure == "*" else structure


def _backward_type(failure: Failure, match: re.Match[str]) -> Explanation:
    rule = Rule(failure.asked_last)
    place, given, wanted = match[1], match[2], match[3]
    first = int(re.findall(r"\d+", place)[0])
    reason = (
        f"A gradient has the type of what it is the gradient of. For argument {first} of the type {wanted}, the "
        f"backward function gives {given}."
    )
    part = rule.parts[first] if first < len(rule.parts) and place.count("[") <= 1 else None
    text = _brought(rule, part, given, wanted) if part is not None else ""
    cures = []
    if text and part is not None and rule.source is not None:
        texts = [text if one is part else rule.text(one) for one in rule.parts]
        joined = f"({', '.join(texts)}{',' * (len(texts) == 1)})"
        cures = [Cure(f"Bring it to the type of the argument, in {rule.where}:", rule.giving(joined))]
    title = "the backward function gives a gradient of another type than its argument"
    return Explanation("custom backward type", title, reason, tuple(cures), _VJP)


def _brought(rule: Rule, part: ast.expr, given: str, wanted: str) -> str:
    """A gradient of the shape and type of its argument: summed where the argument was stretched."""
    text = grouped(rule.text(part), part)
    (one, sizes), (other, shape) = ((type_.partition("[")[0], _sizes(type_)) for type_ in (given, wanted))
    if sizes != shape:
        kept = len(sizes) - len(shape)
        if kept >= 0 and all(here in (there, 1) for here, there in zip(shape, sizes[kept:], strict=True)):
            axes = [*range(kept), *(kept + at for at, size in enumerate(shape) if size == 1 != sizes[kept + at])]
            text = f"{text}.sum({tuple(axes) if len(axes) != 1 else axes[0]})"
            text += f".reshape({tuple(shape)})" if len(axes) > kept else ""
        elif math.prod(sizes) == math.prod(shape):
            text = f"{text}.reshape({tuple(shape)})"
        else:
            return ""
    return text if one == other else f"{text}.astype(jnp.{other})"


def _sizes(type_: str) -> list[int]:
    return [int(size) for size in type_.partition("[")[2].rstrip("]").split(",") if size.strip().isdigit()]


def _forward(failure: Failure, match: re.Match[str]) -> Explanation:
    rule, name = Rule(failure.asked_last), match[2]
    given = "one thing alone" if not rule.parts else f"{len(rule.parts)} things"
    reason = (
        f"Under a derivative JAX calls the forward function of `{name}` in its place. It gives what `{name}` gives, "
        f"and what the backward function needs; here it gives {given}."
    )
    own = parameters(rule.definition)
    text = ""
    if len(rule.parts) > 2:
        first, *rest = map(rule.text, rule.parts)
        text = f"{first}, ({', '.join(rest)})"
    elif rule.result is not None and not rule.parts and own:
        text = f"{rule.text(rule.result)}, {own[0] if len(own) == 1 else '(' + ', '.join(own) + ')'}"
    cures = (
        [Cure(f"Give both, in {rule.where}; the arguments are kept for the way back:", rule.giving(text))]
        if text
        else []
    )
    title = f"the forward function of `{name}` must give a pair"
    return Explanation("custom forward", title, reason, tuple(cures), _VJP)


def _tangent(failure: Failure, match: re.Match[str]) -> Explanation:
    rule, name = Rule(failure.asked_last), match[2]
    shown = rule.text(rule.result)
    reason = (
        f"The rule of a custom derivative gives the value of `{name}` and its tangent, in this order. "
        f"{f'`{match[1]}` gives `{shown}`' if shown else f'`{match[1]}` gives something else'}"
    )
    reason += ": the tangent is lacking." if rule.result is not None and not rule.parts else "."
    return Explanation("custom tangent", f"the rule of `{name}` must give a pair", reason, (), _JVP)


def _rule_missing(failure: Failure, match: re.Match[str]) -> Explanation:
    name = match[2]
    held = failure.place.frame.f_globals.get(name) if failure.place is not None else None
    rule = Rule(getattr(failure.variables.get(name, held), "__wrapped__", None))
    cures = []
    if rule.definition is not None and isinstance(rule.definition, ast.FunctionDef) and rule.source is not None:
        begin = len(rule.text(rule.definition))
        cures = [Cure("Leave the mark out, and JAX derives it:", rule.text(rule.definition)[:begin])]
    reason = (
        f"`{name}` is marked as a function with a derivative of its own. That was not given: `{match[3]}` was not "
        "called."
    )
    title = f"`{name}` has no rule for its derivative yet"
    return Explanation("custom rule missing", title, reason, tuple(cures), _VJP)


def _forward_of_custom(failure: Failure, match: re.Match[str]) -> Explanation:
    reason = (
        "`custom_vjp` says how to go backward, and nothing of how to go forward; `jvp`, `jacfwd` and `hessian` need "
        "that. A rule that is given forward, by `jax.custom_jvp`, serves both ways."
    )
    failure, call = failure.calling("jacfwd", "hessian")
    cures = []
    if call is not None and call.args:
        text = "jax.jacrev" if failure.text(call.func).endswith("jacfwd") else ""
        code = failure.with_(call.func, text) if text else ""
        if not text and len(call.args) == 1 and not call.keywords:
            code = failure.with_(call, f"jax.jacrev(jax.jacrev({failure.text(call.args[0])}))")
        cures = [Cure("Go backward:" if text else "Go backward twice:", code)] if code else []
    title = "a function with a backward rule cannot be differentiated forward"
    return Explanation("forward of custom", title, reason, tuple(cures), _JVP)


_TYPE = ("TypeError",)

CASES: tuple[Case, ...] = (
    Case("custom backward", _TYPE, r"Custom VJP bwd rule .*must produce an output with the same container", _backward),
    Case(
        "custom backward type",
        ("ValueError", "TypeError"),
        r"Custom VJP bwd rule .*must produce an output with the same (?:type|shape/dtypes).*at output((?:\[[^\]]*\])+) "
        r"the bwd rule "
        r"produced an output of (?:type|shape/dtype) (\S+) corresponding to an input of (?:type|shape/dtype) "
        r"(\w+\[[\d,]*\])",
        _backward_type,
    ),
    Case("custom forward", _TYPE, r"Custom VJP fwd rule (\S+) for function (\S+) must produce a pair", _forward),
    Case(
        "custom rule missing",
        ("AttributeError", "TypeError"),
        r"No (VJP|JVP) defined for custom_(?:vjp|jvp) function (\S+) using (defvjp|defjvp)",
        _rule_missing,
    ),
    Case("custom tangent", _TYPE, r"Custom JVP rule (\S+) for function (\S+) must produce a pair", _tangent),
    Case(
        "forward of custom",
        _TYPE,
        r"can't apply forward-mode autodiff \(jvp\) to a custom_vjp function",
        _forward_of_custom,
    ),
    plain(
        "traced nondiff",
        ("UnexpectedTracerError",),
        r"in a position indicated by nondiff_argnums",
        "an argument of `nondiff_argnums` is traced, and has no value yet",
        "The rules of `$call` get its `nondiff_argnums` as they are, so these must be known while JAX traces: a "
        "function, a word, a number of Python. One of them is traced here, as all arguments of a jitted function are. "
        "If it comes from an argument of `$name`, that must be static, by `static_argnums`. An array is an argument as "
        "all others are: leave it out of `nondiff_argnums`, and let the backward rule give `None` for it.",
        (),
        _VJP,
    ),
)
