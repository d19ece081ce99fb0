"""A second way to walk an HLO module beside its graph: jaxlib's own objects, without the readers."""

from __future__ import annotations

import re
from typing import Any

from jaxviz.read.hlo.graph import HloGraph

Leaf = tuple[str, int]

_LEAF = re.compile(r"[a-z]\w*\[")
_TUPLES = {"tuple", "get-tuple-element"}


class Instruction:
    """An instruction: its operation, and the elements that it reads, each of an instruction that is no tuple."""

    def __init__(self, found: Any, computation: str, known: dict[str, Instruction]) -> None:
        # Spaces are in no shape but after commas, so the operation is what comes before the first parenthesis after it.
        text = found.to_string()
        self.name = found.name
        self.computation = computation
        shape, self.opcode = _shape_and_opcode(text.partition(" = ")[2])
        self.leaves = len(_LEAF.findall(shape))
        self.elements = _elements(shape)
        operands = [operand.name for operand in found.operands()]
        self.reads: list[Leaf] = [leaf for operand in operands for leaf in known[operand].makes]
        self.makes: list[Leaf] = [(self.name, leaf) for leaf in range(self.leaves)]
        if self.opcode == "tuple":
            self.makes = self.reads
        elif self.opcode == "get-tuple-element":
            number = int(text.rpartition("index=")[2].partition(",")[0].split()[0])
            before = known[operands[0]]
            start = sum(before.elements[:number])
            self.makes = before.makes[start : start + before.elements[number]]


def _shape_and_opcode(text: str) -> tuple[str, str]:
    """At the first parenthesis outside the shape."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == " " and depth == 0:
            return text[:place], text[place + 1 :].partition("(")[0]
    raise AssertionError(text)


def _elements(shape: str) -> list[int]:
    """How many leaves each element of a tuple has."""
    found, depth = [], 0
    for token in re.findall(r"[()]|[a-z]\w*\[[^\]]*\](?:\{[^}]*\})?", re.sub(r"/\*.*?\*/", "", shape)):
        depth += (token == "(") - (token == ")")
        if depth == 1 and token not in "()":
            found.append(1)
        elif depth == 2 and token == "(":
            found.append(0)
        elif depth > 1 and token not in "()":
            found[-1] += 1
    return found


def instructions_of(module: Any) -> dict[str, Instruction]:
    """All instructions of a module by name, operands first."""
    known: dict[str, Instruction] = {}
    for computation in module.computations():
        waiting = list(computation.instructions())
        while waiting:
            found = waiting[-1]
            before = [operand for operand in found.operands() if operand.name not in known]
            waiting += before
            if not before:
                known.setdefault(found.name, Instruction(found, computation.name, known))
                waiting.pop()
    return known


def assert_same_flow(read: HloGraph, module: Any) -> int:
    """Assert that every instruction is there and reads what it reads in the module; give the number of instructions."""
    graph = read.graph
    known = instructions_of(module)
    text = module.to_string()
    roots = {known[name].computation: known[name] for name in re.findall(r"ROOT %(\S+) = ", text)}
    entry = re.search(r"ENTRY %(\S+) ", text)
    assert entry is not None

    leaf_of: dict[int, Leaf] = {}
    region_computation: dict[int, str] = {0: entry[1]}
    names: dict[int, set[str]] = {}
    for node in graph:
        name = read.instruction[node.index]
        if node.kind == "result":
            continue
        instruction = known[name]
        assert region_computation.setdefault(node.region, instruction.computation) == instruction.computation
        if node.kind == "argument":
            assert instruction.opcode == "parameter"
            first = read.node_of[name]
            same = [each for each in first if graph.nodes.region[each] == node.region]
            leaf_of[node.values[0]] = (name, same.index(node.index))
            names.setdefault(node.region, set()).add(name)
        else:
            assert node.op == instruction.opcode
            assert len(node.values) == instruction.leaves
            assert name not in names.setdefault(node.region, set())
            names[node.region].add(name)
            leaf_of.update({value: (name, leaf) for leaf, value in enumerate(node.values)})
        if node.kind == "operation":
            assert [leaf_of[operand] for operand in node.operands] == instruction.reads, node

    for region, computation in region_computation.items():
        expected = {
            each.name
            for each in known.values()
            if each.computation == computation
            and each.opcode not in _TUPLES
            and (each.opcode != "parameter" or each.leaves)
        }
        assert names[region] == expected
        results = [node for node in graph if node.region == region and node.kind == "result"]
        assert [leaf_of[node.operands[0]] for node in results] == roots[computation].makes
    return len(known)
