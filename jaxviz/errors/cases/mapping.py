"""What `vmap` asks of arguments, of `in_axes` and of `out_axes`."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import jax
import jax.numpy as jnp

from jaxviz.arrays import is_array
from jaxviz.errors.cases.given import argument, function_given, result_of
from jaxviz.errors.cases.mapped import made, mapped
from jaxviz.errors.cases.objects import REGISTER, as_tree, object_of_class
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure
from jaxviz.errors.rewriting import rewritten, with_keyword
from jaxviz.errors.trial import cannot_work, given_by

_PAGE = api_page("jax.vmap")
_VALUE = ("ValueError",)


def _axes(failure: Failure, axes: str) -> str:
    """The statement that makes the mapped function, with other `in_axes`."""
    found = mapped(failure)
    return found.reading(found.with_axes(axes)) if found is not None else f"jax.vmap(f, in_axes={axes})"


def _cannot_take(failure: Failure, axes: str) -> bool:
    """Whether the call is sure to fail with these `in_axes`."""
    found = mapped(failure)
    return found is not None and found.cannot_read(found.with_axes(axes))


def _given(failure: Failure) -> list[ast.expr]:
    """What the mapped function is called with, as far as that is seen."""
    found = mapped(failure)
    return found.given if found is not None else []


def _tuple(axes: list[str]) -> str:
    return f"({axes[0]},)" if len(axes) == 1 else f"({', '.join(axes)})"


def _sizes(failure: Failure, match: re.Match[str]) -> Explanation:
    rows = re.findall(
        r"size (\d+): axis (\d+) of (?:argument )?(\S+)(?: of type (\S+?))?;?$", failure.message, re.MULTILINE
    )
    sizes = ", ".join(f"`{name}` has {size}" for size, _, name, _ in rows[:4])
    reason = (
        "`vmap` calls the function once for each position along the mapped axes, so these must have one length"
        f"{f': {sizes}' if sizes else ''}. An argument that is the same for all of them is not mapped."
    )
    if mapped(failure) is None:
        return Explanation("vmap sizes", _LENGTHS, f"{reason} `in_axes` says which are.", _of_made(failure), _PAGE)
    given = _given(failure)
    shapes = [getattr(failure.value(argument), "shape", None) for argument in given]
    others = _other_axes(shapes)
    tried = [*_of_one_length(shapes), *others]
    axes = tried[0] if tried else ["0", *["None"] * (max(2, len(given), len(rows)) - 1)]
    written = next((one for one in tried if not _cannot_take(failure, _tuple(one))), axes)
    cure = Cure(f"Say{_WHICH}", _axes(failure, _tuple(written)))
    if keys := _key_for_each(failure):
        cures = (*keys, replace(cure, text=f"Or {cure.text[0].lower()}{cure.text[1:]}"))
    else:
        cures = (cure,) if written in others else (cure, *_each_with_each(failure, given))
    return Explanation("vmap sizes", _LENGTHS, reason, cures, _PAGE)


_LENGTHS = "`vmap` maps over axes of different lengths"


def _of_made(failure: Failure) -> tuple[Cure, ...]:
    """The axes with which a mapped function is known to work, where it is not seen how that was made."""
    found = made(failure)
    shapes = [getattr(one, "shape", None) for one in found.args] if found is not None else []
    for axes in (*_of_one_length(shapes), *_other_axes(shapes)):
        if found is not None and found.takes([None if axis == "None" else int(axis) for axis in axes]):
            code = found.reading(_tuple(axes))
            return (Cure(f"Say{_WHICH}", code),) if code else ()
    return ()


def _each_with_each(failure: Failure, given: list[ast.expr]) -> list[Cure]:
    """Two arguments of different lengths: the function mapped over the second inside of the first."""
    found = mapped(failure)
    if found is None or len(given) != 2 or len(found.vmap.args) != 1 or found.vmap.keywords:
        return []
    name, function = failure.text(found.vmap.func), failure.text(found.vmap.args[0])
    text = f"{name}({name}({function}, in_axes=(None, 0)), in_axes=(0, None))"
    if found.cannot_read(text):
        return []
    return [Cure("Or map each of the first with each of the second:", found.reading(text))]


def _of_one_length(shapes: list[tuple[int, ...] | None]) -> list[list[str]]:
    """Arguments of one length mapped and the others not: first as many as can be, and rows rather than a vector of
    weights for all of them."""
    mapped: dict[int, list[tuple[int, ...]]] = {}
    for shape in filter(None, shapes):
        mapped.setdefault(shape[0], []).append(shape)
    lengths = sorted(mapped, key=lambda length: (len(mapped[length]), max(map(len, mapped[length]))), reverse=True)
    found = [["0" if shape and shape[0] == length else "None" for shape in shapes] for length in lengths]
    return [axes for axes in found if "None" in axes]


def _other_axes(shapes: list[tuple[int, ...] | None]) -> list[list[str]]:
    """Axes of one length, one of each argument: rows of one beside columns of another."""
    known = [shape for shape in shapes if shape]
    if len(known) < len(shapes):
        return []
    sizes = [size for size in dict.fromkeys(known[0] if known else ()) if all(size in shape for shape in known)]
    return [[str(shape.index(size)) for shape in known] for size in sizes]


def _key_for_each(failure: Failure) -> list[Cure]:
    """One key for all turns: split into as many as there are, so that each draws other numbers."""
    found, given = mapped(failure), _given(failure)
    if found is None or len(found.vmap.args) != 1 or found.vmap.keywords:
        return []
    keys = [one for one in given if _is_one_key(failure.value(one))]
    types = [given_by(failure, failure.text(one)) for one in given if one not in keys]
    leaves = [leaf for type_ in types for leaf in jax.tree.leaves(type_) if leaf.shape]
    array = next((one for one in given if one not in keys and _rank_of(failure, one)), None)
    if len(keys) != 1 or not leaves:
        return []
    count = f"{failure.text(array)}.shape[0]" if array is not None else str(leaves[0].shape[0])
    code = failure.with_(keys[0], f"jax.random.split({failure.text(keys[0])}, {count})")
    cure = Cure("Split the key into one for each turn, so that each draws other numbers:", code)
    return [] if cannot_work(failure, code) else [cure]


def _is_one_key(value: object) -> bool:
    """Whether a value is one key, of the new kind or of the old, which is two whole numbers without sign."""
    if not is_array(value):
        return False
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    return (shape == () and jnp.issubdtype(dtype, jax.dtypes.prng_key)) or (shape == (2,) and dtype == jnp.uint32)


def _rank(failure: Failure, match: re.Match[str]) -> Explanation:
    axis, rank = int(match[1]), int(match[2])
    given = _given(failure)
    ranks = [_rank_of(failure, argument) for argument in given]
    axes = ["None" if known is not None and known <= 0 else "0" for known in ranks] or ["0", "None"]
    axes = (
        [_of_tree(_dictionary(failure, one)) or axis for one, axis in zip(given, axes, strict=True)] if given else axes
    )
    found = mapped(failure)
    named = found is not None and (len(found.vmap.args) > 1 or any(one.arg == "in_axes" for one in found.vmap.keywords))
    keys = _key_for_each(failure)
    if rank == 0 or not named:
        reason = (
            "`vmap` takes every argument apart along an axis, by default the first. "
            f"One of them is a single {'key' if keys else 'number'}, which has none."
        )
    else:
        reason = (
            f"`in_axes` says that `vmap` takes an argument apart along its axis {axis}. That argument has {rank} "
            f"{'axis' if rank == 1 else 'axes'}, of which the last is {rank - 1}."
        )
        axes = [str(rank - 1) if known is None or known == rank else "0" for known in ranks] or ["0"]
    written = axes[0] if len(axes) == 1 and axes[0][0] != "{" else _tuple(axes)
    cure = Cure(f"Or say{_WHICH}" if keys else f"Say{_WHICH}", _axes(failure, written))
    return Explanation("vmap rank", "`vmap` maps over an argument that has no such axis", reason, (*keys, cure), _PAGE)


_WHICH = " which arguments are mapped; None is the same for all:"


def _dictionary(failure: Failure, node: ast.expr) -> object:
    """A dictionary, by its value or as it is written."""
    if isinstance(node, ast.Dict) and all(isinstance(key, ast.Constant) for key in node.keys):
        keys = [getattr(key, "value", None) for key in node.keys]
        return dict(zip(keys, map(failure.value, node.values), strict=True))
    return failure.value(node)


def _of_tree(value: object) -> str:
    """The axes of a dictionary of arrays, of which some are single numbers."""
    if type(value) is not dict or not value or not all(isinstance(key, str) for key in value):
        return ""
    ranks = {key: len(getattr(leaf, "shape", ())) for key, leaf in value.items() if not isinstance(leaf, (dict, list))}
    if len(ranks) < len(value) or all(ranks.values()):
        return ""
    return "{" + ", ".join(f'"{key}": {0 if rank else None}' for key, rank in ranks.items()) + "}"


def _rank_of(failure: Failure, node: ast.expr) -> int | None:
    value = failure.value(node)
    if isinstance(node, ast.Constant) or isinstance(value, (int, float)):
        return 0
    shape = getattr(value, "shape", None)
    return len(shape) if shape is not None else None


def _count(failure: Failure, match: re.Match[str]) -> Explanation:
    wanted, count = int(match[1]), int(match[2])
    ranks = [_rank_of(failure, argument) for argument in _given(failure)]
    ranks = ranks if len(ranks) == count else [None] * count
    all_mapped = ["None" if rank == 0 else "0" for rank in ranks]
    # Or those that are not spoken of are the same for all.
    tries = [all_mapped, [*all_mapped[:wanted], *["None"] * (count - wanted)]]
    written = [_tuple(one) if one else "()" for one in tries]
    axes = next((one for one in written if not _cannot_take(failure, one)), written[0])
    reason = (
        f"`in_axes` has one entry for each argument that the mapped function is called with: here {wanted} for {count}."
    )
    cure = Cure(
        "Give as many, 0 for those that are mapped and None for those that are the same for all:", _axes(failure, axes)
    )
    return Explanation("vmap in_axes", "`in_axes` does not fit the arguments", f"{reason} {_HOW}", (cure,), _PAGE)


_HOW = "0 maps along the first axis, and None hands the argument on as it is."


def _tree(failure: Failure, match: re.Match[str]) -> Explanation:
    keys = re.search(r"symmetric difference on key sets is\s+(.+)", failure.message)
    differing = keys[1].split() if keys else []
    if until := re.search(r"got specification (.*) for value tree PyTreeDef\((.*)\)", failure.message):  # until 0.6
        one, other = (set(re.findall(r"'(\w+)':", part)) for part in until.groups())
        differing = sorted(one ^ other)
    bare = [key.strip("[]'\"") for key in differing]
    missing = f" They differ in {', '.join(f'`{key}`' for key in bare)}." if bare else ""
    reason = (
        f"A tree in `in_axes` or `out_axes` must be built like the argument or result, as far down as it "
        f"goes.{missing} One number stands for all that is below it."
    )
    cure = Cure("Give one number for a whole argument:", _axes(failure, "0"))
    return Explanation("vmap in_axes", "`in_axes` is built otherwise than the argument", reason, (cure,), _PAGE)


def _out(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("vmap", "filter_vmap")
    cures = []
    if call is not None:
        code = failure.with_(call, with_keyword(failure, call, "out_axes", "0"))
        cures = [Cure("Stack the results along the first axis, which is the default:", code)]
    reason = (
        "None says that every turn of the mapped function gives the same, so that one is enough. This result depends "
        "on a mapped argument, so there is one for each position."
    )
    title = "`out_axes` is None for a result that is not the same for all"
    return Explanation("vmap out_axes", title, reason, tuple(cures), _PAGE)


def _beyond(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """An axis of the stacked result that it has not."""
    if all(place.frame.f_code.co_name != "from_elt" for place in failure.places):
        return None
    axis, rank = int(match[1]), int(match[2])
    found = mapped(failure)
    call = found.vmap if found is not None else None
    named = argument(call, 2, "out_axes")
    there = "axis 0" if rank == 1 else f"axes 0 to {rank - 1}"
    reason = (
        (
            "`out_axes` says which axis of the stacked result counts the turns. One turn gives here a result with "
            f"{rank - 1} axes, so the stacked one has {there}, and no axis {axis}."
        )
        .replace("with 0 axes", "without axes")
        .replace("with 1 axes", "with one axis")
    )
    cures = []
    if found is not None and call is not None and failure.source is not None:
        written = [one for one in ast.walk(named) if isinstance(one, ast.Constant)] if named is not None else []
        wrong: dict[ast.AST, str] = {one: str(rank - 1) for one in written if one.value == axis}
        text = failure.source.replaced(call, wrong) if wrong else ""
        cures = [Cure("Name an axis that is there:", found.reading(text))] if text else []
    return Explanation(
        "vmap out_axes", f"`out_axes` asks for an axis {axis} of the result", reason, tuple(cures), _PAGE
    )


def _nothing(failure: Failure, match: re.Match[str]) -> Explanation:
    given = _given(failure)
    ranks = [_rank_of(failure, argument) for argument in given]
    mapped = next((place for place, rank in enumerate(ranks) if rank), 0)
    axes = ["0" if place == mapped else "None" for place in range(len(given))] or ["0"]
    cure = Cure("Map over an argument that has an axis:", _axes(failure, axes[0] if len(axes) == 1 else _tuple(axes)))
    reason = (
        "With None for every argument, nothing says how many turns there are. At least one argument must be mapped, or "
        "the number be given as `axis_size`."
    )
    return Explanation("vmap nothing", "`vmap` has nothing to map over", reason, (cure,), _PAGE)


def _arguments(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """A mapped function that takes more or fewer arguments than it is called with."""
    call, given = failure.calls("vmap", "filter_vmap", "pmap"), _given(failure)
    function = function_given(failure, call.args[0]) if call is not None and call.args else None
    if function is None or not given or any(isinstance(one, ast.Starred) for one in given):
        return None
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    listed = ", ".join(f"`{name}`" for name in names) or "none"
    texts = ", ".join(f"`{failure.text(one)}`" for one in given)
    reason = (
        "The mapped function is called with as many arguments as stand behind it, each without its mapped axis. It "
        f"takes {listed}, and is given {texts}. What is the same for all goes in with None in `in_axes`."
    )
    title = f"the mapped function takes {len(names)} arguments, and is given {len(given)}"
    return Explanation("vmap arguments", title, reason, (), _PAGE)


def _no_arrays(failure: Failure, match: re.Match[str]) -> Explanation:
    """Results of a mapped function that cannot be stacked, such as text."""
    call = failure.calls("vmap", "filter_vmap")
    function = function_given(failure, call.args[0]) if call is not None and call.args else None
    result, what = result_of(function), match[2].rpartition(".")[2]
    text = _without_constants(failure, result)
    cures = [Cure("Leave it out of the result; what is the same for all can be added after:", text)] if text else []
    register = as_tree(object_of_class(failure, what))
    if register:
        cures = [Cure(f"{REGISTER}:", register, inside=False)]
    shown = "an object" if register else f"{match[1]},"
    reason = (
        "`vmap` stacks into arrays what the function gives for each position. "
        f"It gives {shown} of the type {what}, of which there are no arrays."
    )
    return Explanation("vmap result", f"a mapped function gives a {what}", reason, tuple(cures), _PAGE)


def _without_constants(failure: Failure, result: ast.expr | None) -> str:
    """The code that gives a tuple, list or dictionary, without the text in it; empty where it is nothing else."""
    if isinstance(result, (ast.Tuple, ast.List)):
        kept = [failure.text(one) for one in result.elts if not _is_text(one)]
        inside = ", ".join(kept) + ("," if len(kept) == 1 and isinstance(result, ast.Tuple) else "")
        text = f"[{inside}]" if isinstance(result, ast.List) else f"({inside})"
        whole = len(kept) == len(result.elts)
    elif isinstance(result, ast.Dict):
        pairs = zip(result.keys, result.values, strict=True)
        kept = [f"{failure.text(key)}: {failure.text(one)}" for key, one in pairs if key and not _is_text(one)]
        text = f"{{{', '.join(kept)}}}"
        whole = len(kept) == len(result.values)
    else:
        return ""
    return rewritten(failure, result, text) if kept and not whole else ""


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))


CASES = (
    Case(
        "vmap result", ("TypeError",), r"Output from batched function ([\s\S]+) with type <class '([^']+)'>", _no_arrays
    ),
    Case("vmap arguments", ("TypeError",), r"missing \d+ required positional|takes \d+ positional arg", _arguments),
    Case("vmap sizes", _VALUE, r"vmap got inconsistent sizes", _sizes),
    Case(
        "vmap rank",
        _VALUE,
        r"vmap was requested to map its argument along axis (-?\d+).*but is only (\d+)",
        _rank,
    ),
    Case("vmap in_axes", _VALUE, r"got len\(in_axes\)=(\d+), len\(args\)=(\d+)", _count),
    Case("vmap in_axes", _VALUE, r"vmap in_axes specification must be a tree prefix", _tree),
    Case(
        "vmap out_axes",
        _VALUE,
        r"vmap.* out_axes.* but output was batched|vmap has mapped output but out_axes is",
        _out,
    ),
    Case("vmap out_axes", _VALUE, r"axis (-?\d+) is out of bounds for array of dimension (\d+)", _beyond),
    Case("vmap nothing", _VALUE, r"vmap must have at least one non-None value in in_axes", _nothing),
)
