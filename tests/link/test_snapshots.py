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
    found, _ = replacements(
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
    known, _ = replacements(
        Lines("\n".join(earlier)),
        Lines("\n".join([*arguments, *later])),
        [0],
        lambda name: (numbers[name],) if name in numbers else (),
        merged=False,
    )
    assert known == found


def merged_in(earlier, later, node, numbers):
    """What replaced a node in a pass that merges, by the names that stand for the equations."""
    found, _ = replacements(
        Lines("\n".join(earlier)),
        Lines("\n".join(later)),
        [node],
        lambda name: (numbers[name],) if name in numbers else (),
        merged=True,
    )
    return found.get(node)


def test_a_kernel_that_reads_two_equal_values_reads_one_of_them_once_they_are_merged():
    def computation(name, op, reads="%p"):
        return [
            f"%{name} (p: f32[8,8]) -> f32[8,8] {{",
            line(f"p.{name}", "parameter", ""),
            f"  ROOT {line(name + '.r', op, f'p.{name}')[2:]}",
            "}",
        ]

    def kernel(name, body, op_name):
        return f'  %{name} = f32[8,8] fusion(%x), kind=kLoop, calls=%{body}, metadata={{op_name="{op_name}"}}'

    bodies = [*computation("one", "tanh"), *computation("other", "sine"), *computation("again", "tanh")]
    head = ["ENTRY %main (x: f32[8,8]) -> f32[8,8] {", line("x", "parameter", "")]
    kept = [kernel("a", "one", "first"), kernel("b", "other", "another")]
    earlier = [*bodies, *head, *kept, kernel("c", "again", "second"), line("r", "add", "b, %a, %c", "reader"), "}"]
    later = [*bodies, *head, *kept, line("r", "add", "b, %a", "reader"), "}"]
    assert merged_in(earlier, later, 1, {"first": 0, "second": 1, "another": 2, "reader": 3}) == 0


def test_what_replaced_an_equation_is_told_by_what_it_gave_and_not_by_a_part_of_it():
    given = [line("i", "iota", "", "i")]
    kept = [line("n", "broadcast", "half", "quotient"), line("d", "multiply", "i, %n", "quotient")]
    earlier = [
        *given,
        *kept,
        # The same product, with its operands the other way round.
        line("f", "broadcast", "half", "product"),
        line("m", "multiply", "f, %i", "product"),
        line("r", "add", "m, %z", "reader"),
    ]
    later = [*given, *kept, line("r", "add", "d, %z", "reader")]
    assert merged_in(earlier, later, 2, {"i": 0, "quotient": 1, "product": 2, "reader": 3}) == 1


def test_a_step_of_an_equation_is_no_whole_also_where_its_steps_are_called_otherwise():
    numbers = {"size/real": 0, "size/square": 0, "real": 1, "reader": 2}
    kept = [line("a", "real", "z", "size/real"), line("s", "multiply", "a, %a", "size/square")]
    earlier = [*kept, line("b", "real", "z", "real"), line("r", "negate", "b", "reader")]
    later = [*kept, line("r", "negate", "a", "reader")]
    assert merged_in(earlier, later, 1, numbers) is None
