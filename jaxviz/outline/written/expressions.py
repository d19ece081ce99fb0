"""A name for the expression at a frame, from the person's own source: the function it calls, or its operator as JAX
calls it, or the variable that it is assigned to.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace

from jaxviz.outline.written.source import OPERATIONS, Found, Place, Source, is_constant_index, source_of
from jaxviz.outline.written.transformations import takes_gradient
from jaxviz.outline.written.written import assigned_to, loop_head, only_names, written
from jaxviz.tables import Tables

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "mod",
    ast.Pow: "power",
    ast.MatMult: "matmul",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.LShift: "left_shift",
    ast.RShift: "right_shift",
    ast.USub: "negative",
    ast.UAdd: "positive",
    ast.Invert: "invert",
    ast.Not: "logical_not",
    ast.And: "logical_and",
    ast.Or: "logical_or",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
}

# Python asks an array that stands on the right: `0 < x` is `x > 0`.
_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    **{ast.Lt: ast.Gt, ast.LtE: ast.GtE},
    **{ast.Gt: ast.Lt, ast.GtE: ast.LtE},
}

#: Transformations that say something about the function they are given; others are seen through.
_TELLING = frozenset(
    {"value_and_grad", "grad", "vjp", "jvp", "linearize", "vmap", "pmap", "checkpoint", "remat"}
    | {"jacfwd", "jacrev", "jacobian", "hessian"}
)
_CHECKPOINTS = frozenset({"checkpoint", "remat"})
# What gives the same function, for many values or to be made again.
_SAME_OBJECT = _CHECKPOINTS | {"vmap", "jit"}
# A variable of so many letters says less than the class of what it holds.
_FEW_LETTERS = 2
_SEEN_THROUGH = frozenset({"jit", "partial", "wraps", "custom_vjp", "custom_jvp", "shard_map"})

# What puts a module together from its arrays and its structure says nothing of what the module does.
_PUT_TOGETHER = frozenset({"merge", "combine"})

# Transformations of a function into one that takes its gradient.
_MAKES_GRADIENT = re.compile(r"(filter_)?((value_and_)?grad|jac(fwd|rev|obian)|hessian)")

# What takes the derivative of a function along a direction.
_ALONG = frozenset({"jvp", "linearize", "filter_jvp"})

# What maps a function over a tree, and loops with the place of the function that they repeat.
_MAPS = frozenset(
    {"tree.map", "tree_map", "tree_util.tree_map", "map_with_path", "tree_map_with_path", "lax.map", "map"}
)
_LOOPS = {"scan": 0, "while_loop": 1, "fori_loop": 2, "associative_scan": 0}
_CONDITIONS = frozenset({"cond", "switch"})
# A function by its name, or mapped over axes: `step`, `vmap(combine)`.
_NAMED = re.compile(r"[^\W\d]\w*|vmap\([^\W\d]\w*\)")
_INNER = "inner"
BODIES = frozenset({"body", "body_fn", "body_fun", "loop", "loop_body", "scan_fn"})

#: Methods whose object says more than they do.
_VERBS = frozenset({"apply", "call", "forward", "init", "loss", "map", "sample", "step", "update", "__call__"})

#: For functions of libraries that only pass on what they are called with, whatever their names.
WRAPPER = "wrapper"

#: Names that say nothing about what is done.
GENERIC = frozenset(
    {"<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "lambda", "map", "tree.map", "tree_map", "fn"}
    | {"func", "fun", "f", "g", "op", "call", WRAPPER, "wrapped", "inner", "apply", "apply_fn", "apply_fun"}
    | {"update_fn", "init_fn", "next"}
    # What Flax and Equinox give to a checkpoint or to `jit` in place of the person's module.
    | {"rematted", "core_fn", "fun_checkpoint", "fun_wrapped"}
)


#: Names of variables that say less than the class of what they hold.
POOR = GENERIC | {"layer", "layers", "block", "blocks", "module", "modules", "model", "net", "self"}


@dataclass(frozen=True)
class Expression:
    """The expression at a frame. `statement` is where the statement around it begins, by line and column, and the line
    that it ends on; 0 if not known.

    `variable` is what the expression is assigned to, where it is the whole right side.
    """

    name: str
    text: str = ""
    variable: str = ""
    statement: tuple[int, int, int] = (0, 0, 0)
    statement_text: str = ""
    # The loop around it: its head as it is written, such as `for p in params`.
    loop: str = ""
    # The heads of all loops of the function around it, outermost first.
    loops: tuple[str, ...] = ()
    # Where they stand, so that two of the same head are told apart.
    loop_places: tuple[Place, ...] = ()
    # What the lambda right around it does; empty where it is in none, or in one that only calls what it is given.
    function: str = ""
    # Of a comprehension what it goes through, which it takes apart itself.
    iterated: str = ""
    # For indexing by constants that an operation is applied to, and for taking apart what one gives: the place of that
    # operation, which says it too.
    operation: Place | None = None
    # Whether it is the targets that take apart what the statement has on its right.
    unpacks: bool = False
    # Whether what is called is a lambda that stands here: its text names it, no name that the person gave.
    nameless: bool = False
    # What the person calls the object that is called: an attribute or a variable, where that says anything.
    called: str = ""
    # Whether what is called takes a gradient: `grad(f)(x)`, or `slope(x)` where `slope = grad(f)`.
    gradient: bool = False


class Expressions:
    """The expressions of one program, each looked up once by its row in `tables.frames`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._known: dict[int, Expression] = {}
        self._sources: dict[int, Source] = {}

    def at(self, frame: int) -> Expression:
        found = self._known.get(frame)
        if found is None:
            found = self._known[frame] = self._read(frame)
        return found

    def takes_gradient(self, frame: int) -> bool:
        """Whether the expression at a frame takes a gradient, so that it holds what runs forward and backward."""
        expression = self.at(frame)
        return expression.gradient or takes_gradient(expression.name)

    def place_of(self, frame: int) -> Place:
        frames = self._tables.frames
        return frames.line[frame], frames.column[frame], frames.end_line[frame], frames.end_column[frame]

    def in_reach(self, called: int, caller: int) -> bool:
        """Whether what is called stands in a function or class that the caller stands in, too: the frames of both."""
        frames = self._tables.frames
        if frames.file[called] != frames.file[caller]:
            return False
        source = self._source(frames.file[called])
        around = source.definitions_around(frames.line[called])[:-1]
        return bool(around) and around[-1] in source.definitions_around(frames.line[caller])

    def assigned_on_line(self, frame: int) -> str:
        """What the line of a frame begins to assign to, by its text alone; empty if nothing or not here."""
        return self._source(self._tables.frames.file[frame]).assigned_on(self._tables.frames.line[frame])

    def _source(self, file: int) -> Source:
        if file not in self._sources:
            self._sources[file] = source_of(self._tables, file)
        return self._sources[file]

    def _read(self, frame: int) -> Expression:
        tables = self._tables
        file, place = tables.frames.file[frame], self.place_of(frame)
        source = self._source(file)
        known = source.known.get(place)
        if known is None:
            known = source.known[place] = self._find(source, place, bool(tables.files.library[file]))
        assert isinstance(known, Expression)
        return known

    def _find(self, source: Source, place: Place, library: bool) -> Expression:
        if library:
            return Expression(_segment_name(source, place))
        if place[1] < 0:
            return _of_line(source, place[0])
        if place[3] < 0:
            return self._find_begun(source, place)
        found = source.find(place)
        if found.statement is None:
            name = _segment_name(source, place)
            return Expression(name, source.segment(place).strip() or f"line {place[0]}")
        if found.expression is None:
            expression = _of_statement(source, found.statement, place[0])
        else:
            expression = _of_expression(source, found.expression, found.statement)
        function = _lambda_name(found.function) if isinstance(found.function, ast.Lambda) else ""
        applied = found.operation or _unpacked(found)
        operation = source.place_of(applied) if applied is not None else None
        loop = loop_head(source, found.loop)
        loops = (*(loop_head(source, one) for one in found.outer), loop) if loop else ()
        places = tuple(source.place_of(one) for one in (*found.outer, found.loop) if one is not None)
        return replace(
            expression,
            loop=loop,
            loops=loops,
            loop_places=places,
            function=function,
            operation=operation,
            unpacks=isinstance(getattr(found.expression, "ctx", None), ast.Store),
        )

    def _find_begun(self, source: Source, place: Place) -> Expression:
        """What is known of a place without an end: where several operations begin there, not which one it is."""
        begun = source.operations_from(*place[:2])
        if not begun:
            return _of_line(source, place[0])
        found = self._find(source, source.place_of(begun[0]), library=False)
        return replace(found, name=found.variable) if found.variable.isidentifier() and len(begun) > 1 else found


def _unpacked(found: Found) -> ast.AST | None:
    """The operation whose result the targets of a statement take apart."""
    statement = found.statement
    if isinstance(statement, ast.Assign) and found.expression in statement.targets:
        return statement.value if isinstance(statement.value, OPERATIONS) else None
    return None


def _of_expression(source: Source, node: ast.AST, statement: ast.stmt) -> Expression:
    variable = assigned_to(statement, node)
    name = name_of(node) or variable or loop_head(source, node) or type(node).__name__.lower()
    if variable.isidentifier() and isinstance(node, (ast.ListComp, ast.DictComp, ast.SetComp)):
        # What is collected has a name of its own; the last step of each turn says less.
        name = variable
    elif variable.isidentifier() and isinstance(node, ast.Call) and isinstance(_mapped(node), ast.Lambda):
        name = f"{variable} = {name}"
    place, text = written(source, statement)
    generators = getattr(node, "generators", None)
    iterated = source.text_of(generators[0].iter) if generators else ""
    nameless = isinstance(node, ast.Call) and _calls_lambda(node.func)
    called = _called(node)
    gradients = source.names_of(_makes_gradient)
    # The derivative of a gradient along a direction holds that gradient.
    derived = node.args[0] if isinstance(node, ast.Call) and node.args and _callee(node.func) in _ALONG else None
    of_gradient = derived is not None and (_makes_gradient(derived) or _bound_name(derived) in gradients)
    return Expression(
        name,
        source.text_of(node),
        variable,
        place,
        text,
        iterated=iterated,
        nameless=nameless,
        called=_object(called),
        gradient=_bound_name(called) in gradients or of_gradient,
    )


def _called(node: ast.AST) -> ast.AST | None:
    """The object that an expression calls, also where it is mapped or a checkpoint."""
    called = node.func if isinstance(node, ast.Call) else None
    while isinstance(called, ast.Call) and called.args and _callee(called.func).removeprefix("filter_") in _SAME_OBJECT:
        called = called.args[0]
    return called


def _makes_gradient(node: ast.AST) -> bool:
    """Whether an expression, or a decorator, makes a function that takes a gradient: `grad(f)`, `jit(grad(f))`."""
    if not isinstance(node, ast.Call):
        return isinstance(node, (ast.Name, ast.Attribute)) and bool(_MAKES_GRADIENT.fullmatch(_callee(node)))
    if isinstance(node.func, ast.Call):
        return False
    name = _callee(node.func)
    if name.removeprefix("filter_") in _SAME_OBJECT | _SEEN_THROUGH:
        return bool(node.args) and _makes_gradient(node.args[0])
    return bool(_MAKES_GRADIENT.fullmatch(name))


def _object(called: ast.AST | None) -> str:
    """The attribute or variable that holds what is called, where its name says anything."""
    if isinstance(called, ast.Subscript):
        return _taken_name(called)
    name = _bound_name(called)
    says_little = name in POOR or name in _VERBS or name.startswith("_")
    return "" if says_little or (len(name) <= _FEW_LETTERS and isinstance(called, ast.Name)) else name


def _taken_name(node: ast.Subscript) -> str:
    """What is taken of several by a constant: `layers[-1]`, and `encoder` of `parts["encoder"]`."""
    key, held = ast.unparse(node.slice), _bound_name(node.value)
    taken = key[1:-1] if key.startswith("'") else f"{held}[{key}]" if key.removeprefix("-").isdecimal() else ""
    return taken if taken.isidentifier() or (held and "[" in taken) else ""


def _bound_name(node: ast.AST | None) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _of_line(source: Source, line: int) -> Expression:
    """What is known of a place without columns: of several operations on its line, not which one it is."""
    statement = source.statement_at(line)
    found = _of_statement(source, statement, line)
    operations = [node for node in ast.walk(statement) if isinstance(node, OPERATIONS)] if statement else []
    return replace(found, name=found.variable) if found.variable.isidentifier() and len(operations) > 1 else found


def _of_statement(source: Source, statement: ast.stmt | None, line: int) -> Expression:
    if statement is None:
        return Expression("", f"line {line}")
    place, text = written(source, statement)
    value = getattr(statement, "value", None)
    name = name_of(_taken_of(value)) if value is not None else ""
    return Expression(name, text, assigned_to(statement, value), place, text)


def _comparison_name(node: ast.Compare) -> str:
    op = type(node.ops[0])
    return _OPERATORS.get(_MIRRORED.get(op, op) if isinstance(node.left, ast.Constant) else op, "")


def name_of(node: ast.AST) -> str:
    """A short name for what an expression does, or an empty one."""
    if isinstance(node, ast.Call):
        return _call_name(node)
    if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.AugAssign)):
        return _OPERATORS.get(type(node.op), "")
    if isinstance(node, ast.Compare):
        return _comparison_name(node)
    if isinstance(node, ast.Subscript):
        return _index_name(node)
    if isinstance(node, ast.Attribute):
        return "transpose" if node.attr in ("T", "mT") else node.attr
    if isinstance(node, (ast.Tuple, ast.List)):
        return ", ".join(map(ast.unparse, node.elts)) if isinstance(node.ctx, ast.Store) else ""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Lambda):
        return "<lambda>"
    if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
        return name_of(node.elt)
    if isinstance(node, ast.DictComp):
        return name_of(node.value)
    if isinstance(node, (ast.Await, ast.Starred, ast.NamedExpr, ast.FormattedValue)):
        return name_of(node.value)
    return ""


def _index_name(node: ast.Subscript) -> str:
    """What is taken of which array: `x[i, j]`, and `table[ids]` for `self.params["table"][ids]`."""
    return ast.unparse(ast.Subscript(ast.Name(_held_name(node.value)), node.slice, node.ctx))


def _held_name(node: ast.AST) -> str:
    """What a person calls an array: a variable, an attribute, the key that it has in what holds it."""
    if isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return key if isinstance(key, str) and key.isidentifier() else _index_name(node)
    return _bound_name(node) or "…"


def _call_name(node: ast.Call) -> str:
    """The function that is called; of one that maps or repeats another, that one tells what is done."""
    name = _callee(node.func)
    mapped = _mapped(node)
    if mapped is not None:
        return _function_name(mapped) or name
    if name in _CONDITIONS and node.args:
        return f"{name}({ast.unparse(node.args[0])})"
    place = _LOOPS.get(name, len(node.args))
    if place < len(node.args):
        function = _without_checkpoint(node.args[place])
        # Of loops in each other, that one is the inner one says which it is.
        body = _INNER if _callee(function) == _INNER else _function_name(function)
        return f"{name}({body})" if _NAMED.fullmatch(body) and body not in BODIES else name
    return name


def is_control(name: str) -> bool:
    """Whether a call of this name repeats a function, or chooses one of several."""
    callee = name.partition("(")[0]
    return callee in _LOOPS or callee in _CONDITIONS


def is_loop(name: str) -> bool:
    """Whether a call of this name repeats a function: `fori_loop`, `scan(step)`."""
    return name.partition("(")[0] in _LOOPS


def _mapped(node: ast.Call) -> ast.expr | None:
    """The function that a call maps over a tree."""
    return node.args[0] if node.args and _callee(node.func) in _MAPS else None


def _without_checkpoint(node: ast.expr) -> ast.expr:
    """A function that is repeated is told by its name: that it is made again on the way back is told where it is."""
    while isinstance(node, ast.Call) and node.args and _callee(node.func) in _CHECKPOINTS:
        node = node.args[0]
    return node


def _function_name(node: ast.AST) -> str:
    """What a function that is handed to another one does."""
    if isinstance(node, ast.Lambda):
        return _lambda_name(node)
    name = _callee(node)
    return "" if name in GENERIC else name


def _lambda_name(node: ast.Lambda) -> str:
    """A lambda is named by what it calls, or by its text where that is a formula.

    So is one that hands on other values beside that, or takes one of what that gives.
    """
    body = node.body
    if isinstance(body, ast.Tuple):
        computed = [one for one in body.elts if not only_names(one)]
        body = computed[0] if len(computed) == 1 else body
    body = _taken_of(body)
    if isinstance(body, ast.Call):
        name = _call_name(body)
        return "" if name in GENERIC else name
    return ast.unparse(body) if isinstance(body, (ast.BinOp, ast.UnaryOp, ast.Compare)) else ""


def _taken_of(node: ast.expr) -> ast.expr:
    """What an expression takes a constant part of: to take one of what an operation gives is none."""
    while isinstance(node, ast.Subscript) and is_constant_index(node) and isinstance(node.value, OPERATIONS):
        node = node.value
    return node


def _calls_lambda(node: ast.AST) -> bool:
    """Whether a function is a lambda, or what a transformation makes of one: `vmap(lambda x: ...)`."""
    while isinstance(node, ast.Call) and node.args:
        node = node.args[0]
    return isinstance(node, ast.Lambda)


def _callee(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = node.value
        if node.attr in _VERBS and isinstance(base, (ast.Name, ast.Attribute)):
            owner = base.id if isinstance(base, ast.Name) else base.attr
            return node.attr if owner in ("self", "cls", "super") else f"{owner}.{node.attr}"
        return node.attr
    if isinstance(node, ast.Call):
        outer = _callee(node.func)
        if node.args and (outer in _TELLING or outer.endswith("grad")):
            function = node.args[0]
            inner = _lambda_name(function) if isinstance(function, ast.Lambda) else _callee(function)
            return f"{outer}({inner})" if inner and inner != "<lambda>" else outer
        if outer in _SEEN_THROUGH and node.args:
            return _callee(node.args[0]) or outer
        return "" if outer in _PUT_TOGETHER else outer
    if isinstance(node, ast.Subscript):
        return _taken_name(node) or _callee(node.value)
    return "<lambda>" if isinstance(node, ast.Lambda) else ""


def _segment_name(source: Source, place: Place) -> str:
    """The name of an expression by its text alone, where there is no tree around it."""
    try:
        (statement,) = ast.parse(source.segment(place).strip()).body
    except (SyntaxError, ValueError, RecursionError):
        return ""
    name = name_of(statement.value if isinstance(statement, ast.Expr) else statement)
    return name if name not in GENERIC else source.assigned_before(place) or name
