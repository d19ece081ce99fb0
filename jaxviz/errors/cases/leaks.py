"""Where a function stores values outside of itself, and the same function giving them back."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from jaxviz.errors.cases.state import call_with_state, gives_only_by_storing, reads, received, target_of, with_state
from jaxviz.errors.failure import last_name
from jaxviz.errors.source import Source, definition_of, names_assigned

_STORING = ("append", "add", "extend", "insert", "update", "setdefault", "put")


def stored_outside(fn: Any) -> list[tuple[int, str]]:
    """The lines of a function that store something in what is known outside of it, with what stands there."""
    source, function = definition_with_source(fn)
    if source is None or function is None:
        return []
    return [(one.lineno, source.text(one)) for one, _ in _storing(function)]


def returned_instead(fn: Any) -> str:
    """A function that stores one value outside, written so that it gives the value back beside its result; empty
    where more than that is to be changed."""
    source, function = definition_with_source(fn)
    if source is None or function is None:
        return ""
    lines = _giving_back(source, function)
    given = ", ".join(one.arg for one in function.args.args)
    return "\n".join([*lines, "", f"{received(function)} = {function.name}({given})"]) if lines else ""


def stored_inside(fn: Any, path: str = "", line: int = 0) -> str:
    """Where a function that another one calls, or one that it calls itself, stores something; as a sentence. Empty
    where that is not in one place alone."""
    source, _, function = _inner(fn, path, line)
    if source is None or function is None:
        return ""
    stores = [one for one, _ in _storing(function)]
    helped = [one for _, helper in _helpers(source, function) for one, _ in _storing(helper)]
    found = list(dict.fromkeys(stores or helped))
    return f"Line {found[0].lineno} stores it: `{source.text(found[0])}`." if len(found) == 1 else ""


def _inner(fn: Any, path: str, line: int) -> tuple[Source | None, ast.FunctionDef | None, ast.FunctionDef | None]:
    """The source of a function, its definition, and that of the function which it calls and whose definition begins at
    a line of the same file; without a line, of the only one that it takes the derivative of."""
    source, caller = definition_with_source(fn)
    if source is None or caller is None:
        return None, None, None
    if line:
        function = source.function_at(line) if source.path == path else None
    else:
        derived = [one.args[0] for one in ast.walk(caller) if isinstance(one, ast.Call) and _is_of(one, _DERIVATIVES)]
        functions = [one for node in derived for one in _named(source, last_name(node))]
        function = functions[0] if len(functions) == 1 else None
    other = isinstance(function, ast.FunctionDef) and function is not caller
    return source, caller, function if other and isinstance(function, ast.FunctionDef) else None


_DERIVATIVES = ("grad", "value_and_grad", "jacfwd", "jacrev", "hessian")


def _is_of(call: ast.AST, names: tuple[str, ...]) -> bool:
    return isinstance(call, ast.Call) and last_name(call.func) in names and bool(call.args)


def _named(source: Source, name: str) -> list[ast.FunctionDef]:
    tree = source.tree or ast.Module([], [])
    return [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name == name]


def returned_from_inside(fn: Any, path: str = "", line: int = 0) -> str:
    """The same for a function that another one calls, and whose definition begins at a line of the same file: with
    the statement that calls it. Without a line, for one of which it takes the gradient."""
    source, caller, function = _inner(fn, path, line)
    if source is None or caller is None or function is None:
        return ""
    lines = _giving_back(source, function)
    calls = _calls_of(caller, function.name)
    if not lines or len(calls) != 1:
        return ""
    (call,), statement = calls, source.parent(calls[0])
    decorators = [f"@{source.text(one)}" for one in function.decorator_list]
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        result = f"({source.text(target)})" if isinstance(target, ast.Tuple) else source.text(target)
    else:
        result = "_" if isinstance(statement, ast.Expr) else "result"
    store = _read_again(source, function)
    text = source.text(call) if store is None else call_with_state(function, store, call)
    if not text:
        return ""
    if _is_of(call.func, ("grad",)) and isinstance(call.func, ast.Call) and not call.func.keywords:
        text = text.replace(made := source.text(call.func), f"{made[:-1]}, has_aux=True)", 1)
    return "\n".join([*decorators, *lines, "", f"{received(function, result)} = {text}"])


def changed_by_itself(fn: Any) -> str:
    """A method, or a function, that reads again what it stored in an earlier call, with that going in and out."""
    source, function = definition_with_source(fn)
    if source is None or function is None or _read_again(source, function) is None:
        return ""
    lines = _giving_back(source, function)
    holding, given = source.parent(function), [one.arg for one in function.args.args]
    if not lines or (isinstance(holding, ast.ClassDef) and not given):
        return ""
    owner, arguments = (f"{given[0]}.", given[1:]) if isinstance(holding, ast.ClassDef) else ("", given)
    call = ast.parse(f"{owner}{function.name}({', '.join(arguments)})", mode="eval").body
    store = _read_again(source, function)
    text = call_with_state(function, store, call) if store is not None and isinstance(call, ast.Call) else ""
    decorators = [f"@{source.text(one)}" for one in function.decorator_list]
    made = f"  # {given[0]} is a new {holding.name}" if isinstance(holding, ast.ClassDef) else ""
    return "\n".join([*decorators, *lines, "", f"{received(function)} = {text}{made}"]) if text else ""


def _calls_of(caller: ast.FunctionDef, name: str) -> list[ast.Call]:
    """The calls of a function or a method, by its name, as what JAX makes of it, or by the name that this has."""
    names = {name}
    for one in ast.walk(caller):
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and _is_made_of(one.value, name):
            names.add(one.targets[0].id)
    calls = [one for one in ast.walk(caller) if isinstance(one, ast.Call)]
    return [one for one in calls if last_name(one.func) in names or _is_made_of(one.func, name)]


def _is_made_of(node: ast.AST, name: str) -> bool:
    return _is_of(node, ("jit", "grad")) and isinstance(node, ast.Call) and last_name(node.args[0]) == name


def _giving_back(source: Source, function: ast.FunctionDef) -> list[str]:
    """The lines of a function that stores one value, in which it returns that too; none where that is not enough."""
    stores, last = [*_storing(function), *_stored_by_helpers(source, function)], function.body[-1]
    if len(stores) != 1 or stores[0][0] not in function.body or stores[0][1] is None:
        return []
    returns = isinstance(last, ast.Return) and last.value is not None
    if not returns and not gives_only_by_storing(function):
        return []
    statement, value = stores[0]
    if _read_again(source, function) is not None:
        return with_state(function, statement)
    lines = [f"def {function.name}({ast.unparse(function.args)}):"]
    for one in function.body[:-1] if returns else function.body:
        text = f"kept = {source.text(value)}" if one is statement and value is not None else source.text(one)
        lines += [f"    {line}" for line in text.splitlines()]
    if not isinstance(last, ast.Return) or last.value is None:
        return [*lines, "    return kept"]
    result = source.text(last.value)
    grouped = f"({result})" if isinstance(last.value, ast.Tuple) and not result.startswith("(") else result
    return [*lines, f"    return {grouped}, kept"]


def _read_again(source: Source, function: ast.FunctionDef) -> ast.stmt | None:
    """The statement of a function that stores into what the function itself reads."""
    for statement, _ in _storing(function):
        stored = target_of(statement)
        # Of what is put into a list or a dictionary, all of that is read.
        if stored is None and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            stored = statement.value.func
            held = stored.value if isinstance(stored, ast.Attribute) else None
        else:
            held = stored.value if isinstance(stored, ast.Subscript) else stored
        if isinstance(statement, ast.AugAssign) or (held is not None and reads(function, held)):
            return statement
    return None


def _helpers(source: Source, function: ast.FunctionDef) -> Iterator[tuple[ast.Call, ast.FunctionDef]]:
    """The functions of the file and the methods of the same class that a function calls, each with its call."""
    holding = source.parent(function)
    methods = holding.body if isinstance(holding, ast.ClassDef) else []
    functions = source.tree.body if source.tree is not None else []
    for call in ast.walk(function):
        if not isinstance(call, ast.Call):
            continue
        of_self = isinstance(call.func, ast.Attribute) and _is_first(call.func.value, function)
        among = methods if of_self else functions if isinstance(call.func, ast.Name) else []
        for one in among:
            if isinstance(one, ast.FunctionDef) and one.name == last_name(call.func) and one is not function:
                yield call, one


def _is_first(node: ast.expr, function: ast.FunctionDef) -> bool:
    """Whether a name is that of the object whose method a function is."""
    first = function.args.args[0].arg if function.args.args else ""
    return isinstance(node, ast.Name) and node.id == first


def _stored_by_helpers(source: Source, function: ast.FunctionDef) -> Iterator[tuple[ast.stmt, ast.expr | None]]:
    """The statements of a function that call another one to store one of its arguments, and do nothing else."""
    for call, helper in _helpers(source, function):
        statement, stores = source.parent(call), list(_storing(helper))
        if not stores or not isinstance(statement, ast.stmt):
            continue
        names = [one.arg for one in helper.args.args][isinstance(call.func, ast.Attribute) :]
        given = dict(zip(names, call.args, strict=False)) | {one.arg: one.value for one in call.keywords if one.arg}
        value = stores[0][1]
        only = isinstance(statement, ast.Expr) and all(one is stores[0][0] or _does_nothing(one) for one in helper.body)
        yield statement, given.get(value.id) if only and isinstance(value, ast.Name) else None


def _does_nothing(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Return, ast.Pass)) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def definition_with_source(fn: Any) -> tuple[Source | None, ast.FunctionDef | None]:
    """The definition of a function, in the file in which it stands."""
    code: Any = getattr(getattr(fn, "__wrapped__", fn), "__code__", None)
    found = definition_of(code) if code is not None else None
    source = Source(code, 0, code.co_firstlineno) if code is not None else None
    own = source.own(found) if source is not None else None
    return source, own if isinstance(own, ast.FunctionDef) else None


def _storing(function: ast.FunctionDef) -> Iterator[tuple[ast.stmt, ast.expr | None]]:
    """The statements that store, each with what is stored where that is one value."""
    own = {*names_assigned(function.body)}
    shared = {name for one in ast.walk(function) if isinstance(one, (ast.Global, ast.Nonlocal)) for name in one.names}
    for node in ast.walk(function):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _is_method(node.value):
            if _root(node.value.func) not in own:
                yield node, node.value.args[0] if len(node.value.args) == 1 else None
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Attribute, ast.Subscript)):
            if _root(node.targets[0]) not in own:
                yield node, node.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in shared:
            yield node, node.value
        elif isinstance(node, ast.AugAssign):
            held = isinstance(node.target, (ast.Attribute, ast.Subscript)) and _root(node.target) not in own
            if held or (isinstance(node.target, ast.Name) and node.target.id in shared):
                yield node, node.value


def _is_method(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _STORING


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
