"""Python asks a traced value whether it is true: if, while, and, or, not, assert, max."""

from __future__ import annotations

import ast
import re
import textwrap

from jaxviz.errors.cases.values import depends, stand_ins, static_cures
from jaxviz.errors.explanation import Case, Cure, Explanation, error_page
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.source import names_assigned, names_read

_PAIRWISE = {"max": "jnp.maximum", "min": "jnp.minimum"}
_WHOLE = {"any": "jnp.any", "all": "jnp.all", "sorted": "jnp.sort"}


def _told(failure: Failure, asked: ast.AST | None, what: str, why: str, cures: tuple[Cure, ...]) -> Explanation:
    shown = f"`{_short(failure.text(asked))}`" if asked is not None else "a traced value"
    return Explanation(
        "choice",
        f"{what} needs to know {shown} while JAX traces",
        f"{stand_ins(failure, asked)} {why} and that {depends(failure)}.",
        (*cures, *static_cures(failure)),
        failure.link or error_page("TracerBoolConversionError"),
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."


def _choice(failure: Failure, _: re.Match[str]) -> Explanation:
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
    if failure.library:
        return _in_library(failure)
    code = f"jnp.where({failure.text(expression) or 'condition'}, value_if_true, value_if_false)"
    why = "Python must know True or False there,"
    return _told(failure, expression, "Python", why, (Cure("Compute both and choose for each element:", code),))


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
    return _told(failure, node.test, "Python's `if`", why, _if_cures(failure, node))


def _if_cures(failure: Failure, node: ast.If) -> tuple[Cure, ...]:
    test = _elementwise(failure, node.test)
    yes, no = _one_value(failure, node.body), _one_value(failure, node.orelse or _after(failure, node))
    if yes is not None and (no is None and not node.orelse) and yes[0] != "return":
        no = yes[0], yes[0]
    if yes is not None and no is not None and yes[0] == no[0]:
        begin = "return " if yes[0] == "return" else f"{yes[0]} = "
        return (
            Cure("Compute both and choose for each element:", f"{begin}jnp.where({test}, {yes[1]}, {no[1]})"),
            Cure(
                "Or let the program choose, so that only one of them runs:",
                f"{begin}jax.lax.cond({test}, lambda: {yes[1]}, lambda: {no[1]})",
            ),
        )
    names = names_assigned([*node.body, *node.orelse])
    if not names or any(isinstance(item, ast.Return) for part in (node.body, node.orelse) for item in _walk(part)):
        return (
            Cure(
                "Put each branch into a function and let the program choose:",
                f"result = jax.lax.cond({test}, if_true, if_false, *values)",
            ),
        )
    given = ", ".join(names)
    kept = [name for name in names if name in failure.variables]
    received = ", ".join(kept)
    back = f"    return {given}"
    passed = ", ".join(["if_true", "if_false", *kept])
    code = (
        f"def if_true({received}):\n{_body(failure, node.body)}{back}\n\n"
        f"def if_false({received}):\n{_body(failure, node.orelse)}{back}\n\n{given} = jax.lax.cond({test}, {passed})"
    )
    return (Cure("Put each branch into a function that gives the same names, and let the program choose:", code),)


def _walk(statements: list[ast.stmt]) -> list[ast.AST]:
    return [item for statement in statements for item in ast.walk(statement)]


def _body(failure: Failure, statements: list[ast.stmt]) -> str:
    """Statements as the body of a function; empty for none."""
    if not statements:
        return ""
    text = "\n".join(failure.text(statement) for statement in statements)
    return textwrap.indent(text, "    ") + "\n"


def _after(failure: Failure, node: ast.If) -> list[ast.stmt]:
    """The statement after an `if` that returns: its other branch."""
    parent = failure.source.parent(node) if failure.source is not None else None
    body: list[ast.stmt] = getattr(parent, "body", [])
    if node in body and isinstance(node.body[-1], ast.Return):
        place = body.index(node)
        return body[place + 1 : place + 2]
    return []


def _one_value(failure: Failure, statements: list[ast.stmt]) -> tuple[str, str] | None:
    """A branch that only returns or assigns one value: where to, and the value."""
    if len(statements) != 1:
        return None
    (statement,) = statements
    if isinstance(statement, ast.Return) and statement.value is not None:
        return "return", _grouped(failure.text(statement.value), statement.value)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id, _grouped(failure.text(statement.value), statement.value)
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        operator = _OPERATORS.get(type(statement.op))
        return (
            (statement.target.id, f"{statement.target.id} {operator} {failure.text(statement.value)}")
            if operator
            else None
        )
    return None


def _grouped(text: str, node: ast.AST) -> str:
    return f"({text})" if isinstance(node, ast.Tuple) and not text.startswith("(") else text


_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
    ast.MatMult: "@",
}


def _while(failure: Failure, node: ast.AST, child: ast.AST | None) -> Explanation | None:
    if not isinstance(node, ast.While) or child is not node.test:
        return None
    carried = names_assigned(node.body) or names_read(node.test)[:1]
    names = ", ".join(carried)
    one = len(carried) == 1
    received = names if one else "carry"
    unpacked = "" if one else f"    {names} = carry\n"
    test = _elementwise(failure, node.test)
    if isinstance(node.test, (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp)):
        # JAX takes no number for the answer, as Python does.
        test += " != 0"
    condition = f"lambda {names}: {test}" if one else "keep_going"
    before = "" if one else f"def keep_going(carry):\n    {names} = carry\n    return {test}\n\n"
    start = names if one else f"({names})"
    code = (
        f"{before}def body({received}):\n{unpacked}{_body(failure, node.body)}    return {names}\n\n"
        f"{names} = jax.lax.while_loop({condition}, body, {start})"
    )
    why = f"Python must know before each turn on {failure.line_text} whether there is one more,"
    cure = Cure("Let the program loop; what changes from turn to turn is carried:", code)
    return _told(failure, node.test, "Python's `while`", why, (cure,))


def _either(failure: Failure, node: ast.AST, child: ast.AST | None) -> Explanation | None:
    # Where the condition is a name alone, Python gives the place of the whole.
    if not isinstance(node, ast.IfExp) or (child is not node.test and node is not failure.expression):
        return None
    parts = ", ".join([_elementwise(failure, node.test), failure.text(node.body), failure.text(node.orelse)])
    why = "Python must know True or False to take one of the two values,"
    cure = Cure("Compute both and choose for each element:", failure.with_(node, f"jnp.where({parts})"))
    return _told(failure, node.test, "`... if ... else ...`", why, (cure,))


def _elementwise(failure: Failure, node: ast.expr) -> str:
    """A condition in which `and`, `or`, `not`, `in` and comparisons of three are computed for each element."""
    if isinstance(node, ast.BoolOp):
        sign = " & " if isinstance(node.op, ast.And) else " | "
        return sign.join(f"({_elementwise(failure, value)})" for value in node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"~({_elementwise(failure, node.operand)})"
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        found = f"jnp.any({failure.text(node.left)} == jnp.array({failure.text(node.comparators[0])}))"
        return found if isinstance(node.ops[0], ast.In) else f"~{found}"
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        operands = [failure.text(part) for part in (node.left, *node.comparators)]
        signs = [_COMPARED.get(type(op), "==") for op in node.ops]
        return " & ".join(f"({operands[place]} {sign} {operands[place + 1]})" for place, sign in enumerate(signs))
    return failure.text(node)


_COMPARED: dict[type[ast.AST], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def _logic(failure: Failure, node: ast.AST, child: ast.AST | None) -> Explanation | None:
    """`and`, `or`, `not`, `in` and comparisons of three, unless they are all that a statement asks."""
    words = _logic_words(node)
    parent = failure.source.parent(node) if failure.source is not None else None
    if words is None or not isinstance(node, ast.expr) or getattr(parent, "test", None) is node:
        return None
    if isinstance(parent, (ast.BoolOp, ast.UnaryOp)) and _logic_words(parent) is not None:
        return None
    code = _elementwise(failure, node)
    grouped = isinstance(parent, ast.expr) and not isinstance(parent, ast.Call)
    cure = Cure("Compute it element by element instead:", failure.with_(node, f"({code})" if grouped else code))
    return _told(failure, node, *words, (cure,))


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
    test = _elementwise(failure, node.test)
    said = failure.text(node.msg) if node.msg is not None else f'"expected {_short(test)}"'.replace("\n", " ")
    code = (
        "from jax.experimental import checkify\n\n"
        f"checkify.check({test}, {said})                  # in place of the assert\n"
        f"error, result = checkify.checkify({failure.name})(...)  # around the call\nerror.throw()"
    )
    why = "`assert` must know True or False when the function is traced, not when it runs,"
    cure = Cure("Check it while the program runs:", code)
    return _told(failure, node.test, "Python's `assert`", why, (cure,))


def _call(failure: Failure, node: ast.AST, child: ast.AST | None) -> Explanation | None:
    if not isinstance(node, ast.Call):
        return None
    name = last_name(node.func)
    if not isinstance(node.func, ast.Name) or name not in (*_PAIRWISE, *_WHOLE, "bool"):
        return None
    arguments = [failure.text(argument) for argument in node.args]
    if name in _PAIRWISE and len(arguments) > 1:
        code = arguments[0]
        for argument in arguments[1:]:
            code = f"{_PAIRWISE[name]}({code}, {argument})"
    elif name in _PAIRWISE:
        code = f"jnp.{name}({', '.join(arguments)})"
    elif name == "bool":
        code = f"{arguments[0] if arguments else 'x'} != 0"
    else:
        code = f"{_WHOLE[name]}({', '.join(arguments)})"
    why = f"Python's `{name}` asks whether values are true or which one is larger,"
    cure = Cure("Use the function of jax.numpy, which becomes part of the program:", failure.with_(node, code))
    return _told(failure, node, f"Python's `{name}`", why, (cure,))


def _match(failure: Failure, node: ast.AST, child: ast.AST | None) -> Explanation | None:
    """`match` with a value: it asks whether what is matched equals it."""
    matching = failure.source.parent(node) if failure.source is not None else None
    if not isinstance(node, ast.match_case) or not isinstance(matching, ast.Match):
        return None
    subject = failure.text(matching.subject)
    values = [failure.text(case.pattern.value) for case in matching.cases if isinstance(case.pattern, ast.MatchValue)]
    if values == [str(number) for number in range(len(values))]:
        branches = ", ".join(f"case_{value}" for value in values)
        code = f"result = jax.lax.switch({subject}, [{branches}, otherwise], *values)"
    else:
        # From the last on, so that the first that fits is taken.
        code = "otherwise"
        for value in reversed(values):
            name = value if value.isidentifier() or value.isdigit() else "one"
            code = f"jnp.where({subject} == {value}, case_{name}, {code})"
        code = f"result = {code}"
    why = "`match` compares with one value after the other until one is equal,"
    cure = Cure("Compute each and choose, or let the program choose:", code)
    return _told(failure, matching.subject, "Python's `match`", why, (cure,))


def _filter(failure: Failure, node: ast.AST, child: ast.AST | None) -> Explanation | None:
    """The `if` of a comprehension."""
    if not isinstance(node, ast.comprehension) or child not in node.ifs or not isinstance(child, ast.expr):
        return None
    each, everything = failure.text(node.target), failure.text(node.iter)
    test = _elementwise(failure, child)
    # Of each entry, as many axes as it has follow the mask.
    rank = len(getattr(failure.value(node.target), "shape", ()))
    mask = f"mask[:, {', '.join(['None'] * rank)}]" if rank else "mask"
    code = f"mask = jax.vmap(lambda {each}: {test})({everything})\nkept = jnp.where({mask}, {everything}, 0)"
    why = "The `if` of a comprehension chooses how many there are,"
    cure = Cure("Keep all of them, and put a number where one is left out:", code)
    return _told(failure, child, "A comprehension's `if`", why, (cure,))


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

CASES = (Case("choice", ("TracerBoolConversionError",), "", _choice),)
