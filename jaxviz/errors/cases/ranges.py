"""Python's `range` is asked how far it counts, and a traced value is to say so: in a loop, or in a comprehension."""

from __future__ import annotations

import ast

from jaxviz.arrays import is_array
from jaxviz.errors.cases.as_program import counted_loop
from jaxviz.errors.cases.outside import asked_numbers, computed_before
from jaxviz.errors.cases.values import static_cures, told
from jaxviz.errors.explanation import Cure, Explanation, api_page, error_page
from jaxviz.errors.failure import Failure, type_text
from jaxviz.errors.trial import cannot_work

_PAGE = error_page("TracerIntegerConversionError")


def asked_of_range(failure: Failure) -> Explanation | None:
    """An error of `range`; None where it stands neither in a loop nor in a comprehension."""
    call, source = failure.calls("range"), failure.source
    if call is None or source is None:
        return None
    around = source.parent(call)
    if not isinstance(around, (ast.For, ast.comprehension)) or around.iter is not call:
        return None
    bound = next((one for one in call.args if is_array(value := failure.value(one)) and value.shape), None)
    if bound is not None:
        return _of_many(failure, call, bound)
    if isinstance(around, ast.For):
        return counted(failure, around, call)
    return _comprehension(failure, around, call)


def _of_many(failure: Failure, call: ast.Call, bound: ast.expr) -> Explanation | None:
    """`range` of an array of many entries, where its entries are meant, or how many they are."""
    statement, text, array = failure.statement, failure.text(bound), failure.value(bound)
    if failure.source is None or statement is None:
        return None
    counted = failure.source.replaced(statement, {bound: f"{text}.shape[0]"})
    cures = [Cure("Count as many as it has entries:", counted)]
    if len(call.args) == 1:
        cures.append(Cure("Or go along its entries:", failure.source.replaced(statement, {call: text})))
    reason = (
        f"`range` counts up to one whole number. `{text}` is {type_text(array)}, an array with an axis: which of its "
        "numbers is meant, or whether they are to be counted, does not show."
    )
    title = f"`range` wants one number, and `{text}` is an array of the shape {tuple(array.shape)}"
    return Explanation("range", title, reason, tuple(cures), api_page("jax.lax.fori_loop"))


def counted(failure: Failure, loop: ast.For, call: ast.Call) -> Explanation:
    """A loop over a range, as one of the program."""
    why = "Python must know how many turns there are, and that"
    cures = static_cures(failure)
    if code := counted_loop(failure, loop):
        text = "Let the program loop, in place of the whole loop; what changes from turn to turn is carried:"
        cures = (Cure(text, code), *cures)
    cures = cures or computed_before(failure, *asked_numbers(failure, call))
    return told(failure, "range", _title(failure, call), why, cures, _PAGE)


def _comprehension(failure: Failure, inside: ast.comprehension, call: ast.Call) -> Explanation:
    """How many entries there are is a shape: a number from outside. What is summed up may be summed by the program."""
    cures = _summed(failure, inside, call)
    cures += static_cures(failure) or computed_before(failure, *asked_numbers(failure, call))
    why = "A comprehension has one entry for each number of its range, so Python must know how many there are, and that"
    return told(failure, "range", _title(failure, call), why, cures, _PAGE)


def _title(failure: Failure, call: ast.Call) -> str:
    (*_, stop) = call.args[:2]
    return f"Python's `range` needs the number behind `{failure.text(stop)}` while JAX traces"


def _summed(failure: Failure, inside: ast.comprehension, call: ast.Call) -> tuple[Cure, ...]:
    """For `sum(... for i in range(n))`: a loop of the program that adds up."""
    source = failure.source
    whole = source.parent(inside) if source is not None else None
    total = source.parent(whole) if source is not None and whole is not None else None
    simple = isinstance(whole, (ast.GeneratorExp, ast.ListComp)) and not inside.ifs and not whole.generators[1:]
    if not isinstance(total, ast.Call) or not isinstance(whole, (ast.GeneratorExp, ast.ListComp)) or not simple:
        return ()
    if getattr(total.func, "id", "") != "sum" or len(total.args) > 1 or len(call.args) > 2:
        return ()
    first, last = ["0", *map(failure.text, call.args)][-2:]
    turn = failure.text(inside.target)
    for start in ("0", "0.0"):
        body = f"lambda {turn}, total: total + {failure.text(whole.elt)}"
        code = failure.with_(total, f"jax.lax.fori_loop({first}, {last}, {body}, {start})")
        if not cannot_work(failure, code):
            return (Cure("Let the program add them up:", code),)
    return ()
