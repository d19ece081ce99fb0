"""Python asks a traced value whether it is true: if, while, and, or, not, assert, max."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from jaxviz.errors.cases.as_program import asked_loop
from jaxviz.errors.cases.chosen import Choice, chosen, nested, run_one, unlike
from jaxviz.errors.cases.comprehensions import kept
from jaxviz.errors.cases.conditions import ASKING, elementwise, of_python, value_of
from jaxviz.errors.cases.ifs import calls_itself, checked, if_cures, match_cures, one_value
from jaxviz.errors.cases.known_numbers import by_numpy
from jaxviz.errors.cases.left_loops import left_by_return, left_loop, stopped_loop
from jaxviz.errors.cases.outside import asked_number, computed_before
from jaxviz.errors.cases.returns import returned_from_loop
from jaxviz.errors.cases.values import depends, stand_ins, static_cures
from jaxviz.errors.cases.ways import with_what_follows
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, error_page
from jaxviz.errors.failure import Failure
from jaxviz.errors.source import names_assigned, names_read
from jaxviz.errors.trial import given_by


def _told(failure: Failure, asked: ast.AST | None, what: str, why: str, cures: tuple[Cure, ...]) -> Explanation:
    shown = f"`{_short(failure.text(asked))}`" if asked is not None else "a traced value"
    # Of a boolean of Python, `~` gives a number that is true in any case.
    turned = asked is not None and any(isinstance(one, ast.Invert) for one in ast.walk(asked))
    static = () if turned else static_cures(failure)
    # A switch that is given as True or False is mostly meant to be one.
    of_switches = bool(failure.causes) and all(isinstance(failure.given(name), bool) for name in failure.causes)
    return Explanation(
        "choice",
        f"{what} needs to know {shown} while JAX traces",
        f"{stand_ins(failure, asked)} {why} and that {depends(failure)}.",
        (*static, *cures) if of_switches else (*cures, *static),
        failure.link or error_page("TracerBoolConversionError"),
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."


def cures_of(failure: Failure) -> tuple[Cure, ...]:
    """What there is in place of a question, wherever it is asked."""
    told = _asked(failure)
    return told.cures if told is not None else ()


def _choice(failure: Failure, _: re.Match[str]) -> Explanation:
    expression = None if failure.library else failure.expression
    found = _asked(failure)
    if found is not None:
        return found
    if failure.library:
        return _in_library(failure)
    if isinstance(expression, ast.Call) and str(getattr(failure.value(expression.func), "__module__", "")).startswith(
        "jax"
    ):
        return _by_jax(failure, expression)
    why = "Python must know True or False there,"
    told = _told(failure, expression, "Python", why, ())
    # Where the code is not at hand, no more than how it is done can be said.
    general = " `jnp.where` computes both ways and chooses for each element, and `jax.lax.cond` runs one of them."
    return replace(told, reason=told.reason + general * (expression is None))


def _asked(failure: Failure) -> Explanation | None:
    """What Python asks, where it shows in the statement that failed."""
    source, expression = failure.source, None if failure.library else failure.expression
    child: ast.AST | None = expression
    around = source.around(expression) if source is not None and expression is not None else []
    for node in around:
        tell = _TELLERS.get(type(node))
        found = tell(failure, node, child) if tell is not None else None
        if found is not None:
            return found
        if isinstance(node, ast.stmt):
            break
        child = node
    return None


def _is_of_jax(called: object) -> bool:
    return str(getattr(called, "__module__", "")).startswith("jax")


def _by_jax(failure: Failure, call: ast.Call) -> Explanation:
    """A function of JAX is given a traced value for what decides how it works, such as a count."""
    why = f"How `{failure.text(call.func)}` works, and the shape that it gives, is a part of the program,"
    given = [one for one in [*call.args[1:], *(keyword.value for keyword in call.keywords)] if failure.traced(one)]
    asked = given[0] if len(given) == 1 else call
    number = asked_number(failure, call)
    told = _told(failure, asked, f"`{failure.text(call.func)}`", why, ())
    return replace(told, cures=told.cures or by_numpy(failure, number) or computed_before(failure, number))


def _in_library(failure: Failure) -> Explanation:
    """The person's code calls a library that asks."""
    called = failure.text(failure.expression) or failure.name
    why = f"`{failure.library}` asks whether a value is true,"
    cure = Cure("Look whether it has a form for traced values, or call it outside of the traced function:", called)
    return _told(failure, failure.expression, "A function of a library", why, (cure,))


def _if(failure: Failure, node: ast.AST, child: ast.AST | None) -> Explanation | None:
    if not isinstance(node, ast.If) or child is not node.test:
        return None
    why = f"Python must know True or False on {failure.line_text} to take one branch,"
    cures = left_loop(failure, node)
    if cures is None:
        cures = _decided_loop(failure, node) or if_cures(failure, node) or returned_from_loop(failure, node)
        cures = cures or left_by_return(failure, node)
    told = _told(failure, node.test, "Python's `if`", why, cures)
    if calls_itself(failure, node) and not told.cures:
        return _endless(told)
    one = one_value(failure, node)
    return _of_other_shapes(told, unlike(failure, one) if one is not None else "")


def _endless(told: Explanation) -> Explanation:
    """An explanation of a function that calls itself until something is so."""
    how = (
        " A function that calls itself ends where Python takes the other way. What ends by a value is a loop of the "
        "program, `jax.lax.while_loop`, which carries what changes from call to call."
    )
    return replace(told, reason=told.reason + how)


def _of_other_shapes(told: Explanation, unlike: str) -> Explanation:
    """An explanation of a choice between arrays of different shapes."""
    if not unlike:
        return told
    first = told.reason.partition(". ")[0]
    what = " With all that follows, each way gives the same." if told.cures else ""
    return replace(told, reason=f"{first}. {unlike}.{what}")


def _while(failure: Failure, node: ast.AST, child: ast.AST | None) -> Explanation | None:
    if not isinstance(node, ast.While) or child is not node.test:
        return None
    why = f"Python must know before each turn on {failure.line_text} whether there is one more,"
    cures = _program_loop(failure, node) or stopped_loop(failure, node)
    told = _told(failure, node.test, "Python's `while`", why, cures)
    how = " The program loops by `jax.lax.while_loop`: it carries what changes, and its condition says when it ends."
    return told if cures else replace(told, reason=told.reason + how)


def _program_loop(failure: Failure, node: ast.While) -> tuple[Cure, ...]:
    """A `while` as a loop of the program, where it can be one."""
    code = asked_loop(failure, node)
    text = "Let the program loop, in place of the whole loop; what changes from turn to turn is carried:"
    return (Cure(text, code),) if code else ()


def _decided_loop(failure: Failure, node: ast.If) -> tuple[Cure, ...]:
    """For an `if` that assigns what the `while` around it asks: that would be the next that Python cannot know."""
    loop = failure.source.parent(node) if failure.source is not None else None
    if not isinstance(loop, ast.While) or node not in loop.body or loop.orelse:
        return ()
    decided = {*names_read(loop.test)} & {*names_assigned([node])}
    return _program_loop(failure, loop) if decided else ()


def _either(failure: Failure, node: ast.AST, child: ast.AST | None) -> Explanation | None:
    # Where the condition is a name alone, Python gives the place of the whole.
    if not isinstance(node, ast.IfExp) or (child is not node.test and node is not failure.expression):
        return None
    why = "Python must know True or False to take one of the two values,"
    if calls_itself(failure, node):
        # Both would be traced, whichever is chosen: that never ends.
        asked = _told(failure, node.test, "`... if ... else ...`", why, ())
        return asked if asked.cures else _endless(asked)
    choice = nested(node)
    code = chosen(failure, choice)
    cures = [Cure("Compute both and choose for each element:", failure.with_(node, code))] if code else []
    if not cures and (code := run_one(failure, choice)):
        cures = [Cure("Let the program choose:", failure.with_(node, code))]
    statement = failure.statement
    if isinstance(choice, Choice) and (told := unlike(failure, choice)):
        cures = []
        if isinstance(statement, ast.Assign) and statement.value is node:
            name = failure.text(statement.targets[0])
            sides = [(node.test, f"{name} = {failure.text(side)}") for side in (node.body, node.orelse)]
            cures = with_what_follows(failure, statement, sides)
        return _of_other_shapes(_told(failure, node.test, "`... if ... else ...`", why, tuple(cures)), told)
    if not cures and any(isinstance(failure.value(side), str) for side in (node.body, node.orelse)):
        why = "Text cannot be chosen by a program, and Python, which could, must know True or False to do so,"
    return _told(failure, node.test, "`... if ... else ...`", why, tuple(cures))


# Libraries of layers, in which Python chooses by what it is given.
_OF_LAYERS = {"flax", "equinox", "haiku"}


def _logic(failure: Failure, node: ast.AST, child: ast.AST | None) -> Explanation | None:
    """`and`, `or`, `not`, `in` and comparisons of three, unless they are all that a statement asks."""
    words = _logic_words(node)
    parent = failure.source.parent(node) if failure.source is not None else None
    if words is None or not isinstance(node, ast.expr) or getattr(parent, "test", None) is node:
        return None
    if isinstance(parent, ast.comprehension) and node in parent.ifs:
        return None
    if isinstance(parent, (ast.BoolOp, ast.UnaryOp)) and _logic_words(parent) is not None:
        return None
    code = value_of(failure, node)
    grouped = isinstance(parent, ast.expr) and not isinstance(parent, ast.Call) and not code.startswith("jnp.where(")
    if grouped and failure.source is not None and not failure.source.is_bracketed(node):
        code = f"({code})"
    cures = (Cure("Compute it element by element instead:", failure.with_(node, code)),)
    # A layer that is told to train or not asks that of Python itself.
    return _told(failure, node, *words, () if _is_handed_to_library(failure, node) else cures)


def _is_handed_to_library(failure: Failure, node: ast.expr) -> bool:
    """Whether a value is handed to what is neither the person's nor JAX's, or to a layer that is a part of theirs."""
    around = failure.source.around(node) if failure.source is not None else []
    call = next((one for one in around[1:3] if isinstance(one, ast.Call)), None)
    if call is None or node is call.func:
        return False
    function = failure.value(call.func)
    of = function if isinstance(function, type) else type(function)
    modules = {str(getattr(one, "__module__", "")).partition(".")[0] for one in (function, *of.__mro__)}
    return bool(modules & _OF_LAYERS)


def _logic_words(node: ast.AST | None) -> tuple[str, str] | None:
    """What asks, and why."""
    if isinstance(node, ast.BoolOp):
        word = "and" if isinstance(node.op, ast.And) else "or"
        return f"Python's `{word}`", f"`{word}` asks the first value whether it is true,"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return "Python's `not`", "`not` asks a value whether it is true,"
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return "Python's `in`", "`in` compares one by one until one is equal,"
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        why = "Python reads this as two comparisons with `and` between them, and asks the first whether it is true,"
        return "A comparison of three", why
    return None


def _assert(failure: Failure, node: ast.AST, child: ast.AST | None) -> Explanation | None:
    if not isinstance(node, ast.Assert) or child is not node.test:
        return None
    test = elementwise(failure, node.test)
    said = failure.text(node.msg) if node.msg is not None else f'"expected {_short(test)}"'.replace("\n", " ")
    code = checked(failure, test, said, "assert")
    why = "`assert` must know True or False when the function is traced, not when it runs,"
    cure = Cure("Check it while the program runs:", code, inside=False)
    return _told(failure, node.test, "Python's `assert`", why, (cure,))


def _call(failure: Failure, node: ast.AST, child: ast.AST | None) -> Explanation | None:
    """A function of Python that asks its values. What a statement asks by one is told of the statement."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in ASKING:
        return None
    around = failure.source.around(node) if failure.source is not None else []
    statement = next((one for one in around if isinstance(one, ast.stmt)), None)
    test = getattr(statement, "test", None)
    chosen_by = [one.test for one in around if isinstance(one, ast.IfExp)]
    if (test is not None and test in around) or any(one in around for one in chosen_by):
        return None
    name = node.func.id
    # `min(max(x, 0), 1)` asks twice.
    calls = [one for one in around if isinstance(one, ast.Call) and of_python(failure, one)]
    node = calls[-1] if calls else node
    code = of_python(failure, node)
    why = f"Python's `{name}` asks whether values are true or which one is larger,"
    text = "Use the function of jax.numpy, which becomes part of the program:"
    cures = (Cure(text, _all_asking(failure, node, code)),) if code else ()
    return _told(failure, node, f"Python's `{name}`", why, cures)


def _all_asking(failure: Failure, call: ast.Call, code: str) -> str:
    """The statement in which a call reads otherwise, and so do the others in it that would ask next."""
    statement, source = failure.statement, failure.source
    if statement is None or source is None or hasattr(statement, "body"):
        return failure.with_(call, code)
    logic = [one for one in source.around(call) if isinstance(one, (ast.BoolOp, ast.UnaryOp)) and _logic_words(one)]
    whole = logic[-1] if logic else call
    changes: dict[ast.AST, str] = {whole: elementwise(failure, whole) if logic else code}
    inside = {*ast.walk(whole)}
    for other in ast.walk(statement):
        if isinstance(other, ast.Call) and other not in inside and failure.traced(other):
            text = of_python(failure, other)
            if text:
                changes[other] = text
                inside |= {*ast.walk(other)}
    return source.replaced(statement, changes)


def _match(failure: Failure, node: ast.AST, child: ast.AST | None) -> Explanation | None:
    """`match` with a value: it asks whether what is matched equals it."""
    matching = failure.source.parent(node) if failure.source is not None else None
    if not isinstance(node, ast.match_case) or not isinstance(matching, ast.Match):
        return None
    why = "`match` compares with one value after the other until one is equal,"
    return _told(failure, matching.subject, "Python's `match`", why, match_cures(failure, matching))


def _filter(failure: Failure, node: ast.AST, child: ast.AST | None) -> Explanation | None:
    """The `if` of a comprehension."""
    if not isinstance(node, ast.comprehension) or child not in node.ifs or not isinstance(child, ast.expr):
        return None
    code = kept(failure, node)
    why = "The `if` of a comprehension chooses how many there are,"
    cures = (Cure("Keep all of them, and put a number where one is left out:", code),) if code else ()
    return _told(failure, child, "A comprehension's `if`", why, cures)


def _many(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """Python asks an array of many values, traced or not, whether it is true."""
    told = _asked(failure)
    if told is None or not failure.traced(failure.statement):
        return None
    why = f"Python asks whether something is true once for all of it, and {_asked_array(failure)} has many values."
    return replace(told, reason=f"{stand_ins(failure, failure.expression)} {why}", link=_ARRAYS)


def _asked_array(failure: Failure) -> str:
    text = _short(failure.text(failure.expression))
    shape = getattr(given_by(failure, text), "shape", ())
    return f"`{text}`, of the shape {shape}," if shape else f"`{text}`"


_ARRAYS = api_page("jax.numpy.where")

_TELLERS = {
    ast.match_case: _match,
    ast.comprehension: _filter,
    ast.If: _if,
    ast.While: _while,
    ast.IfExp: _either,
    ast.BoolOp: _logic,
    ast.Compare: _logic,
    ast.UnaryOp: _logic,
    ast.Assert: _assert,
    ast.Call: _call,
}

CASES = (
    Case("choice", ("TracerBoolConversionError",), "", _choice),
    Case("choice", ("ValueError",), r"^The truth value of an array with more than one element is ambiguous", _many),
)
