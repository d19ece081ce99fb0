"""The programs of this Python process: what was explored, watched and recorded, by function and specialization.

The side panel of JupyterLab shows this list; `jv.session()` shows it anywhere. Arrays are not kept: a program that is
opened later is traced from the types of its arguments.
"""

from __future__ import annotations

import itertools
import sys
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

# What looks at programs is imported with the first one: `import jaxviz` must not wait for it.
if TYPE_CHECKING:
    from jaxviz.document import Document
    from jaxviz.exploration import Exploration
    from jaxviz.failed import FailedExploration
    from jaxviz.find import Finding, Line
    from jaxviz.find.differing import Reason
    from jaxviz.listening.listening import Compilation
    from jaxviz.loops.compare import Rebuilt
    from jaxviz.program.jit_options import Static
    from jaxviz.program.specialization import Definition, Specialization

#: So many programs are kept; of more, the oldest that nobody pinned are dropped.
MOST_PROGRAMS = 200
# So many specializations are remembered for the reasons of later ones.
_MOST_HISTORY = 2_000

EXPLORED, WATCHED, RECORDED, COMPILED = "explored", "watched", "recorded", "compiled"
# Lists of specializations that explain one another: what was explored or called was not compiled for it.
_HISTORIES = _EXPLORED, _CALLED, _COMPILED = "explored", "called", "compiled"


@dataclass(eq=False)
class Entry:
    """A program of the session."""

    id: str
    origin: str
    call: str
    specialization: Specialization
    reasons: tuple[Reason, ...]
    when: float
    #: Makes the exploration when it is first asked for.
    make: Callable[[], Exploration] = field(repr=False)
    seconds: Mapping[str, float] = field(default_factory=dict)
    #: Where the person's code called it: file and line.
    place: tuple[str, int] | None = None
    #: Whether JAX compiled it for the person's program, and not for a look at it.
    compiled: bool = True
    #: The error, of one that could not be traced.
    failed: FailedExploration | None = None
    label: str = ""
    pinned: bool = False
    #: Its unrolled loops that were rebuilt, by their numbers among the findings of such loops.
    rebuilt: dict[int, Rebuilt] = field(default_factory=dict, repr=False)
    _made: Any = None

    @property
    def function(self) -> str:
        """The name of the function."""
        return self.specialization.definition.name

    @property
    def exploration(self) -> Exploration:
        """The program, to be explored."""
        if self._made is None:
            self._made = self.make()
        return self._made

    def summary(self) -> dict[str, Any]:
        """What the side panel shows."""
        from jaxviz.find.recompiled import joined

        definition = self.specialization.definition
        return {
            "id": self.id,
            "origin": self.origin,
            "function": self.function,
            "group": _group(self.specialization),
            "defined": _place_text(definition.file, definition.line),
            "call": self.call,
            "signature": self.specialization.signature.text,
            "when": self.when,
            "seconds": {name: float(cost) for name, cost in self.seconds.items()},
            "kinds": [reason.kind for reason in self.reasons],
            "why": _why(self),
            "remedy": joined(reason.remedy for reason in self.reasons),
            "place": _place_text(*self.place) if self.place else "",
            "label": self.label,
            "pinned": self.pinned,
            "failed": self.failed is not None,
        }


Told = Callable[[dict[str, Any]], None]


class Session:
    """Programs in the order in which they came. `told` is called with each change, for the side panel."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._history: dict[str, list[Specialization]] = {name: [] for name in _HISTORIES}
        #: What each of these took, which is known only later.
        self._seconds: dict[str, list[Mapping[str, float]]] = {name: [] for name in _HISTORIES}
        self._numbers = itertools.count(1)
        self._compiled: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._lock = threading.RLock()
        self.dropped = 0
        self.told: Told | None = None
        self._listens = False
        #: No other session has it: what a kernel showed before its restart is not mixed up with what is there now.
        self.key = uuid.uuid4().hex[:12]

    # What comes in.

    def note_explored(self, exploration: Exploration) -> None:
        """A function was explored, or could not be traced. The same call of the same function again takes the place of
        the earlier one."""
        from jaxviz.program.specialization import Specialization, definition_of, settings_now, signature_of

        program = exploration.program
        places, names = program.said_static
        signature = signature_of(
            program.fn, program.args, program.kwargs, static_argnums=sorted(places), static_argnames=sorted(names)
        )
        special = Specialization(definition_of(program.fn), signature, settings_now(), time.time())
        make = _again(exploration)
        with self._lock:
            for entry in self._entries.values():
                if entry.origin == EXPLORED and entry.call == exploration.call and _is_same(entry, special):
                    entry.make, entry.when, entry._made = make, special.when, None
                    entry.failed = exploration.failed
                    entry.rebuilt.clear()
                    self._tell(entry)
                    break
            else:
                seconds, failed = program.seconds, exploration.failed
                entry = self._add(EXPLORED, exploration.call, special, make, seconds, None, _EXPLORED, failed)
            exploration.listed = f"{self.key}:{entry.id}"

    def note_compiled(self, compilation: Compilation, origin: str) -> None:
        """JAX compiled a function; a second time when its cost is known."""
        with self._lock:
            known = self._entries.get(self._compiled.get(compilation, ""))
            if known is not None:
                if known.origin == COMPILED:
                    # What the person asked for says more than that somebody looked.
                    known.origin = origin
                self._tell(known)
                return
            if compilation in self._compiled:
                # Deleted or dropped in the meantime.
                return
            entry = self._add(
                origin,
                compilation.call,
                compilation.specialization,
                partial(_recorded, compilation),
                compilation.seconds,
                compilation.place,
            )
            self._compiled[compilation] = entry.id

    def listen(self, listens: bool) -> None:
        """Lists every function of the person's that JAX compiles, for as long as somebody looks at the list."""
        from jaxviz.listening.listening import ear

        with self._lock:
            if listens != self._listens:
                self._listens = listens
                (ear.add if listens else ear.remove)(self._hear)

    def _hear(self, compilation: Compilation, whole: bool) -> None:
        if compilation.own:
            self.note_compiled(compilation, COMPILED)

    def note_called(self, special: Specialization, function: Any, args: Any, kwargs: Any) -> None:
        """A watched function that is not jitted was called with arguments of a new kind."""
        from jaxviz.exploration import Exploration
        from jaxviz.program.program import Program

        program = Program(function, *_abstract(args, kwargs))
        with self._lock:
            self._add(WATCHED, program.call, special, partial(Exploration, program), {}, None, _CALLED)

    def _add(
        self,
        origin: str,
        call: str,
        special: Specialization,
        make: Callable[[], Exploration],
        seconds: Mapping[str, float],
        place: tuple[str, int] | None,
        history_of: str = _COMPILED,
        failed: FailedExploration | None = None,
    ) -> Entry:
        from jaxviz.find.recompiled import reasons

        history = self._history[history_of]
        why = reasons(special, history)
        history.append(special)
        self._seconds[history_of].append(seconds)
        del history[:-_MOST_HISTORY], self._seconds[history_of][:-_MOST_HISTORY]
        entry = Entry(
            str(next(self._numbers)),
            origin,
            call,
            special,
            why,
            special.when,
            make,
            seconds,
            place,
            compiled=history_of == _COMPILED,
            failed=failed,
        )
        self._entries[entry.id] = entry
        too_many = max(0, len(self._entries) - MOST_PROGRAMS)
        for old in [one for one in self._entries.values() if not one.pinned][:too_many]:
            self.dropped += 1
            self.delete(old.id)
        self._tell(entry)
        return entry

    # What is asked.

    @property
    def programs(self) -> list[Entry]:
        """All programs, the oldest first."""
        with self._lock:
            return list(self._entries.values())

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The functions that were compiled again for a reason that can be mended."""
        from jaxviz.find.recompiled import find_recompiled

        with self._lock:
            return find_recompiled(self._history[_COMPILED], seconds=self._costs)

    @property
    def _costs(self) -> list[float]:
        """What each compilation took, as far as that is known."""
        return [sum(float(one) for one in seconds.values()) for seconds in self._seconds[_COMPILED]]

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, id: str | int) -> Entry:
        return self._entries[str(id)]

    def document(self, id: str) -> Document:
        """A program as data, with what is found in the session about its function."""
        from jaxviz.document import FindingEntry
        from jaxviz.find.recompiled import find_recompiled

        entry = self[id]
        if entry.failed is not None:
            return entry.failed.document()
        document = entry.exploration.document()
        with self._lock:
            definition = entry.specialization.definition
            found = find_recompiled(self._history[_COMPILED], definition, self._costs)
        found = tuple(replace(one, lines=_lines(document, definition)) for one in found)
        return replace(document, findings=(*(FindingEntry(0, one) for one in found), *document.findings))

    def compared(self, one: str, other: str) -> Document:
        """Two programs side by side as data, under the names that the person gave them."""
        from jaxviz.comparison import compare

        entries = (self[one], self[other])
        for entry in entries:
            if entry.failed is not None:
                raise ValueError(f"{entry.call} could not be traced: there is nothing to compare with")
        document = compare(*(entry.exploration for entry in entries)).document()
        return replace(
            document,
            programs=tuple(
                replace(program, name=entry.label or program.name)
                for program, entry in zip(document.programs, entries, strict=True)
            ),
        )

    def rename(self, id: str, label: str) -> None:
        """Gives a program a name of the person's choice; none takes it away."""
        with self._lock:
            self._entries[id].label = label.strip()
            self._tell(self._entries[id])

    def pin(self, id: str, pinned: bool) -> None:
        """A pinned program is not dropped."""
        with self._lock:
            self._entries[id].pinned = pinned
            self._tell(self._entries[id])

    def delete(self, id: str) -> None:
        """Takes a program off the list."""
        with self._lock:
            if self._entries.pop(id, None) is not None and self.told is not None:
                self.told({"type": "gone", "ids": [id], "dropped": self.dropped})

    def clear(self) -> None:
        """Takes all programs off the list that are not pinned."""
        for entry in self.programs:
            if not entry.pinned:
                self.delete(entry.id)

    def summaries(self) -> list[dict[str, Any]]:
        """What the side panel shows of all programs."""
        return [entry.summary() for entry in self.programs]

    def __repr__(self) -> str:
        if not self._entries:
            return "<jaxviz session: no programs yet; %jaxviz, @jv.watch and %%jaxviz make some>"
        lines = [f"<jaxviz session: {len(self._entries)} program{'s' * (len(self._entries) != 1)}>"]
        for entry in self.programs:
            cost = sum(entry.seconds.values())
            when = time.strftime("%H:%M:%S", time.localtime(entry.when))
            lines.append(f"{entry.id:>3}  {when}  {cost:6.2f} s  {entry.label or entry.call}: {_why(entry)}")
        lines += [f"{finding.title}: {finding.text} {finding.remedy}".rstrip() for finding in self.findings]
        return "\n".join(lines)

    def _tell(self, entry: Entry) -> None:
        if self.told is not None:
            self.told({"type": "program", "program": entry.summary()})


_session: Session | None = None


def session() -> Session:
    """The programs of this Python process."""
    global _session
    if _session is None:
        _session = Session()
        from jaxviz.notebook import channel

        channel.connect(_session)
    return _session


def announce() -> None:
    """Lets the side panel know of this process before its first program: whoever looks there may want all of them."""
    found = session()
    if found.told is not None:
        found.told({"type": "here"})


def note_explored(exploration: Exploration) -> None:
    """Lists what was explored, where somebody may look at the list: in IPython, and not in a script."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        session().note_explored(exploration)


def _why(entry: Entry) -> str:
    if entry.failed is not None:
        return f"could not be traced: {entry.failed.explanation.title}"
    kinds = [reason.kind for reason in entry.reasons]
    if not entry.compiled and kinds in (["first"], ["redefined"], ["unknown"]):
        return "you explored it" if entry.origin == EXPLORED else "it was called, not jitted"
    return "; ".join(reason.text for reason in entry.reasons)


def _is_same(entry: Entry, special: Specialization) -> bool:
    one, other = entry.specialization.definition, special.definition
    same = one.same_object(other) or other.made_again(one) or other.written_again(one)
    return same and entry.specialization.signature.text == special.signature.text


def _group(special: Specialization) -> str:
    """Specializations of one function have this in common, also after its cell was run again."""
    from jaxviz.program.specialization import is_cell

    definition = special.definition
    named = "<lambda>" not in definition.qualified
    file = "" if named and is_cell(definition.file) else definition.file
    return f"{definition.qualified}\0{file}" if named else f"{definition.qualified}\0{file}\0{definition.line}"


def _lines(document: Document, definition: Definition) -> tuple[Line, ...]:
    """The line of a function's definition, where its file is one of a document's."""
    from jaxviz.find.finding import Line

    tables = document.tables
    number = tables.find_string(definition.file)
    if number is None or number not in tables.files.path or definition.line <= 0:
        return ()
    return (Line(tables.files.path.index(number), definition.line),)


def _place_text(file: str, line: int) -> str:
    """A place as people know it: a cell by its number, a file by its name."""
    from jaxviz.read.frames import cell_number

    if not file:
        return ""
    cell = cell_number(file)
    return f"In [{cell}], line {line}" if cell is not None else f"{file.rpartition('/')[2]}, line {line}"


def _recorded(compilation: Compilation) -> Exploration:
    from jaxviz.exploration import Exploration

    return Exploration(compilation.program())


def _again(exploration: Exploration) -> Callable[[], Exploration]:
    """The exploration as long as somebody keeps it; else another of the same types of arguments."""
    from jaxviz.exploration import Exploration
    from jaxviz.program.program import Program

    program = exploration.program
    args, kwargs = _abstract(program.args, program.kwargs, program.said_static)
    kept = weakref.ref(exploration)
    call, with_passes = exploration.call, exploration.with_passes

    def make() -> Exploration:
        found = kept()
        if found is not None:
            return found
        made = Exploration(Program(program_fn, args, kwargs, options, target))
        made.call, made.with_passes = call, with_passes
        return made

    program_fn, options, target = program.fn, program.options, program.target
    return make


def _abstract(args: Any, kwargs: Any, static: Static | None = None) -> tuple[Any, Any]:
    """Arguments with types in place of arrays."""
    import jax

    def type_of(leaf: Any) -> Any:
        if not isinstance(leaf, jax.Array):
            return leaf
        return jax.ShapeDtypeStruct(
            leaf.shape, leaf.dtype, weak_type=getattr(leaf, "weak_type", False), sharding=_spread(leaf)
        )

    places, names = static or ((), ())
    kept = tuple(
        argument if number in places else jax.tree_util.tree_map(type_of, argument)
        for number, argument in enumerate(args)
    )
    return kept, {
        name: argument if name in names else jax.tree_util.tree_map(type_of, argument)
        for name, argument in kwargs.items()
    }


def _spread(array: Any) -> Any:
    """How an array lies on several devices; None for one device, which JAX chooses anyway."""
    sharding = getattr(array, "sharding", None)
    return sharding if sharding is not None and len(sharding.device_set) > 1 else None
