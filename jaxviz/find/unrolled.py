"""Python loops that were unrolled: JAX traced each turn, and the compiler gets the body again and again.

The copies are the stacks of the outline, which are of the same shape but for what they index and the objects they are
given. A stack is a loop where the person's source has one around all of it. What a function makes that
calls itself are copies too (`recursion.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from jaxviz.find.copies import COUNTED, LISTED, Flow, flow_of
from jaxviz.find.finding import ADVICE, NOTE, WARNING, Finding, Line, Subject
from jaxviz.find.flow import SAME
from jaxviz.find.jax_repeats import made_by_jax
from jaxviz.find.recursion import Copies, recursions
from jaxviz.find.written_loops import CALL, LOOP, RECURSION, UNSEEN, Loop, loops_around, unseen_loop
from jaxviz.graph import OPERATION, Column
from jaxviz.units import plural

# So many copies, and so many equations in all, are worth a word; fewer copies where there is much in them.
_COPIES, _EQUATIONS = 8, 64
_FEW_COPIES, _MANY_EQUATIONS = 4, 400
# So many copies are worth a word though no two make the same shapes; fewer are written for what they do: neighbours.
_MANY_COPIES = 32
# Turns that need nothing but their count and what they hand on cost little to write as a loop: fewer are worth a note.
_EQUATIONS_OF_COUNTED = 16
# Many turns that hand something on are worth a word though there are but one or two equations in each.
_MANY_TURNS, _EQUATIONS_OF_MANY = 24, 40
# So many equations cost seconds to trace and compile.
_COSTLY_EQUATIONS = 1_000
# A stack that has this much less in each copy than another one of the loop is a detail of a turn.
_DETAIL = 4
# So many turns, the first and the last, may lack something that the others have.
_ENDS = 2
# Equations that go from an array to one number and add that.
_SUM = 6
# What turns do that only take an array apart.
_TAKING_APART = SAME | {"slice", "dynamic_slice"}
NO_ROW = -1


_SAYS = {
    LOOP: "The Python loop `{head}` on {where} ran",
    CALL: "The call `{head}` on {where} called its function again and again",
    RECURSION: "By `{head}` on {where}, a function called itself",
    UNSEEN: "A loop around {where}, whose source is not at hand, ran",
}


class Stack(NamedTuple):
    """A stack of the outline, and the first node of each copy and the one past its last."""

    #: Its row in the outline; `NO_ROW` of what the outline has in another form.
    row: int
    first: Column
    end: Column


class Unrolled(NamedTuple):
    """An unrolled loop: its stacks, one for each part of a derivative, and how its turns lie in these.

    `sizes` are how often the loop ran and how often each loop in it did, as far as that is known; `turns` is how many
    turns of the loop each copy holds, where it takes several to be like the next.
    """

    loop: Loop
    sizes: tuple[int, ...]
    turns: int
    equations: int
    flow: Flow
    stacks: list[Stack]

    @property
    def copies(self) -> int:
        return self.sizes[0]


def find(subject: Subject) -> Iterator[Finding]:
    """One finding for each outermost unrolled loop, its forward part and its backward part together."""
    for unrolled in unrolled_loops(subject):
        yield _finding(subject, unrolled)


def unrolled_loops(subject: Subject) -> Iterator[Unrolled]:
    """The outermost unrolled loops that are worth a word; of one that takes an array apart for another, that one."""
    found = list(_unrolled_loops(subject))
    for one in found:
        carrying = [other for other in found if other is not one and other.flow.carried]
        if not (carrying and one.flow.pieces and _only_takes_apart(subject, one, carrying)):
            yield one


def _only_takes_apart(subject: Subject, found: Unrolled, others: list[Unrolled]) -> bool:
    """Whether the turns of a loop only take arrays apart, and nothing but the turns of others reads what that gives."""
    graph, strings = subject.graph, subject.graph.tables.strings
    sources = graph.operands.source
    known = sources >= 0
    made, read_there = np.zeros((2, len(graph)), bool)
    read_there[np.concatenate([_nodes(other) for other in others])] = True
    new = _nodes(found)
    # The end of the last turn may stand after the last copy.
    for _ in range(1 + _ENDS):
        operations = graph.nodes.kind[new] == OPERATION
        if not operations.all() or not {strings[op] for op in set(graph.nodes.op[new].tolist())} <= _TAKING_APART:
            return False
        made[new] = True
        reading = graph.operand_node[known][made[graph.value_node[sources[known]]]]
        new = np.unique(reading[~made[reading] & ~read_there[reading]])
        if not len(new):
            return True
    return False


def _nodes(found: Unrolled) -> Column:
    """The nodes from the first turn to the last, wherever they stand."""
    return np.concatenate([np.arange(stack.first[0], stack.end[-1], dtype=np.int32) for stack in found.stacks])


def _unrolled_loops(subject: Subject) -> Iterator[Unrolled]:
    inside = np.zeros(len(subject.graph) + 1, bool)
    for loop, copies in recursions(subject):
        found = _recursive(subject, loop, copies)
        # Of functions that call one another in turns, one speaks for all.
        if found is None or all(inside[(stack.first[0] + stack.end[-1]) // 2] for stack in found.stacks):
            continue
        for stack in found.stacks:
            inside[stack.first[0] : stack.end[-1]] = True
        yield found
    for loop, stacks in _whole(_stacks_by_loop(subject)).items():
        unrolled = _unrolled(subject, loop, stacks)
        if unrolled is not None and not all(inside[stack.first[0]] for stack in unrolled.stacks):
            yield unrolled


def _recursive(subject: Subject, loop: Loop, copies: list[Copies]) -> Unrolled | None:
    """A function that calls itself; None where it is not worth a word."""
    stacks = [Stack(NO_ROW, first, end) for first, end in copies]
    flow = flow_of(subject.graph, stacks[0].first, stacks[0].end)
    length = len(stacks[0].first)
    kinds = subject.graph.nodes.kind
    equations = sum(int(np.count_nonzero(kinds[one.first[0] : one.end[-1]] == OPERATION)) for one in stacks)
    if flow.alike < min(_FEW_COPIES, length) or not _worth_it(flow, flow.alike, equations * flow.alike // length):
        return None
    return Unrolled(loop, (length,), 1, equations, flow, stacks)


def _stacks_by_loop(subject: Subject) -> dict[Loop, list[Stack]]:
    """The outermost stacks that are loops, by the loop around them."""
    outline = subject.outline
    found: dict[Loop, list[Stack]] = {}
    loop_of: dict[int, Loop] = {}
    others: list[Stack] = []
    told = -1
    for row in np.flatnonzero(outline.count > 1).tolist():
        stack = _stack(subject, row) if outline.first[row] >= told else None
        if stack is None:
            continue
        loops = _loops_of(subject, stack)
        if not loops and not (subject.of_hlo and made_by_jax(subject, stack.first, stack.end)):
            loops = _known(subject, stack, found) or unseen_loop(subject, stack.first, stack.end)
        if not loops:
            others.append(stack)
            continue
        told = int(outline.end[row])
        loop_of[row] = loops[0]
        found.setdefault(loops[0], []).append(stack)
    # Of what a checkpoint runs forward, JAX knows no frame around it; of what it runs again on the way back, it does.
    for stack in others:
        loop = loop_of.get(int(outline.twin[stack.row]))
        if loop is not None:
            found[loop].append(stack)
    return found


def _known(subject: Subject, stack: Stack, found: Iterable[Loop]) -> list[Loop]:
    """The unseen loop that was found before on lines of these copies, as forward of what runs backward."""
    frames = subject.graph.tables.frames
    made = np.unique(subject.graph.nodes.stack[stack.first[0] : stack.end[0]]).tolist()
    lines = {Line(frames.file[frame], frames.line[frame]) for one in made for frame in subject.own_frames(one)}
    unseen = (one for one in found if one.how == UNSEEN)
    return [one for one in unseen if any(Line(one.line.file, line) in lines for line in one.lines)][:1]


def _unrolled(subject: Subject, loop: Loop, stacks: list[Stack]) -> Unrolled | None:
    """The loop with its stacks; None where it is not worth a word."""
    outline = subject.outline
    own = [stack for stack in stacks if (_loops_of(subject, stack) or [loop])[0] == loop]
    count = max(int(outline.count[stack.row]) for stack in own)
    each = max(int(outline.equations[stack.row]) // len(stack.first) for stack in own)
    stacks = [stack for stack in stacks if stack not in own or not _is_detail(subject, stack, count, each)]
    inner = max(_inner_count(subject, stack.row, loop) for stack in own)
    equations = sum(int(outline.equations[stack.row]) for stack in stacks)
    telling, flow = _telling(subject, stacks)
    alike, length = flow.alike, len(telling.first)
    # What does not depend on one another may be made for each leaf of a tree, which no frame of JAX tells.
    if loop.how == UNSEEN and not flow.carried:
        return None
    told_unlike = flow.grows or (flow.differs and length >= _MANY_COPIES)
    if alike < min(_FEW_COPIES, length) and not told_unlike:
        return None
    # As for the norm of all gradients: nobody keeps these as one array for that.
    if flow.adds_up and equations <= _SUM * count:
        return None
    # The first and the last turn often lack something.
    share = 1.0 if told_unlike or length - alike <= _ENDS else alike / length
    # A loop of two or three turns in another is written for what it does, not to be repeated.
    if max(count, inner) < _FEW_COPIES or not _worth_it(flow, round(count * inner * share), round(equations * share)):
        return None
    if loop.how == UNSEEN:
        count = _times_made(subject, telling, count)
    elif subject.of_hlo and 0 < count - loop.turns <= _ENDS and loop.turns:
        # XLA may begin them in the midst of a turn.
        count = loop.turns
    sizes = _sizes(loop, count, flow.period) if inner == 1 else (count, inner)
    if inner == 1 and len(sizes) > 1:
        step = count // sizes[0]
        flow = flow_of(subject.graph, stacks[0].first[::step], stacks[0].end[step - 1 :: step])
        return Unrolled(loop.outer[1 - len(sizes)], sizes, 1, equations, flow, stacks)
    in_groups = not loop.outer and loop.turns > count and loop.turns % count == 0
    return Unrolled(loop, sizes, loop.turns // count if in_groups else 1, equations, flow, stacks)


def _telling(subject: Subject, stacks: list[Stack]) -> tuple[Stack, Flow]:
    """The stack that says what is handed on, and its flow: the forward part; of what XLA made in several places, the
    most of it that is alike."""
    if subject.of_hlo:
        backward = [subject.is_backward(int(stack.first[0])) for stack in stacks]
        most = [-int(subject.outline.equations[stack.row]) for stack in stacks]
        stacks = [stacks[row] for row in sorted(range(len(stacks)), key=lambda row: (backward[row], most[row]))]
    flows = [flow_of(subject.graph, stack.first, stack.end) for stack in (stacks if subject.of_hlo else stacks[:1])]
    alike = (row for row, flow in enumerate(flows) if flow.alike >= min(_FEW_COPIES, len(stacks[row].first)))
    row = next(alike, 0)
    return stacks[row], flows[row]


def _times_made(subject: Subject, stack: Stack, count: int) -> int:
    """How often most of what is in some copies was made: where these begin in the midst of a turn, there is one more
    copy than turns."""
    nodes = subject.graph.nodes
    inside = np.arange(stack.first[0], stack.end[-1])
    inside = inside[nodes.kind[inside] == OPERATION]
    made = np.stack([nodes.op[inside], nodes.scope[inside], nodes.stack[inside]])
    times = np.bincount(np.unique(made, axis=1, return_counts=True)[1])
    usual = int(np.argmax(times * np.arange(len(times))))
    return usual if 0 < count - usual <= _ENDS else count


def _is_detail(subject: Subject, stack: Stack, count: int, each: int) -> bool:
    """Whether a stack is of what stands again and again in one turn of a loop with `each` equations in each."""
    copies, equations = len(stack.first), int(subject.outline.equations[stack.row])
    return copies < count and _DETAIL * equations < each * copies


def _sizes(loop: Loop, count: int, period: int) -> tuple[int, ...]:
    """How often each of the loops around one another ran, outermost first, where their turns are all alike."""
    sizes: tuple[int, ...] = ()
    for number, one in enumerate((loop, *loop.outer[::-1])):
        turns = one.turns or (period if number == 0 else 0)
        if number == len(loop.outer) or turns < 2 or count % turns or count == turns:
            break
        sizes = (turns, *sizes)
        count //= turns
    return (count, *sizes)


def _whole(stacks_of: dict[Loop, list[Stack]]) -> dict[Loop, list[Stack]]:
    """The stacks of each loop with those of the loops in it, which stand alone where its own turns are not alike, as
    they often are not on the way back."""
    found: dict[Loop, list[Stack]] = {}
    for loop in stacks_of:
        around = [other for other in stacks_of if loop.is_in(other)]
        outer = min(around, key=lambda other: other.line.line, default=loop)
        found.setdefault(outer, []).extend(stacks_of[loop])
    return {loop: sorted(stacks, key=lambda stack: int(stack.first[0])) for loop, stacks in found.items()}


def stacks_in(subject: Subject, stack: Stack) -> list[Stack]:
    """The outermost stacks in the first copy of a stack that are loops of their own."""
    if stack.row == NO_ROW:
        return []
    outline, end, found = subject.outline, int(stack.first[0]), []
    around = set(_loops_of(subject, stack))
    inside = _inside(subject, stack.row)
    inside = inside[(outline.count[inside] > 1) & (outline.first[inside] >= stack.first[0])]
    for row in inside[outline.end[inside] <= stack.end[0]].tolist():
        inner = _stack(subject, row)
        if inner is None or outline.first[row] < end or around.issuperset(_loops_of(subject, inner)):
            continue
        end = int(outline.end[row])
        found.append(inner)
    return found


def _stack(subject: Subject, row: int) -> Stack | None:
    """The copies of a row, those that are cut short too; None where it has none of its own."""
    outline = subject.outline
    inside = _inside(subject, row)
    copies = inside[(outline.parent[inside] == row) & (outline.copy[inside] >= 0)]
    return Stack(row, outline.first[copies], outline.end[copies]) if len(copies) > 1 else None


def _inside(subject: Subject, row: int) -> Column:
    """The rows inside a row. They stand in preorder, so they come right after it."""
    outline = subject.outline
    after = row + 1 + int(np.searchsorted(outline.first[row + 1 :], outline.end[row]))
    return np.arange(row + 1, after, dtype=np.int32)


def _inner_count(subject: Subject, row: int, loop: Loop) -> int:
    """How many copies of another loop stand in one copy of a stack."""
    outline = subject.outline
    inside = _inside(subject, row)
    # Of what is in all copies alike, the first speaks for all.
    stacks = inside[(outline.count[inside] > 1) & (outline.like[inside] < 0)]
    counts = [1]
    for one in stacks.tolist():
        stack = _stack(subject, one)
        if stack is not None and any(other != loop for other in _loops_of(subject, stack)):
            counts.append(int(outline.count[one]))
    return max(counts)


def _worth_it(flow: Flow, copies: int, equations: int) -> bool:
    counted = flow.simple and flow.carried > 0 and flow.given == 0
    many = flow.simple and flow.carried > 0 and copies >= _MANY_TURNS
    least = _EQUATIONS_OF_COUNTED if counted else _EQUATIONS_OF_MANY if many else _EQUATIONS
    return (copies >= _COPIES and equations >= least) or (copies >= _FEW_COPIES and equations >= _MANY_EQUATIONS)


def _severity(equations: int) -> str:
    if equations < _EQUATIONS:
        return NOTE
    return WARNING if equations >= _COSTLY_EQUATIONS else ADVICE


def _loops_of(subject: Subject, stack: Stack) -> list[Loop]:
    """The loops around all of a copy, the outermost first."""
    found = loops_around(subject, int(stack.first[0]), int(stack.end[0]))
    if not found and subject.of_hlo:
        # XLA runs what stands before a loop, or behind it, with its first turn.
        middle = len(stack.first) // 2
        found = loops_around(subject, int(stack.first[middle]), int(stack.end[middle]))
    return found


def _finding(subject: Subject, found: Unrolled) -> Finding:
    loop, flow, equations = found.loop, found.flow, found.equations
    where = f"line {loop.line.line} of {_file(subject, loop)}"
    around = f", in the loop `{loop.outer[-1].head}` on line {loop.outer[-1].line.line}," if loop.outer else ""
    stacks = found.stacks
    backward = any(subject.is_backward(int(stack.first[0])) for stack in stacks)
    places = ", and again in the backward pass" if backward else f", in {len(stacks)} places"
    again = places if len(stacks) > 1 else ""
    each = max(1, round(equations / found.copies))
    return Finding(
        kind="unrolled",
        severity=_severity(equations),
        title=f"unrolled from line {loop.line.line}: {_copies(found)}",
        text=(
            f"{_SAYS[loop.how].format(head=loop.head, where=where + around)} while JAX traced, so its body is there "
            f"{found.copies * found.turns:,} times{again}: {_cost(subject, equations)} in place of {each:,}."
            + _alike(found)
            + subject.tracing(equations)
        ),
        remedy=_remedy(found, collects=flow.collected and not subject.has_gradient),
        nodes=_nodes(found),
        lines=(loop.line,),
        figures={
            "copies": found.copies,
            "equations": equations,
            "carried": flow.carried,
            "given": flow.given + flow.pieces,
        },
    )


def _copies(found: Unrolled) -> str:
    """How many there are, how many of each loop inside, and how many together are like the next ones."""
    inside = "".join(f", each with {size:,} of the loop inside" for size in found.sizes[1:])
    groups = f", alike in groups of {found.turns}" if found.turns > 1 else ""
    return f"{found.copies * found.turns:,} copies{inside}{groups}"


def _cost(subject: Subject, equations: int) -> str:
    if subject.of_hlo or subject.lowered:
        return plural(equations, "operation")
    return f"{plural(equations, 'equation')} to trace and to compile"


def _file(subject: Subject, loop: Loop) -> str:
    tables = subject.graph.tables
    return tables.strings[tables.files.label[loop.line.file]]


def _alike(found: Unrolled) -> str:
    """What is to be said of turns that are not all alike."""
    if found.turns > 1:
        return f" It takes {found.turns} turns until they are alike again."
    if found.flow.differs or found.copies - found.flow.alike <= _ENDS or len(found.sizes) > 1:
        return ""
    return f" At most {found.flow.alike} of them in a row are alike in what they compute and in its shapes."


def _remedy(found: Unrolled, collects: bool) -> str:
    flow, count = found.flow, found.copies
    once = "which is traced and compiled once"
    if flow.grows:
        return (
            "What goes from turn to turn has another shape in each. Give it its last shape from the start and write "
            "into it with x.at[i].set(...): then the turns are alike, and jax.lax.fori_loop can run them."
        )
    if flow.differs:
        return (
            "What the turns make inside has another shape in each. Give it the largest shape in all of them, and leave "
            "out what is too much with jnp.where: then they are alike, and jax.lax.fori_loop can run them."
        )
    if not flow.simple:
        return (
            "The turns read what turns far before them made, so the body cannot become a loop as it stands: "
            "carry one array for what they read, written with x.at[i].set(...), and use jax.lax.fori_loop."
        )
    if not flow.carried:
        return "The turns do not depend on one another: jax.vmap over them is one computation in place of many."
    kept = f" The carry holds what the last {flow.lag} turns made." if flow.lag > 1 else ""
    kept += " What each turn makes comes back stacked." if collects else ""
    if flow.given:
        return (
            "Each turn reads something of its own: stack these into one array each and use "
            f"jax.lax.scan(body, carry, stacked), {once}.{kept}"
        )
    if flow.pieces:
        return (
            "Each turn reads its own piece of an array: jax.lax.scan(body, carry, array) hands out the pieces along "
            f"the first axis, and is traced and compiled once.{kept}"
        )
    if flow.numbers == LISTED:
        return (
            "Each turn has numbers of its own: put these into an array and use jax.lax.scan(body, carry, numbers), "
            f"{once}.{kept}"
        )
    if collects:
        return f"jax.lax.scan(body, carry, {_turns_of(flow, count)}) is traced and compiled once.{kept}"
    return f"jax.lax.fori_loop(0, {count}, lambda i, carry: ..., carry) is traced and compiled once.{kept}"


def _turns_of(flow: Flow, count: int) -> str:
    return f"jnp.arange({count})" if flow.numbers == COUNTED else f"length={count}"
