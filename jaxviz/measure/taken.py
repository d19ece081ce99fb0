"""Whether a device still does anything: what was stopped and goes on may have taken all of its threads.

A run that does not get on is no sign of that, because it may just take long. So the device is asked for something small
that needs all of its threads, and only where it gives no answer, the run is given up.
"""

from __future__ import annotations

from contextlib import suppress
from threading import Event, Thread
from time import perf_counter, sleep
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxviz.compat.threads import outside_the_cache
from jaxviz.measure.errors import RunError
from jaxviz.measure.waiting import still_going

# Seconds without progress after which a device is asked, and that it may take to answer.
_SUSPICIOUS, _PATIENCE = 2.5, 2.5
# Seconds between two looks at an answer.
_LOOK = 0.01
# Large enough for every thread of a device to have a part in it, small enough to take a few milliseconds.
_SIDE = 512


def going_on_text() -> str:
    """What was stopped and goes on, as the start of a sentence; empty where there is none."""
    count = still_going()
    if not count:
        return ""
    return (
        "One thing that was stopped before goes on" if count == 1 else f"{count} things that were stopped before go on"
    )


class Watch:
    """Looks after one run: `look` is called several times a second, with how far the run is."""

    def __init__(self, call: str, device: Any = None) -> None:
        self._call, self.device = call, device
        self._far: Any = None
        self._since = perf_counter()
        self._asked: float | None = None

    def look(self, far: Any) -> None:
        """`RunError` once it is known that the run will not get on."""
        now = perf_counter()
        if far != self._far:
            self._far, self._since, self._asked = far, now, None
            return
        if now - self._since < _SUSPICIOUS:
            return
        going = going_on_text()
        if not going:
            self._asked = None
            return
        if self._asked is None:
            self._asked = now
        device = jax.devices()[0] if self.device is None else self.device
        if _asked(device).is_set():
            # It takes long by itself.
            _questions.pop(device, None)
            self._since, self._asked = now, None
        elif now - self._asked > _PATIENCE:
            raise RunError(
                f"{self._call} does not get to run. {going} all the same, and nothing else gets through to {device}: "
                "restart the kernel, which ends that."
            )


# Of each device, the last thing that it was asked: while it does not answer, it is not asked again.
_questions: dict[Any, Event] = {}


def _asked(device: Any) -> Event:
    """Is set once a device has computed something that needs all of its threads."""
    if device not in _questions:
        _questions[device] = answered = Event()
        Thread(target=_ask, args=(device, answered), name="jaxviz question", daemon=True).start()
    return _questions[device]


def _ask(device: Any, answered: Event) -> None:
    # What fails has an answer too.
    with suppress(Exception), outside_the_cache():
        result = _answer(jax.device_put(np.ones((_SIDE, _SIDE), np.float32), device))
        # Not in the runtime, where the end of the process would meet this thread.
        while not result.is_ready():
            sleep(_LOOK)
    answered.set()


_answer = jax.jit(lambda x: jnp.tanh(x @ x))
