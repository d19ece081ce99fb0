"""Elements of tuples that text names where they are read, as `%pair#1`, without an instruction that takes them out.

So does the XLA of JAX 0.12. The module gets the instruction all the same, at the end of its computation: readers put
operands before what reads them.
"""

from __future__ import annotations

from jaxviz.read.hlo.module import HloComputation


def add_element(computation: HloComputation, index_of: dict[str, int], operand: str, place: int) -> bool:
    """Add what takes an element out of a tuple, and of a tuple in it; False where the operand is no such thing."""
    base, mark, number = operand.rpartition("#")
    if not mark or not number.isdecimal() or len(number) > 9:
        return False
    if base not in index_of and not add_element(computation, index_of, base, place):
        return False
    shape = element_shape(computation.shapes[index_of[base]], int(number))
    if not shape:
        return False
    index_of[operand] = len(computation)
    computation.names.append(operand)
    computation.opcodes.append("get-tuple-element")
    computation.shapes.append(shape)
    computation.operands.append((index_of[base],))
    computation.calls.append(())
    computation.attributes.append(())
    computation.op_names.append("")
    computation.frames.append(-1)
    computation.numbers.append(int(number))
    computation.places.append(place)
    return True


def element_shape(shape: str, number: int) -> str:
    """The shape of one element of a tuple; empty where there is none.

    >>> element_shape("(f32[2,3]{1,0}, (s32[], pred[4]), u8[])", 1)
    '(s32[], pred[4])'
    """
    if not shape.startswith("("):
        return ""
    depth, start, at = 0, 1, 0
    for place, character in enumerate(shape):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        ends = depth == 0 if character == ")" else character == "," and depth == 1
        if ends:
            if at == number:
                return shape[start:place].strip()
            at, start = at + 1, place + 1
    return ""
