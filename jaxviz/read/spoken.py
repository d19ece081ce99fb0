"""What functions are called, as people say it: `train_step`, not `main.<locals>.train_step`.

What a decorator gives is called `wrapper` or the like by custom, and does nothing but call what it was made of. Such a
function is told by what made it.

>>> kept_name("main.<locals>.Model.loss"), kept_name("scaled.<locals>.decorator.<locals>.wrapper")
('Model.loss', 'scaled.wrapper')
>>> kept_name("Dense.<locals>.apply")
'Dense.apply'
>>> said("Block.__call__"), said("scaled.wrapper"), said("Model.loss")
('Block', 'scaled', 'Model.loss')
"""

from __future__ import annotations

import re

_INSIDE = ".<locals>."

# What decorators give, and what gives decorators.
_OF_DECORATORS = re.compile(
    r"_*((new_)?(wrapper|wrapped|inner|decorated)(_(fn|func?|function))?|deco(rator|rate)?|wrap)_*"
)

# What functions that make others give, where the name says nothing: `apply` of `Dense(8)`.
_OF_MAKERS = frozenset({"apply", "apply_fn", "apply_fun"})

# What libraries put around a function, a method or the body of a loop.
_OF_LIBRARIES = re.compile(
    r"_*(new_|wrapped_)?(fn|func?|function|call|method|body|cond)(_(fn|fun|func))?(_(aux|wrap(per|ped)))?_*"
    r"|_\w+Wrapper|BoundMethod|\w*JitWrapped|Partial|filter_primitive_bind"
)


def kept_name(qualified: str) -> str:
    """The name of a function by its qualified one: without what it stands in, but for what made a wrapper."""
    *around, name = qualified.split(_INSIDE)
    if _OF_DECORATORS.fullmatch(name) or name in _OF_MAKERS:
        for outer in reversed(around):
            maker = outer.rpartition(".")[2]
            if not _OF_DECORATORS.fullmatch(maker):
                return f"{maker}.{name}"
    return name


def said(name: str) -> str:
    """What is called where a function of this name is: of an object its class, of a wrapper what made it."""
    name = name.removesuffix(".__call__")
    maker, _, own = name.rpartition(".")
    return maker if maker and _OF_DECORATORS.fullmatch(own) else name


def passes_on(name: str) -> bool:
    """Whether a function of a library, or a class whose objects are called, does nothing but call what it was given."""
    return bool(_OF_LIBRARIES.fullmatch(name) or _OF_DECORATORS.fullmatch(name))
