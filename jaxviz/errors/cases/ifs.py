"""What people write in place of an `if` on a traced value: both computed and chosen, or functions for the branches."""

from __future__ import annotations

import ast
import json

from jaxviz.arrays import is_array
from jaxviz.errors.cases.as_program import way_lines
from jaxviz.errors.cases.chosen import Choice, chosen, may_be_array, run_one, unlike
from jaxviz.errors.cases.conditions import elementwise
from jaxviz.errors.cases.outside import explored_with
from jaxviz.errors.cases.ways import with_what_follows
from jaxviz.errors.explanation import Cure
from jaxviz.errors.failure import Failure, last_name, parameters_of
from jaxviz.errors.rewriting import fresh, indented, lines_of
from jaxviz.errors.source import names_assigned
from jaxviz.errors.trial import given_by

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
    ast.MatMult: "@",
}


def if_cures(failure: Failure, node: ast.If) -> tuple[Cure, ...]:
    if failure.traced_for == "pallas_call kernel":
        return _in_kernel(failure, node)
    if calls_itself(failure, node):
        # Both ways are traced, whatever is chosen: that never ends.
        return ()
    one = _one_value(failure, [node], _after(failure, node))
    if one is None or not isinstance(one[1], Choice):
        return _functions(failure, node)
    if unlike(failure, one[1]):
        return tuple(_each_way(failure, node, one[0], one[1]))
    return _of_one_value(failure, one[0], one[1])


def _in_kernel(failure: Failure, node: ast.If) -> tuple[Cure, ...]:
    """In a kernel of Pallas, what is done to references if something is so."""
    if names_assigned([*node.body, *node.orelse]) or any(isinstance(one, ast.Return) for one in _walk(node)):
        return ()
    lines = []
    test = elementwise(failure, node.test)
    for name, asked, branch in (("if_true", test, node.body), ("if_false", f"~({test})", node.orelse)):
        if branch:
            lines += [f"@pl.when({asked})", f"def {name}():", *indented(lines_of(failure, branch)), ""]
    return (Cure("Have it done in the runs where it is so:", "\n".join(lines).rstrip()),)


def one_value(failure: Failure, node: ast.If) -> Choice | None:
    """The choice that an `if` makes, where it makes one of single values."""
    one = _one_value(failure, [node], _after(failure, node))
    return one[1] if one is not None and isinstance(one[1], Choice) else None


def match_cures(failure: Failure, node: ast.Match) -> tuple[Cure, ...]:
    """The same for `match` with values, the last of which fits all."""
    *cases, last = node.cases
    ways = [_one_value(failure, case.body, []) for case in node.cases]
    if (
        not isinstance(last.pattern, ast.MatchAs)
        or last.pattern.pattern is not None
        or any(c.guard for c in node.cases)
    ):
        return ()
    if None in ways or len({way[0] for way in ways if way is not None}) != 1:
        return ()
    target, found = ways[-1] or ("", "")
    for case, way in zip(reversed(cases), reversed(ways[:-1]), strict=True):
        if not isinstance(case.pattern, ast.MatchValue) or way is None:
            return ()
        found = Choice(f"{failure.text(node.subject)} == {failure.text(case.pattern.value)}", way[1], found)
    return _of_one_value(failure, target, found) if isinstance(found, Choice) else ()


def _of_one_value(failure: Failure, target: str, choice: Choice) -> tuple[Cure, ...]:
    """To return, assign or append one of several values."""
    begin = "return " if target == "return" else target if target.endswith("(") else f"{target} = "
    end = ")" if begin.endswith("(") else ""
    return tuple(
        Cure(text, begin + code + end)
        for text, code in (
            ("Compute both and choose for each element:", chosen(failure, choice)),
            ("Or let the program choose, so that only one of them runs:", run_one(failure, choice)),
        )
        if code
    )


def _each_way(failure: Failure, node: ast.If, target: str, choice: Choice) -> list[Cure]:
    if isinstance(choice.yes, Choice) or isinstance(choice.no, Choice) or target == "return" or "(" in target:
        return []
    values = [side if isinstance(side, str) else failure.text(side) for side in (choice.yes, choice.no)]
    yes, no = (f"{target} = {value}" if value != target else "" for value in values)
    return with_what_follows(failure, node, [(choice.test, yes), (choice.test, no)])


def calls_itself(failure: Failure, node: ast.If | ast.IfExp) -> bool:
    """Whether the function that asks is called again on one of the ways."""
    name = failure.source.function if failure.source is not None else ""
    after = _after(failure, node) if isinstance(node, ast.If) else []
    called = [one for part in [node, *after] for one in ast.walk(part) if isinstance(one, ast.Call)]
    return any(last_name(one.func) == name for one in called)


def _one_value(
    failure: Failure, statements: list[ast.stmt], after: list[ast.stmt]
) -> tuple[str, ast.expr | Choice | str] | None:
    """Statements that only return, assign or append one value: where to, and the value. Of an `if`, its branches do
    so."""
    if len(statements) != 1:
        return None
    (statement,) = statements
    if isinstance(statement, ast.Return) and statement.value is not None:
        return "return", statement.value
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and _is_place(failure, statement.targets[0]):
        return failure.text(statement.targets[0]), statement.value
    if isinstance(statement, ast.AugAssign) and _is_place(failure, statement.target):
        operator = _OPERATORS.get(type(statement.op))
        name = failure.text(statement.target)
        value = failure.text(statement.value)
        value = f"({value})" if isinstance(statement.value, (ast.BinOp, ast.IfExp, ast.Compare)) else value
        return (name, f"{name} {operator} {value}") if operator else None
    if isinstance(statement, ast.Expr):
        call = statement.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
            return None
        if call.keywords or len(call.args) != 1 or not isinstance(failure.value(call.func.value), list):
            return None
        return f"{failure.text(call.func)}(", call.args[0]
    if not isinstance(statement, ast.If):
        return None
    yes = _one_value(failure, statement.body, [])
    if yes is None:
        return None
    no = _one_value(failure, statement.orelse or after, after if statement.orelse else [])
    if no is None and not statement.orelse and yes[0] != "return" and _was_there(failure, yes[0]):
        no = yes[0], yes[0]
    if no is None or yes[0] != no[0]:
        return None
    return yes[0], Choice(statement.test, yes[1], no[1])


def _is_place(failure: Failure, target: ast.expr) -> bool:
    """Whether a variable is assigned, or an entry of a dictionary or list."""
    of_entry = isinstance(target, ast.Subscript) and type(failure.value(target.value)) in (dict, list)
    return isinstance(target, ast.Name) or (of_entry and failure.value(target) is not None)


def _was_there(failure: Failure, place: str) -> bool:
    of_entry = place.endswith("]")
    return failure.value(ast.parse(place, mode="eval").body) is not None if of_entry else place in failure.variables


def _after(failure: Failure, node: ast.If) -> list[ast.stmt]:
    """The statement after an `if` that returns: its other branch."""
    parent = failure.source.parent(node) if failure.source is not None else None
    body: list[ast.stmt] = getattr(parent, "body", [])
    if node in body and isinstance(node.body[-1], ast.Return):
        place = body.index(node)
        return body[place + 1 : place + 2]
    return []


def _functions(failure: Failure, node: ast.If) -> tuple[Cure, ...]:
    """Each branch a function that gives the same names, or what the explored function returns."""
    only = _only_effect(failure, node)
    if only is not None:
        return (only,)
    returned = _returning(failure, node) if any(isinstance(item, ast.Return) for item in _walk(node)) else None
    if returned is not None:
        return (Cure("Put each way into a function, and let the program choose:", returned),)
    if any(isinstance(item, (ast.Return, ast.Break, ast.Continue, ast.Yield)) for item in _walk(node)):
        return ()
    if several := _several_places(failure, node):
        return several
    names = names_assigned([*node.body, *node.orelse])
    if not names or not _always_given(failure, node, names):
        return ()
    code = "\n".join(_as_functions(failure, node, names))
    return (Cure("Put each branch into a function that gives the same names, and let the program choose:", code),)


def _several_places(failure: Failure, node: ast.If) -> tuple[Cure, ...]:
    """An `if` that assigns entries of dictionaries or lists, maybe among variables: each is chosen by itself."""
    ways = [way for one in node.body if (way := _one_value(failure, [one], [])) is not None]
    targets = [target for target, _ in ways]
    if node.orelse or len(ways) < len(node.body) or not any(target.endswith("]") for target in targets):
        return ()
    if not all(_was_there(failure, target) for target in targets):
        return ()
    name = fresh(failure, "changed", "chosen")
    lines = [f"{name} = {elementwise(failure, node.test)}"]
    for place, (target, value) in enumerate(ways):
        text = value if isinstance(value, str) else failure.text(value) if isinstance(value, ast.expr) else ""
        if not text or any(earlier in text for earlier in targets[:place]):
            return ()
        choose = f"jnp.where({name}, {text}, {target})"
        if not is_array(given_by(failure, f"jnp.where(True, {text}, {target})")):
            choose = f"jax.tree.map(lambda yes, no: jnp.where({name}, yes, no), {text}, {target})"
        lines.append(f"{target} = {choose}")
    return (Cure("Compute both and choose for each of them:", "\n".join(lines)),)


def _only_effect(failure: Failure, node: ast.If) -> Cure | None:
    """An `if` that only prints, adds to a list or raises an error."""
    statement = node.body[0] if len(node.body) == 1 and not node.orelse else None
    call = statement.value if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
    added = _one_value(failure, [statement], []) if call is not None and statement is not None else None
    if added is not None and isinstance(added[1], ast.expr) and may_be_array(failure, added[1]):
        value = f"jnp.where({elementwise(failure, node.test)}, {failure.text(added[1])}, 0)"
        return Cure("Keep all of them, and put a number where one is left out:", f"{added[0]}{value})")
    if call is not None and getattr(call.func, "id", "") == "print" and not call.keywords:
        values = [one for one in call.args if not isinstance(one, ast.Constant)]
        plain = (ast.Constant, ast.Name, ast.BinOp, ast.Call, ast.Attribute, ast.Subscript)
        if not all(isinstance(one, plain) for one in call.args):
            return None
        words = " ".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in call.args)
        given = ", ".join([json.dumps(words), *map(failure.text, values)])
        test = elementwise(failure, node.test)
        code = f"jax.lax.cond({test}, lambda: jax.debug.print({given}), lambda: None)"
        return Cure("Let the program print, in the runs where it is so:", code)
    if isinstance(statement, ast.Raise) and isinstance(statement.exc, ast.Call):
        (said, *_) = [*statement.exc.args, None]
        words = failure.text(said) if isinstance(said, ast.Constant) else f'"{failure.text(statement.exc.func)}"'
        code = checked(failure, f"~({elementwise(failure, node.test)})", words, "if")
        return Cure("Check it while the program runs:", code, inside=False)
    return None


def checked(failure: Failure, test: str, words: str, what: str) -> str:
    """Code that has a condition checked in each run, and tells of it after the call."""
    given = ", ".join(name for name in parameters_of(failure.fn) if failure.was_given(name))
    whole = explored_with(failure, f"checkify.check({test}, {words})")
    if whole:
        return (
            f"from jax.experimental import checkify\n\n{whole}\n\n"
            f"error, result = checkify.checkify({failure.name})({given})\nerror.throw()"
        )
    return (
        "from jax.experimental import checkify\n\n"
        f"checkify.check({test}, {words})  # in place of the {what}\n"
        f"error, result = checkify.checkify({failure.name})({given})  # around the call\nerror.throw()"
    )


def _walk(node: ast.AST) -> list[ast.AST]:
    """What is in a statement, but for the functions in it."""
    found: list[ast.AST] = [node]
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            found += _walk(child)
    return found


def _always_given(failure: Failure, node: ast.If, names: list[str]) -> bool:
    """Whether each name has a value whichever way is taken."""
    for branch in (node.body, node.orelse):
        nested = branch[0] if len(branch) == 1 and isinstance(branch[0], ast.If) else None
        if nested is not None:
            if not _always_given(failure, nested, names):
                return False
        elif not set(names) <= {*names_assigned(branch), *failure.variables}:
            return False
    return True


def _as_functions(failure: Failure, node: ast.If, names: list[str]) -> list[str]:
    given, kept = ", ".join(names), [name for name in names if name in failure.variables]
    received = ", ".join(kept)
    lines = []
    for name, branch in (("if_true", node.body), ("if_false", node.orelse)):
        nested = branch[0] if len(branch) == 1 and isinstance(branch[0], ast.If) else None
        inside = _as_functions(failure, nested, names) if nested is not None else way_lines(failure, branch)
        others = node.orelse if branch is node.body else node.body
        back = ", ".join(f"float({one})" if _is_cut(branch, others, one) else one for one in names)
        lines += [f"def {name}({received}):", *indented([*inside, f"return {back}"]), ""]
    passed = ", ".join(["if_true", "if_false", *kept])
    return [*lines, f"{given} = jax.lax.cond({elementwise(failure, node.test)}, {passed})"]


def _is_cut(branch: list[ast.stmt], other: list[ast.stmt], name: str) -> bool:
    """Whether a branch assigns a whole number where the other one assigns a float."""
    mine, theirs = _number(branch, name), _number(other, name)
    return type(mine) is int and type(theirs) is float


def _number(statements: list[ast.stmt], name: str) -> object:
    found = [one.value for one in statements if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == name]
    last = found[-1] if found else None
    return last.value if isinstance(last, ast.Constant) else None


def _returning(failure: Failure, node: ast.If) -> str | None:
    """For an `if` whose ways all end in a return of the function: that of a branch, or what follows the `if`."""
    parent = failure.source.parent(node) if failure.source is not None else None
    if not isinstance(parent, ast.FunctionDef) or node not in parent.body:
        return None
    rest = parent.body[parent.body.index(node) + 1 :]
    names = names_assigned([node, *rest])
    lines = _returning_lines(failure, node, rest, [name for name in names if name in failure.variables])
    return "\n".join(lines) if lines is not None else None


def _returning_lines(failure: Failure, node: ast.If, rest: list[ast.stmt], kept: list[str]) -> list[str] | None:
    received = ", ".join(kept)
    lines: list[str] = []
    for name, branch in (("if_true", node.body), ("if_false", node.orelse)):
        way = branch if branch and isinstance(branch[-1], ast.Return) else [*branch, *rest]
        inside = _way_lines(failure, way, kept)
        if inside is None:
            return None
        lines += [f"def {name}({received}):", *indented(inside), ""]
    passed = ", ".join(["if_true", "if_false", *kept])
    return [*lines, f"return jax.lax.cond({elementwise(failure, node.test)}, {passed})"]


def _way_lines(failure: Failure, way: list[ast.stmt], kept: list[str]) -> list[str] | None:
    """Statements that end in a return, of which each `if` that returns chooses between what follows; None where one
    gives nothing, or returns from somewhere else."""
    returning = [one for one in way if any(isinstance(item, ast.Return) for item in _walk(one))]
    if not returning:
        return None
    first = returning[0]
    at = way.index(first)
    before = way_lines(failure, way[:at])
    if isinstance(first, ast.Return):
        return [*before, *way_lines(failure, [first])] if first.value is not None else None
    if not isinstance(first, ast.If):
        return None
    inner = _returning_lines(failure, first, way[at + 1 :], kept)
    return [*before, *inner] if inner is not None else None
