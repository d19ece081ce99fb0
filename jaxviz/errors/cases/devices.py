"""Arrays that are cut over the devices of a mesh: specs that do not fit the mesh, the arrays or each other."""

from __future__ import annotations

import ast
import re
from typing import Any

import jax

from jaxviz.arrays import is_array
from jaxviz.errors.cases.given import argument, function_given, result_of
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, plain
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.rewriting import rewritten
from jaxviz.errors.trial import cannot_work, given_by

_PAGE = api_page("jax.shard_map")
_SHARDING = "https://docs.jax.dev/en/latest/notebooks/Distributed_arrays_and_automatic_parallelization.html"
_VALUE = ("ValueError",)


def _axis_of_mesh(failure: Failure, match: re.Match[str]) -> Explanation:
    which, there, name = match.groups()
    known = sorted(re.findall(r"'(\w+)'", there))
    call = failure.calls("shard_map")
    named = [one for one in ast.walk(call) if isinstance(one, ast.Constant) and one.value == name] if call else []
    cures = []
    if known and named and failure.source is not None and failure.statement is not None:
        code = failure.source.replaced(failure.statement, dict.fromkeys(named, f'"{known[0]}"'))
        cures = [Cure("Name one that is there:", code)]
    listed = ", ".join(f"`{one}`" for one in known)
    reason = f"Names in `{which}` are those of axes of the mesh. This mesh has {listed}, and no `{name}`."
    return Explanation("mesh axis", f"the mesh has no axis `{name}`", reason, tuple(cures), _PAGE)


def _axis_of_spec(failure: Failure, match: re.Match[str]) -> Explanation:
    name, known = match[1], re.findall(r"'(\w+)'", match[2])
    statement = failure.statement
    named = (
        [one for one in ast.walk(statement) if isinstance(one, ast.Constant) and one.value == name] if statement else []
    )
    cures = []
    if known and named and failure.source is not None and statement is not None:
        code = failure.source.replaced(statement, dict.fromkeys(named, f'"{known[0]}"'))
        cures = [Cure("Name one that is there:", code)]
    listed = ", ".join(f"`{one}`" for one in known)
    reason = f"A spec names axes of the mesh that it stands beside. This mesh has {listed}, and no `{name}`."
    return Explanation("mesh axis", f"the mesh has no axis `{name}`", reason, tuple(cures), _SHARDING)


def _replicated(failure: Failure, match: re.Match[str]) -> Explanation:
    call = _shard_map(failure)
    spec = argument(call, 3, "in_specs")
    constants = [one.value for one in ast.walk(spec) if isinstance(one, ast.Constant)] if spec is not None else []
    axes: list[str] = [one for one in dict.fromkeys(constants) if isinstance(one, str)]
    result = result_of(function_given(failure, argument(call, 0, "f")))
    cures = []
    if axes and result is not None and not isinstance(result, (ast.Tuple, ast.Dict, ast.List)):
        over = f'"{axes[0]}"' if len(axes) == 1 else str(tuple(axes)).replace("'", '"')
        code = rewritten(failure, result, f"jax.lax.psum({failure.text(result)}, {over})")
        cures = [Cure("Bring them together, here by a sum over the devices:", code)]
    reason = (
        "An axis of the mesh that `out_specs` leaves out means: this result is equal on all devices along it. "
        "Each device computes with its own part, so the parts must be brought together first, or `out_specs` name the "
        "axis along which they lie."
    )
    title = "`out_specs` says that all devices have the same, and JAX cannot see that"
    return Explanation("replicated result", title, reason, tuple(cures), _PAGE)


def _not_shared(failure: Failure, match: re.Match[str]) -> Explanation:
    """An axis that does not come apart into one part for each device: filled up, and what is too much cut off."""
    axis, size, name, devices = int(match[1]), int(match[2]), match[3], int(match[4])
    call = failure.find(ast.Call)
    given = [one for one in call.args if _has_size(failure.value(one), axis, size)] if call is not None else []
    cures = []
    if call is not None and given and failure.source is not None:
        changes: dict[ast.AST, str] = {}
        for one in given:
            pairs = ["(0, 0)"] * failure.value(one).ndim
            pairs[axis] = f"(0, {-size % devices})"
            changes[one] = f"jnp.pad({failure.text(one)}, ({', '.join(pairs)}{',' * (len(pairs) == 1)}))"
        index = f"[{':, ' * axis}:{size}]"
        code = failure.source.replaced(call, changes)
        kept = given_by(failure, f"{code}{index}")
        cures = [Cure(f"Fill it up with zeros to {size + -size % devices}:", failure.with_(call, code))]
        if kept is not None or axis == 0:
            text = f"Fill it up with zeros to {size + -size % devices}, and cut the result again:"
            cures = [Cure(text, failure.with_(call, f"{code}{index}"))]
    reason = (
        f"The spec cuts axis {axis} into one part for each device along `{name}`; there are {devices} of these, and "
        f"{devices} does not divide {size}. {failure.types(failure.expression)}"
    )
    title = f"axis {axis} has {size} entries, which {devices} devices cannot share"
    return Explanation("mesh size", title, reason.strip(), tuple(cures), _PAGE)


def _uneven(failure: Failure, match: re.Match[str]) -> Explanation:
    """An array that is put over devices among which it does not come apart evenly."""
    axis, parts, size = (int(match[name] or match[f"of_{name}"]) for name in ("axis", "parts", "size"))
    call = failure.calls("reshard", "with_sharding_constraint", "device_put") or failure.find(ast.Call)
    given = argument(call, 0, "x", "xs")
    type_ = given_by(failure, failure.text(given)) if given is not None else None
    cures = []
    if given is not None and type_ is not None and _has_size(type_, axis, size):
        pairs = [f"(0, {-size % parts * (place == axis)})" for place in range(type_.ndim)]
        padded = f"jnp.pad({failure.text(given)}, {pairs[0] if len(pairs) == 1 else '(' + ', '.join(pairs) + ')'})"
        cures = [Cure(f"Fill it up with zeros to {size + -size % parts}:", failure.with_(given, padded))]
    reason = (
        f"The sharding cuts axis {axis} into {parts} parts of one size, and {parts} does not divide {size}. "
        f"{failure.types(failure.expression)}"
    )
    title = f"axis {axis} has {size} entries, which {parts} devices cannot share"
    return Explanation("mesh size", title, reason.strip(), tuple(cures), _SHARDING)


def _has_size(value: Any, axis: int, size: int) -> bool:
    return is_array(value) and value.ndim > axis and value.shape[axis] == size


def _shard_map(failure: Failure) -> ast.Call | None:
    """The call of `shard_map` that made what failed: in the failing statement, or before it in the same function."""
    call = failure.calls("shard_map")
    if call is not None or failure.source is None:
        return call
    around = failure.source.around(failure.expression) if failure.expression is not None else []
    function = next((one for one in around if isinstance(one, ast.FunctionDef)), None)
    made = [
        one
        for one in (ast.walk(function) if function is not None else ())
        if isinstance(one, ast.Call) and last_name(one.func) == "shard_map"
    ]
    return made[0] if len(made) == 1 else None


def _no_mesh(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("with_sharding_constraint", "reshard", "device_put")
    spec = argument(call, 1, "shardings", "out_shardings", "device")
    constants = [one.value for one in ast.walk(spec) if isinstance(one, ast.Constant)] if spec is not None else []
    names: list[str] = [name for name in constants if isinstance(name, str)]
    cures = []
    if spec is not None and len(names) == 1:
        mesh = f'jax.sharding.Mesh(jax.devices(), ("{names[0]}",))'
        code = failure.with_(spec, f"jax.sharding.NamedSharding({mesh}, {failure.text(spec)})")
        cures = [Cure("Say it with the spec, here for all devices in a row:", code)]
    shown = " ".join(failure.text(failure.expression).split())
    reason = f"A `PartitionSpec` names axes of a mesh. `{shown}` does not say of which, and none is set around it."
    return Explanation("no mesh", "nothing says which mesh the spec is for", reason, tuple(cures), _SHARDING)


def _entries_for_devices(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """`pmap`, which JAX makes of `shard_map`: what each device gets has more than one entry along the mapped axis."""
    inside = {place.frame.f_code.co_filename.rpartition("/")[2] for place in failure.places}
    call = failure.find(ast.Call)
    if not inside & {"pmap.py"}:
        return None
    devices = jax.local_device_count()
    cures = []
    mapped = _as_vmap(failure, call.func) if call is not None else ""
    if call is not None and mapped and not cannot_work(failure, code := failure.with_(call.func, mapped)):
        cures = [Cure("Map over the entries on each device, which works for any number of them:", code)]
    reason = (
        "`pmap` gives each device one entry of the mapped axis, so that there can be no more entries than devices, "
        f"here {devices}. {failure.types(call)}"
    )
    title = "`pmap` has more entries than there are devices"
    return Explanation("pmap", title, reason.strip(), tuple(cures), _PMAP)


def _as_vmap(failure: Failure, made: ast.expr) -> str:
    """What `pmap` made of a function, made by `vmap`; empty where it is not known how it was made."""
    name, tree = failure.text(made), failure.source.tree if failure.source is not None else None
    ways = [(made, "")]
    for node in ast.walk(tree) if tree is not None and isinstance(made, ast.Name) else ():
        if isinstance(node, ast.Assign) and [failure.text(one) for one in node.targets] == [name]:
            ways.append((node.value, ""))
        elif isinstance(node, ast.FunctionDef) and node.name == name and len(node.decorator_list) == 1:
            ways.append((node.decorator_list[0], f"{name}.__wrapped__"))
    way, function = ways[-1]
    given = way.args[:1] if isinstance(way, ast.Call) else []
    if isinstance(way, ast.Call) and not function and last_name(way.func) == "pmap" and len(way.args) == 1:
        function = failure.text(given[0])
    elif not function or last_name(given[0] if given else way) != "pmap":
        return ""
    options = way.keywords if isinstance(way, ast.Call) else []
    if not {option.arg for option in options} <= {"in_axes", "out_axes", "axis_name", "axis_size"}:
        return ""
    return f"jax.vmap({', '.join([function, *map(failure.text, options)])})"


_PMAP = "https://docs.jax.dev/en/latest/migrate_pmap.html"

CASES = (
    Case("pmap", _VALUE, r"cannot select an axis to squeeze out which has size not equal to one", _entries_for_devices),
    Case(
        "mesh size",
        _VALUE,
        r"maps array axis (\d+) \(of size (\d+)\) to mesh axis '?(\w+)'? \(of size (\d+)\)",
        _not_shared,
    ),
    Case(
        "mesh size",
        _VALUE,
        r"implies that the global size of its dimension (?P<axis>\d+) should be divisible by (?P<parts>\d+), but it is "
        r"equal to (?P<size>\d+)|implies that array axis (?P<of_axis>\d+) is partitioned (?P<of_parts>\d+) times, but "
        r"does not evenly divide the dimension size (?P<of_size>\d+)",
        _uneven,
    ),
    Case(
        "mesh axis",
        _VALUE,
        r"(in_specs|out_specs) argument must refer to an axis marked as manual "
        r"\((?:frozenset\()?\{?([^})]*)\}?\)?\)[\s\S]*refers to '?(\w+)'?",
        _axis_of_mesh,
    ),
    plain(
        "spec rank",
        _VALUE,
        r"(?:in_specs|out_specs)\S* is (\S*P(?:artitionSpec)?\(.*?\)) which has length (\d+)[\s\S]*?has shape "
        r"\w+(\[[\d,]*\])\S*,? which has rank (\d+)",
        "the spec $1 is longer than the array has axes",
        "A spec has one entry for each axis, the first ones may suffice. `$1` has $2, and the array $3 has $4 axes.",
        [
            ("Leave out what is too much; one number has none at all:", "P()"),
            ("Or give the value an axis, along which the parts of the devices lie:", "value[None]"),
        ],
        _PAGE,
    ),
    plain(
        "spec rank",
        _VALUE,
        r"is only valid for values of rank at least (\d+), but was applied to a value of rank (\d+)",
        "the sharding is for arrays of $1 axes, and this has $2",
        "A spec has one entry for each axis of the array, the first ones may suffice. $types",
        [("Leave out what is too much:", 'P("data")')],
        _SHARDING,
    ),
    plain(
        "specs of other arguments",
        _VALUE,
        r"shard_map (in_specs|out_specs)\n",
        "`$1` is built otherwise than the arguments or results",
        "There is one spec for each argument in `in_specs`, and one for each result in `out_specs`; one spec "
        "alone stands for all that is below it.",
        [("Give one for each:", 'jax.shard_map(f, mesh=mesh, in_specs=(P("data"), P("data")), out_specs=P("data"))')],
        _PAGE,
    ),
    plain(
        "specs of the input",
        _VALUE,
        r"in_specs passed to shard_map: (.*?) does not match the specs of the input: (.*?) for arg: \w+(\[[\d,]*\])",
        "the argument lies as $2, and `in_specs` says $1",
        "The axes of this mesh are explicit: the sharding is a part of the type of each array, and nothing is moved "
        "without being told. The argument $3 lies as $2.",
        [
            ("Move it first:", "jax.reshard($first, jax.sharding.NamedSharding(mesh, $1))"),
            (
                "Or let JAX choose, with a mesh whose axes are automatic:",
                "jax.make_mesh(shape, names, axis_types=(jax.sharding.AxisType.Auto,) * len(names))",
            ),
        ],
        _PAGE,
    ),
    Case(
        "replicated result",
        _VALUE,
        r"out_specs.*(?:is|are) not? ?(?:statically )?inferred to be replicated|which evaluates to False|"
        r"is mapped by (?:out_specs|mesh)|require replication which can't be statically inferred",
        _replicated,
    ),
    Case("mesh axis", _VALUE, r"Resource axis: (\w+) of .* is not found in mesh: \((.*?)\)", _axis_of_spec),
    plain(
        "explicit mesh",
        _VALUE,
        r"passed to with_sharding_constraint can only refer to Auto axes of the mesh",
        "`$text` is for meshes whose axes are automatic",
        "The axes of this mesh are explicit, as `jax.make_mesh` makes them: there a constraint is no hint to "
        "the compiler, but a move that is written in the program.",
        [
            ("Move it:", "jax.reshard($first, sharding)"),
            (
                "Or make the axes automatic:",
                "jax.make_mesh(shape, names, axis_types=(jax.sharding.AxisType.Auto,) * len(names))",
            ),
        ],
        _SHARDING,
    ),
    Case(
        "no mesh",
        ("RuntimeError", "ValueError"),
        r"requires a non-empty mesh|PartitionSpec when you are not under a mesh",
        _no_mesh,
    ),
    plain(
        "spec twice",
        ("ValueError", "DuplicateSpecError"),
        r"can map every mesh axis to at most one positional dimension, but (\S+\(.*?\)) has duplicate entries",
        "$1 names an axis of the mesh twice",
        "A device has one place along each axis of the mesh, so one axis of the mesh can cut one axis of the "
        "array. $1 uses it for two.",
        [("Use another axis of the mesh for the second, or none:", 'P("data", None)')],
        _SHARDING,
    ),
)
