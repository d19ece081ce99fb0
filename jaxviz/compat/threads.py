"""What JAX knows in one thread alone: settings that were made by `with`, and the mesh in use.

What is computed for a person in another thread must be computed with theirs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import Any

import jax

# What makes another program of a function, and the name of what sets it. Not `disable_jit`: what is compiled here is
# compiled in any case.
_SETTINGS = {
    "jax_enable_x64": "enable_x64",
    "jax_default_matmul_precision": "default_matmul_precision",
    "jax_default_device": "default_device",
    "jax_default_prng_impl": "default_prng_impl",
    "jax_numpy_dtype_promotion": "numpy_dtype_promotion",
    "jax_numpy_rank_promotion": "numpy_rank_promotion",
    "jax_threefry_partitionable": "threefry_partitionable",
}
# What looks at the values of any program.
_CHECKS = {"jax_debug_nans": "debug_nans", "jax_debug_infs": "debug_infs"}

Entered = Callable[[], AbstractContextManager[None]]


def surroundings(*, checks: bool = True) -> Entered:
    """What this thread has now: entered in another, or later, it is there again."""
    names = _SETTINGS | _CHECKS if checks else _SETTINGS
    settings = {name: _setting(name) for name in names}
    meshes = _meshes()

    @contextmanager
    def entered() -> Iterator[None]:
        with ExitStack() as stack:
            for name, value in settings.items():
                if _setting(name) != value:
                    stack.enter_context(_setter(names[name])(getattr(value, "value", value)))
            for enter in meshes:
                stack.enter_context(enter())
            yield

    return entered


@contextmanager
def unchecked() -> Iterator[None]:
    """Nothing that this thread runs is ended by a value that is not finite."""
    with ExitStack() as stack:
        for name, setter in _CHECKS.items():
            if _setting(name):
                stack.enter_context(_setter(setter)(False))
        yield


@contextmanager
def setting(option: str, value: Any) -> Iterator[None]:
    """A setting of JAX, for this thread alone where JAX can do that.

    Who stops a compilation has the settings back at once, though the compiler goes on in its thread.
    """
    state = None
    with suppress(ImportError):
        # Private; there from 0.6 to 0.12. What is public is for all threads.
        from jax._src import config

        state = getattr(config, option.removeprefix("jax_"), None)
    if callable(state):
        with state(value):
            yield
        return
    before = _setting(option)
    jax.config.update(option, value)
    try:
        yield
    finally:
        jax.config.update(option, before)


@contextmanager
def outside_the_cache() -> Iterator[None]:
    """Nothing is read from the persistent compilation cache, because its key covers tags too, and nothing is stored."""
    wanted = {
        "jax_compilation_cache_include_metadata_in_key": True,
        "jax_persistent_cache_min_compile_time_secs": float("inf"),
    }
    with ExitStack() as stack:
        for option, value in wanted.items():
            stack.enter_context(setting(option, value))
        yield


def _setting(name: str) -> Any:
    return getattr(jax.config, name, None)


def _setter(name: str) -> Callable[[Any], AbstractContextManager[Any]]:
    if not hasattr(jax, name):
        # `enable_x64` before 0.8.
        from jax import experimental

        return getattr(experimental, name)  # type: ignore[no-any-return]
    return getattr(jax, name)  # type: ignore[no-any-return]


def _meshes() -> list[Callable[[], AbstractContextManager[Any]]]:
    found: list[Callable[[], AbstractContextManager[Any]]] = []
    # `set_mesh` is there from 0.7 on.
    if hasattr(jax, "set_mesh") and hasattr(jax.sharding, "get_mesh"):
        try:
            mesh = jax.sharding.get_mesh()
            if not mesh.empty:
                found.append(lambda: jax.set_mesh(mesh))
        except ValueError:
            # While a function is traced, there is none to ask for.
            pass
    try:
        # That of `with mesh:` is private, and `with mesh:` itself is going away.
        from jax._src.mesh import thread_resources

        physical = thread_resources.env.physical_mesh
        if not physical.empty and not found:
            found.append(lambda: _quietly(physical))
    except (ImportError, AttributeError):
        pass
    return found


@contextmanager
def _quietly(mesh: Any) -> Iterator[None]:
    """Enters a mesh; a person who does is told by JAX already that there will be another way."""
    with ExitStack() as stack:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            stack.enter_context(mesh)
        yield
