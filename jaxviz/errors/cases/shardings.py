"""Meshes with explicit axes, where the sharding of an array is a part of its type, and meshes set inside a function."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

import jax

from jaxviz.errors.cases.outside import explored_with
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, parameters_of
from jaxviz.errors.rewriting import lines_of
from jaxviz.errors.trial import cannot_work

_PAGE = "https://docs.jax.dev/en/latest/notebooks/explicit-sharding.html"


def _unlike(failure: Failure, match: re.Match[str]) -> Explanation:
    """Arrays that lie differently over the devices, in an operation that moves none of them by itself."""
    specs = {text: _spec(value) for text, value in failure.arrays(failure.expression).items()}
    # In the order in which they are written.
    names = sorted((one for one in specs if specs[one] is not None), key=failure.text(failure.expression).find)
    arrays = {text: specs[text] for text in names}
    listed = ", ".join(f"`{text}` lies as `{spec}`" for text, spec in list(arrays.items())[:4])
    reason = (
        "The axes of this mesh are explicit: how an array lies over the devices is a part of its type, and nothing is "
        f"moved without being told. {f'Here {listed}.' if listed else ''}"
    )
    cures = [Cure(text, code) for text, code in _moved(failure, [*arrays]) if not cannot_work(failure, code)][:1]
    return Explanation("explicit sharding", _title(failure, len(arrays)), reason.strip(), tuple(cures), _PAGE)


def _title(failure: Failure, arrays: int) -> str:
    shown = " ".join(failure.text(failure.expression).split()) or failure.name
    if "out_sharding" in failure.message:
        return f"how the result of `{shown}` lies must be said"
    return f"arrays in `{shown}` lie differently" if arrays > 1 else f"`{shown}` wants an array that lies otherwise"


def _spec(value: object) -> object | None:
    """How an array lies over explicit axes; None where there are none."""
    sharding = getattr(getattr(value, "aval", value), "sharding", None)
    spec = getattr(sharding, "spec", None)
    return spec if spec is not None and any(spec) else None


def _moved(failure: Failure, names: list[str]) -> Iterator[tuple[str, str]]:
    """The failing statement with arrays brought to where the first lies, or whole to every device, and with what
    the result is to be told."""
    node, source, statement = failure.expression, failure.source, failure.statement
    if source is None or statement is None or hasattr(statement, "body") or node is None:
        return
    if isinstance(node, ast.Subscript):
        array = source.text(node.value)
        for spec in (_WHOLE, _whole_beside(array)):
            taken = f"{array}.at[{source.text(node.slice)}].get(out_sharding={spec})"
            yield "Say how the result lies, here whole on every device:", failure.with_(node, taken)
    product = _product(failure, node)
    for spec in (_WHOLE, _whole_beside(names[0])) if product and names else ():
        told = f"{product}, out_sharding={spec})"
        yield "Say how the result lies, here whole on every device:", failure.with_(node, told)
    parts = [one for one in ast.walk(node) if isinstance(one, (ast.Name, ast.Attribute, ast.Subscript))]
    texts: dict[ast.AST, str] = {one: source.text(one) for one in parts}
    for first, other in itertools.permutations(names, 2):
        there = f"{_RESHARD}({other}, jax.typeof({first}).sharding)"
        code = source.replaced(statement, {part: there for part, text in texts.items() if text == other})
        yield f"Move `{other}` to where `{first}` lies:", code
    for count in range(1, len(names) + 1):
        for some in itertools.combinations(reversed(names), count):
            whole = {part: f"{_RESHARD}({text}, {_whole_beside(text)})" for part, text in texts.items() if text in some}
            listed = " and ".join(f"`{one}`" for one in some)
            yield f"Have {listed} whole on every device:", source.replaced(statement, whole)


def _product(failure: Failure, node: ast.expr) -> str:
    """A product as a call that can be told more, without its last bracket; empty for anything else."""
    if "out_sharding" not in failure.message:
        return ""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return f"jnp.matmul({failure.text(node.left)}, {failure.text(node.right)}"
    takes = isinstance(node, ast.Call) and "out_sharding" in parameters_of(failure.value(node.func))
    return failure.text(node)[:-1] if takes else ""


# Where it is found until 0.6.
_RESHARD = "jax.reshard" if hasattr(jax, "reshard") else "jax.sharding.reshard"
_WHOLE = "jax.sharding.PartitionSpec()"


def _whole_beside(array: str) -> str:
    """The same where no mesh is set: on that of an array."""
    return f"jax.sharding.NamedSharding(jax.typeof({array}).sharding.mesh, {_WHOLE})"


def _set_inside(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("set_mesh")
    mesh = failure.text(call.args[0]) if call is not None and call.args else "mesh"
    given = ", ".join(parameters_of(failure.fn))
    function = explored_with(failure, _without_mesh(failure))
    without = "\n".join(line for line in function.splitlines() if line.strip())
    around = f"with jax.set_mesh({mesh}):\n    result = {failure.name}({given})"
    cures = (Cure("Set it around the call, not inside:", f"{without}\n\n{around}", inside=False),) if without else ()
    reason = (
        "Which mesh there is decides how a function is traced and compiled, so it is set before, outside of all that "
        f"JAX traces. `{failure.name}` is being traced here."
    )
    return Explanation(
        "mesh set inside", "`set_mesh` stands inside a traced function", reason, cures, api_page("jax.set_mesh")
    )


def _without_mesh(failure: Failure) -> str:
    """What stays of the statement that sets a mesh."""
    statement = failure.statement
    if isinstance(statement, ast.With) and len(statement.items) == 1:
        column = " " * statement.col_offset
        return f"\n{column}".join(lines_of(failure, statement.body))
    return ""


def _asserted(failure: Failure, match: re.Match[str]) -> Explanation:
    """`with_sharding_constraint` over explicit axes, where it moves nothing."""
    call = failure.calls("with_sharding_constraint")
    shown = failure.text(call.args[0]) if call is not None and call.args else "the array"
    reason = (
        "The axes of this mesh are explicit: how an array lies is a part of its type, and `with_sharding_constraint` "
        f"only checks it there. `{shown}` lies as `{match[1]}`, and `{match[2]}` is asked for."
    )
    cures = (
        (Cure("Move it:", failure.with_(call.func, "jax.reshard")),) if call is not None and len(call.args) == 2 else ()
    )
    return Explanation("explicit sharding", f"`{shown}` does not lie as is checked", reason, cures, _PAGE)


CASES = (
    Case(
        "explicit sharding",
        ("AssertionError",),
        r"`with_sharding_constraint` acts as an assert[\s\S]*The array sharding: (P\(.*?\)) did not match the sharding "
        r"provided\D*?(P\(.*?\))",
        _asserted,
    ),
    Case("explicit sharding", ("ShardingTypeError",), "", _unlike),
    Case("mesh set inside", ("ValueError",), r"`set_mesh` can only be used outside of `jax.jit`", _set_inside),
)
