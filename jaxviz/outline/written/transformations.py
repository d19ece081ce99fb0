"""Names of expressions that say that a derivative is taken: `value_and_grad(loss)`, `vmap(jacfwd(f))`."""

from __future__ import annotations

import re

_TAKES_GRADIENT = re.compile(r"\b(filter_)?((value_and_)?grad|vjp|jac(fwd|rev|obian)|hessian|linearize)\b")

_TAKES_TANGENTS = re.compile(r"\b(filter_)?(jvp|linearize)\b")

# Nothing runs backward in what it calls: that is a call of its own, or none at all.
_WAY_BACK_ELSEWHERE = re.compile(r"\b(filter_)?(vjp|linearize)\b")

_DERIVATIVE = re.compile(r"\b(filter_)?((value_and_)?grad|vjp|jvp|jac(fwd|rev|obian)|hessian|linearize)\b")
_SECOND = re.compile(r"\bhessian\b")

_TAKES_JACOBIAN = re.compile(r"\b(jac(fwd|rev|obian)|hessian)\b")

# The same in names that a library gives to what takes one: `_value_and_grad_fun`.
_NAMED_FOR_GRADIENT = re.compile(r"(?<![a-z])(grad|vjp|jac(fwd|rev|obian)|hessian|linearize)(?![a-z])")


def takes_gradient(name: str) -> bool:
    """Whether an expression of this name takes a gradient, so that it holds what runs forward and backward."""
    return bool(_TAKES_GRADIENT.search(name))


def calls_gradient(name: str) -> bool:
    """Whether an expression of this name calls a function that is called for the gradient that it takes."""
    return bool(_NAMED_FOR_GRADIENT.search(name))


def takes_tangents(name: str) -> bool:
    """Whether an expression of this name takes a derivative along a direction."""
    return bool(_TAKES_TANGENTS.search(name))


def holds_way_back(name: str) -> bool:
    """Whether an expression that takes a gradient holds also its way back, where it has one."""
    return not _WAY_BACK_ELSEWHERE.search(name)


def derivatives_in(name: str) -> int:
    """How many derivatives an expression of this name takes of each other.

    >>> derivatives_in("value_and_grad(loss)"), derivatives_in("hessian(loss)"), derivatives_in("tanh")
    (1, 2, 0)
    """
    return len(_DERIVATIVE.findall(name)) + len(_SECOND.findall(name))


def takes_jacobian(name: str) -> bool:
    """Whether an expression of this name takes a gradient in many directions, which it makes first."""
    return bool(_TAKES_JACOBIAN.search(name))
