"""The name stack of an equation: the modules and named scopes that it stands in, and its phase.

A scope reads `transpose(jvp(Model))/Block_0`: transformations wrap the name after them. What JAX itself puts there for
loops and calls says nothing to a person and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_WRAPPED = re.compile(r"([a-z_]+)\((.*)\)\Z", re.DOTALL)
# A class as its library is imported: `eqx.nn.Linear`.
_CLASS = re.compile(r"(?:[a-z_]\w*\.)+([A-Z]\w*)\Z")
_NUMBERED = re.compile(r"(?:_\d+|\[-?\d+\])\Z")
_NUMBER = re.compile(r"\d+")
# So many names that differ by their numbers alone are those of layers.
_LAYERS = 3

#: Names that JAX puts on the name stack for its own calls, loops and choices.
MACHINERY = frozenset({"while", "body", "cond", "body_fun", "cond_fun", "checkpoint", "remat", "scan"})
MACHINERY |= {"closed_call", "eval_jaxpr", "pjit"}
_BRANCH = re.compile(r"branch_\d+_fun\Z")

#: What JAX calls the part of a backward pass that makes again what the forward pass did not keep.
RECOMPUTED = "rematted_computation"

FORWARD, BACKWARD = 1, 2


class Scope(NamedTuple):
    """What one name stack says. `phase` is 0, FORWARD or BACKWARD; `modules` are outermost first.

    `recomputed` is how many modules stand around what is made again, -1 where nothing is. `outer_phase` is the phase
    that the outermost derivative alone gives. `classes` are the modules that are known by their class alone, which says
    nothing of what the person calls them: by how many stand around each.
    """

    phase: int
    modules: tuple[str, ...]
    recomputed: int
    outer_phase: int
    classes: frozenset[int] = frozenset()


def parse_scope(text: str) -> Scope:
    """Take a name stack apart.

    >>> parse_scope("transpose(jvp(Model))/Block_0")
    Scope(phase=2, modules=('Model', 'Block_0'), recomputed=-1, outer_phase=2, classes=frozenset())
    >>> parse_scope("eqx.nn.MLP/eqx.nn.Linear").modules
    ('MLP', 'Linear')
    >>> parse_scope("VAE.generate/VAE.decode/Dense_0").modules
    ('VAE.generate', 'decode', 'Dense_0')
    """
    phase, recomputed, outer_phase = 0, -1, 0
    modules: list[str] = []
    classes: list[int] = []
    last = owner = ""
    for part in text.split("/") if text else ():
        name, outer = part, phase
        while wrapped := _WRAPPED.match(name):
            transform, name = wrapped.groups()
            if transform == "transpose":
                phase = BACKWARD
            elif transform == "jvp":
                phase = phase or FORWARD
            outer_phase = outer_phase or phase
        is_class = _CLASS.match(name)
        name = is_class[1] if is_class else name
        if name == RECOMPUTED:
            recomputed = len(modules)
        elif name != part and outer == BACKWARD and last == name:
            # JAX names it again, `transpose(jvp(Model))/jvp(Model)`, where some of it is made again.
            continue
        elif name and name not in MACHINERY and "->" not in name and not _BRANCH.match(name):
            if is_class:
                classes.append(len(modules))
            # What a module calls of itself, `self.decode(z)`, is called without it.
            module, _, method = name.rpartition(".")
            modules.append(method if module and module == owner else name)
            last, owner = name, module or name
    return Scope(phase, tuple(modules), recomputed, outer_phase, frozenset(classes))


def unnumbered(name: str) -> str:
    """A module's name without its number among its like: `Block` for `Block_11`, `layers` for `layers[-1]`."""
    return _NUMBERED.sub("", name)


def stems_of(names: Iterable[str]) -> dict[str, str]:
    """What modules have in common with their like, by their names.

    Names that a person numbered are taken for those of layers where there are several: `h0_mlp`, `h1_mlp`, `h2_mlp`.

    >>> stems_of(["Block_0", "ln0", "ln1", "ln2", "fc1", "fc2"])["ln1"]
    'ln#'
    >>> stems_of(["Block_0", "ln0", "ln1", "ln2", "fc1", "fc2"])["fc1"]
    'fc1'
    """
    plain = {name: unnumbered(name) for name in names}
    alike: dict[str, int] = {}
    for name in set(plain.values()):
        stem = _NUMBER.sub("#", name)
        alike[stem] = alike.get(stem, 0) + 1
    return {
        name: stem if "#" in (stem := _NUMBER.sub("#", own)) and alike[stem] >= _LAYERS else own
        for name, own in plain.items()
    }
