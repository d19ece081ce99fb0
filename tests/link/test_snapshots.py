"""What the text of a snapshot says of equations."""

import time

import pytest

from jaxviz.link.snapshots import Lines, replacements


def line(name, op, operand, op_name=""):
    metadata = f', metadata={{op_name="{op_name}"}}' if op_name else ""
    return f"  %{name} = f32[8,8] {op}(%{operand}){metadata}"


def test_readers_that_took_over_an_operation_are_found_in_time_for_thousands_of_them():
    # Products that transposes read become products that have the tags of the transposes.
    layers = range(4_000)
    earlier = [
        text
        for i in layers
        for text in (line(f"p{i}", "dot", f"x{i}", f"product {i}"), line(f"t{i}", "transpose", f"p{i}", f"turned {i}"))
    ]
    later = [line(f"d{i}", "dot", f"x{i}", f"turned {i}") for i in layers]
    untouched = [line(f"s{i}", "sine", f"x{i}", f"sine {i}") for i in range(20_000)]
    numbers = {f"{kind} {i}": 2 * i + at for i in layers for at, kind in enumerate(("product", "turned"))}
    began = time.process_time()
    found = replacements(
        Lines("\n".join(earlier + untouched)),
        Lines("\n".join(later + untouched)),
        [2 * i for i in layers],
        lambda name: (numbers[name],) if name in numbers else (),
        merged=False,
    )
    assert found == {2 * i: 2 * i + 1 for i in layers}
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    ("later", "found"),
    [
        # The factor is gone, and what it read stands where it stood.
        ([line("r", "multiply", "b, %x", "reader")], {0: 1}),
        # The operands have changed places: the constant is what stands in.
        ([line("c", "constant", "", "number"), line("r", "multiply", "c, %b", "reader")], {0: 3}),
        # Something else is done under the name of what is read.
        ([line("n", "multiply", "x, %b", "x"), line("r", "multiply", "b, %n", "reader")], {}),
        # A copy of it is still what it was.
        ([line("n", "copy", "x", "x"), line("r", "multiply", "b, %n", "reader")], {0: 1}),
    ],
)
def test_what_is_read_in_place_of_what_is_gone_is_what_its_name_says(later, found):
    numbers = {"factor": 0, "x": 1, "b": 2, "number": 3, "reader": 4}
    arguments = [line("x", "sine", "p", "x"), line("b", "cosine", "p", "b")]
    earlier = [*arguments, line("f", "multiply", "x, %two", "factor"), line("r", "multiply", "b, %f", "reader")]
    known = replacements(
        Lines("\n".join(earlier)),
        Lines("\n".join([*arguments, *later])),
        [0],
        lambda name: (numbers[name],) if name in numbers else (),
        merged=False,
    )
    assert known == found
