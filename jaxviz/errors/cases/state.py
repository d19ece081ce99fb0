"""A function that changes what it has outside, such as a count of its object, with that going in and coming out."""

from __future__ import annotations

import ast
import copy

from jaxviz.errors.failure import last_name

_WITH_THE_SAME_ARGUMENTS = ("jit", "partial", "staticmethod")


def reads(function: ast.FunctionDef, target: ast.expr) -> bool:
    """Whether a function reads what it stores into, before or after."""
    same = ast.unparse(target)
    return any(isinstance(one, ast.expr) and ast.unparse(one) == same and one is not target for one in _own(function))


def state_name(function: ast.FunctionDef, store: ast.stmt) -> str:
    """The name by which what is stored can go in and out; empty where that cannot be written surely."""
    target = target_of(store)
    if not isinstance(target, (ast.Attribute, ast.Name)) or not _same_arguments(function, target):
        return ""
    if isinstance(target, ast.Name):
        return target.id
    used = {one.id for one in _own(function) if isinstance(one, ast.Name)} | {one.arg for one in function.args.args}
    return target.attr if target.attr not in used and _only_fields(function, target.value) else ""


def target_of(store: ast.stmt) -> ast.expr | None:
    """What a statement assigns to."""
    if isinstance(store, ast.AugAssign):
        return store.target
    return store.targets[0] if isinstance(store, ast.Assign) else None


def with_state(function: ast.FunctionDef, store: ast.stmt) -> list[str]:
    """The lines of a function in which what it changes is an argument, and comes out beside its result."""
    name, target = state_name(function, store), target_of(store)
    if not name or target is None:
        return []
    body = _Renamed(ast.unparse(target), name).visit(ast.Module(copy.deepcopy(_spoken(function)), [])).body
    last = body[-1] if isinstance(body[-1], ast.Return) else None
    if (last is None or last.value is None) and not gives_only_by_storing(function):
        return []
    arguments = copy.deepcopy(function.args)
    arguments.args.insert(_first(function, target), ast.arg(name))
    lines = [f"def {function.name}({ast.unparse(arguments)}):"]
    for one in body[:-1] if last is not None else body:
        lines += [f"    {line}" for line in ast.unparse(one).splitlines()]
    if last is None or last.value is None:
        return [*lines, f"    return {name}"]
    result = ast.unparse(last.value)
    grouped = f"({result})" if isinstance(last.value, ast.Tuple) and not result.startswith("(") else result
    return [*lines, f"    return {grouped}, {name}"]


def gives_only_by_storing(function: ast.FunctionDef) -> bool:
    """Whether a function returns nothing anywhere: what it stores is all that it gives."""
    return not any(isinstance(one, (ast.Return, ast.Yield, ast.YieldFrom)) for one in _own(function))


def received(function: ast.FunctionDef, result: str = "result") -> str:
    """The names for what a function gives that gives what it stored too."""
    return "kept" if gives_only_by_storing(function) else f"{result}, kept"


def call_with_state(function: ast.FunctionDef, store: ast.stmt, call: ast.Call) -> str:
    """A call of that function, given what it changes; empty where it is not called by name or as a method."""
    target, called = target_of(store), copy.deepcopy(call)
    if isinstance(target, ast.Attribute) and isinstance(called.func, ast.Attribute):
        state: ast.expr = ast.Attribute(called.func.value, target.attr, ast.Load())
    elif isinstance(target, ast.Name) and isinstance(called.func, ast.Name):
        state = ast.Name(target.id, ast.Load())
    else:
        return ""
    called.args.insert(0, state)
    return ast.unparse(called)


def _spoken(function: ast.FunctionDef) -> list[ast.stmt]:
    """The body of a function less what it says of itself in words."""
    return function.body[1:] if ast.get_docstring(function) is not None else function.body


def _own(function: ast.FunctionDef) -> list[ast.AST]:
    return [node for one in function.body for node in ast.walk(one)]


def _first(function: ast.FunctionDef, target: ast.expr) -> int:
    """The place for one more argument: after the object whose field it is."""
    given = [one.arg for one in function.args.args]
    return int(isinstance(target, ast.Attribute) and given[:1] == [ast.unparse(target.value)])


def _same_arguments(function: ast.FunctionDef, target: ast.expr) -> bool:
    """Whether what stands around the definition speaks of no argument that would have another place."""
    at = _first(function, target)
    if isinstance(target, ast.Attribute) and not at:
        return False
    inside = [node for one in function.decorator_list for node in ast.walk(one)]
    numbers = [one.value for one in inside if isinstance(one, ast.Constant) and isinstance(one.value, int)]
    around = [one.func if isinstance(one, ast.Call) else one for one in function.decorator_list]
    return all(last_name(one) in _WITH_THE_SAME_ARGUMENTS for one in around) and all(0 <= one < at for one in numbers)


def _only_fields(function: ast.FunctionDef, holder: ast.expr) -> bool:
    """Whether a function does nothing with an object but to read its fields: a method could read what is changed."""
    name = ast.unparse(holder)
    nodes = _own(function)
    whole = sum(isinstance(one, ast.Name) and one.id == name for one in nodes)
    fields = [one for one in nodes if isinstance(one, ast.Attribute) and ast.unparse(one.value) == name]
    called = [one.func for one in nodes if isinstance(one, ast.Call)]
    return whole == len(fields) and not any(one in called for one in fields)


class _Renamed(ast.NodeTransformer):
    """What is stored into, by the name that it has as an argument."""

    def __init__(self, text: str, name: str) -> None:
        self._text, self._name = text, name

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if ast.unparse(node) == self._text:
            return ast.Name(self._name, node.ctx)
        self.generic_visit(node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name) or node.target.id != self._name:
            return node
        # Written out, for of an array of numpy the other way would change what the caller has.
        changed = ast.BinOp(ast.Name(self._name, ast.Load()), node.op, node.value)
        return ast.fix_missing_locations(ast.copy_location(ast.Assign([node.target], changed), node))

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> ast.stmt | None:
        node.names = [one for one in node.names if one != self._name]
        return node if node.names else None

    visit_Nonlocal = visit_Global
