"""What the text of a snapshot says of equations."""

import time

from jaxviz.link.snapshots import replacements


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
        "\n".join(earlier + untouched),
        "\n".join(later + untouched),
        [2 * i for i in layers],
        lambda name: (numbers[name],) if name in numbers else (),
        merged=False,
    )
    assert found == {2 * i: 2 * i + 1 for i in layers}
    assert time.process_time() - began < 3
