"""What an HLO module becomes as a graph: regions, how values cross their borders, tuples, attributes and order."""

from __future__ import annotations

from typing import Any

import pytest

from jaxviz.graph import BINDING_KINDS, Graph
from jaxviz.read.hlo.graph import HloGraph, read_hlo
from jaxviz.read.hlo.text import parse_hlo_text


def read(text: str, **options: Any) -> HloGraph:
    return read_hlo(parse_hlo_text("HloModule m, is_scheduled=true\n\n" + text), **options)


def bindings(graph: Graph) -> list[tuple[str, str, str]]:
    """Each binding by names: of instructions, arguments, and `result` with what it holds."""

    def of_value(value: int) -> str:
        node = graph.node(int(graph.value_node[value]))
        return node.name + (f"#{value - node.values[0]}" if len(node.values) > 1 else "")

    def of_node(index: int) -> str:
        node = graph.node(index)
        return node.name or "result " + of_value(node.operands[0])

    found = []
    columns = graph.bindings
    for kind, start, end in zip(columns.kind.tolist(), columns.start.tolist(), columns.end.tolist(), strict=True):
        name = BINDING_KINDS[kind]
        from_text = of_value(start) if name in ("enter", "init", "slice") else of_node(start)
        to_text = of_value(end) if name in ("leave", "stack") else of_node(end)
        found.append((name, from_text, to_text))
    return found


WHILE = """
body {
  state = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[8]{0} get-tuple-element(state), index=1
  w = f32[8]{0} get-tuple-element(state), index=2
  y = f32[8]{0} multiply(x, w)
  ROOT out = (s32[], f32[8]{0}, f32[8]{0}) tuple(next, y, w)
}

condition {
  seen = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  j = s32[] get-tuple-element(seen), index=0
  ten = s32[] constant(10)
  ROOT less = pred[] compare(j, ten), direction=LT
}

ENTRY main {
  a = f32[8]{0} parameter(0), metadata={op_name="params['w']"}
  zero = s32[] constant(0)
  init = (s32[], f32[8]{0}, f32[8]{0}) tuple(zero, a, a)
  loop = (s32[], f32[8]{0}, f32[8]{0}) while(init), condition=condition, body=body, TRIPS
  ROOT last = f32[8]{0} get-tuple-element(loop), index=1
}
""".replace("TRIPS", 'backend_config={"known_trip_count":{"n":"10"}}')


def test_the_state_of_a_loop_flows_element_by_element():
    graph = read(WHILE).graph
    (loop,) = graph.find("while")
    assert loop.attributes == {"known_trip_count": "10"}
    assert [graph.region(region).kind for region in loop.regions] == ["while cond", "while body"]
    assert [graph.region(region).name for region in loop.regions] == ["condition", "body"]
    seen, state = [f"seen[{i}]" for i in range(3)], [f"state[{i}]" for i in range(3)]
    start, results = ["zero", "params['w']", "params['w']"], ["result next", "result y", "result state[2]"]
    expected = [("init", *pair) for pair in zip(start, seen, strict=True)]
    expected += [("init", *pair) for pair in zip(start, state, strict=True)]
    expected += [("carry", *pair) for pair in zip(results, seen, strict=True)]
    expected += [("carry", *pair) for pair in zip(results, state, strict=True)]
    expected += [("leave", result, f"loop#{i}") for i, result in enumerate(results)]
    assert sorted(bindings(graph)) == sorted(expected)
    assert [str(node) for node in graph if node.region == 0] == [
        "%0:f32[8] = argument[params['w']]",
        "%1:s32[] = constant[zero]",
        "%2:s32[], %3:f32[8], %4:f32[8] = while[loop] %1 %0 %0",
        "result %3",
    ]


def test_instructions_are_found_by_name_and_tuples_have_no_node():
    hlo = read(WHILE)
    assert {name: len(nodes) for name, nodes in hlo.node_of.items()} == {
        **dict.fromkeys(("a", "zero", "loop", "one", "next", "y", "ten", "less"), 1),
        **dict.fromkeys(("state", "seen"), 3),
    }
    assert hlo.graph.node(hlo.node_of["y"][0]).op == "multiply"


def test_branches_enter_with_their_own_operand():
    graph = read("""
yes {
  p = (f32[8]{0}) parameter(0)
  px = f32[8]{0} get-tuple-element(p), index=0
  ROOT s = f32[8]{0} sine(px)
}
no {
  ROOT q = f32[8]{0} parameter(0)
}
ENTRY main {
  c = pred[] parameter(0)
  x = f32[8]{0} parameter(1)
  t = (f32[8]{0}) tuple(x)
  ROOT r = f32[8]{0} conditional(c, t, x), true_computation=yes, false_computation=no
}
""").graph
    (conditional,) = graph.find("conditional")
    assert [(graph.region(each).kind, graph.region(each).name) for each in conditional.regions] == [
        ("branch", "if true"),
        ("branch", "if false"),
    ]
    assert bindings(graph) == [
        ("enter", "x", "p"),
        ("leave", "result s", "r"),
        ("enter", "x", "q"),
        ("leave", "result q", "r"),
    ]


def test_branches_by_number_are_cases():
    branches = "\n".join(f"b{i} {{\n  ROOT p{i} = f32[] parameter(0)\n}}" for i in range(3))
    graph = read(f"""
{branches}
ENTRY main {{
  n = s32[] parameter(0)
  x = f32[] parameter(1)
  ROOT r = f32[] conditional(n, x, x, x), branch_computations={{b0, b1, b2}}
}}
""").graph
    assert [graph.region(region).name for region in graph.find("conditional")[0].regions] == [
        "case 0",
        "case 1",
        "case 2",
    ]


FUSION = """
fused {
  p = f32[8]{0} parameter(1)
  q = f32[8]{0} parameter(0)
  d = f32[8]{0} subtract(q, p)
  n = f32[8]{0} negate(d)
  ROOT t = (f32[8]{0}, f32[8]{0}) tuple(n, d)
}
ENTRY main {
  x = f32[8]{0} parameter(0)
  y = f32[8]{0} parameter(1)
  f = (f32[8]{0}, f32[8]{0}) fusion(x, y), kind=kLoop, calls=fused
  f1 = f32[8]{0} get-tuple-element(f), index=1
  f0 = f32[8]{0} get-tuple-element(f), index=0
  ROOT r = f32[8]{0} subtract(f1, f0)
}
"""


def test_a_fusion_with_several_outputs_makes_several_values():
    graph = read(FUSION).graph
    (fusion,) = graph.find("fusion")
    assert fusion.attributes == {"kind": "kLoop"}
    assert len(fusion.values) == 2
    (last,) = [node for node in graph.find("subtract") if node.region == 0]
    assert last.operands == fusion.values[::-1]
    # Arguments stand in the order of their numbers, whatever the order of the text.
    assert bindings(graph) == [
        ("enter", "x", "q"),
        ("enter", "y", "p"),
        ("leave", "result n", "f#0"),
        ("leave", "result d", "f#1"),
    ]


REDUCE = """
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
two {
  a0 = f32[] parameter(0)
  a1 = s32[] parameter(1)
  b0 = f32[] parameter(2)
  b1 = s32[] parameter(3)
  m = f32[] maximum(a0, b0)
  o = s32[] or(a1, b1)
  ROOT t = (f32[], s32[]) tuple(m, o)
}
ENTRY main {
  x = f32[8]{0} parameter(0)
  n = s32[8]{0} parameter(1)
  z = f32[] constant(0)
  k = s32[] constant(0)
  total = f32[] reduce(x, z), dimensions={0}, to_apply=sum
  ROOT both = (f32[], s32[]) reduce(x, n, total, k), dimensions={0}, to_apply=two
}
"""


def test_a_reduction_by_one_operation_says_so():
    graph = read(REDUCE).graph
    first, second = graph.find("reduce")
    assert first.attributes == {"dimensions": "{0}", "to_apply": "add"}
    assert first.regions == ()
    assert [graph.region(region).kind for region in second.regions] == ["reduce"]


def test_a_reduction_of_several_arrays_carries_what_was_reduced():
    assert bindings(read(REDUCE).graph) == [
        ("init", "total", "a0"),
        ("init", "k", "a1"),
        ("slice", "x", "b0"),
        ("slice", "n", "b1"),
        ("carry", "result m", "a0"),
        ("carry", "result o", "a1"),
        ("leave", "result m", "both#0"),
        ("leave", "result o", "both#1"),
    ]


def test_a_comparison_that_swaps_its_parameters_says_so():
    graph = read("""
later {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(b, a), direction=LT
}
ENTRY main {
  x = f32[8]{0} parameter(0)
  ROOT s = f32[8]{0} sort(x), dimensions={0}, is_stable=true, to_apply=later
}
""").graph
    assert graph.find("sort")[0].attributes == {
        "dimensions": "{0}",
        "is_stable": "true",
        "to_apply": "compare LT (swapped)",
    }


def chain(depth: int) -> str:
    """Computations that each call the one before twice."""
    text = "c0 {\n  p0 = f32[] parameter(0)\n  ROOT r0 = f32[] negate(p0)\n}\n"
    for i in range(1, depth + 1):
        text += f"""c{i} {{
  p{i} = f32[] parameter(0)
  q{i} = f32[] call(p{i}), to_apply=c{i - 1}
  ROOT r{i} = f32[] call(q{i}), to_apply=c{i - 1}
}}
"""
    return text.replace(f"c{depth} {{", f"ENTRY c{depth} {{")


def test_a_computation_is_there_once_for_each_call():
    hlo = read(chain(3))
    assert len(hlo.node_of["r0"]) == 8
    assert {node.op for node in hlo.graph if node.name == "r0"} == {"negate"}


def test_calls_stay_closed_once_too_much_was_repeated():
    hlo = read(chain(40), repeated_nodes=1000)
    assert len(hlo.graph) < 3000
    closed = [node for node in hlo.graph if "body" in node.attributes]
    assert closed
    assert all(not node.regions for node in closed)


def test_the_schedule_is_the_order_of_the_nodes():
    graph = read("""
ENTRY main {
  x = f32[] parameter(0)
  c = f32[] cosine(x)
  s = f32[] sine(x)
  ROOT r = f32[] add(s, c)
}
""").graph
    assert [node.op for node in graph] == ["argument", "cosine", "sine", "add", "result"]


def test_operands_that_come_later_in_the_text_are_put_first():
    graph = read("""
ENTRY main {
  ROOT r = f32[] add(s, x)
  s = f32[] sine(x)
  x = f32[] parameter(0)
}
""").graph
    assert [node.op for node in graph] == ["argument", "sine", "add", "result"]


def test_nested_tuples_keep_their_elements():
    graph = read("""
ENTRY main {
  p = ((f32[2]{0}, s32[]), f32[3]{0}) parameter(0)
  inner = (f32[2]{0}, s32[]) get-tuple-element(p), index=0
  outer = f32[3]{0} get-tuple-element(p), index=1
  n = s32[] get-tuple-element(inner), index=1
  ROOT t = (f32[3]{0}, (s32[], (f32[2]{0}, s32[]))) tuple(outer, u)
  u = (s32[], (f32[2]{0}, s32[])) tuple(n, inner)
}
""").graph
    assert [str(node) for node in graph] == [
        "%0:f32[2] = argument[p[0]]",
        "%1:s32[] = argument[p[1]]",
        "%2:f32[3] = argument[p[2]]",
        "result %2",
        "result %1",
        "result %0",
        "result %1",
    ]


@pytest.mark.parametrize(
    ("shape", "text", "size"),
    [
        ("f32[2,3]{1,0:T(8,128)S(1)}", "f32[2,3]", 24),
        ("bf16[<=4]", "bf16[<=4]", 8),
        ("pred[]", "pred[]", 1),
        ("s4[6]{0:E(4)}", "s4[6]", 3),
        ("f8e4m3fn[10]", "f8e4m3fn[10]", 10),
        ("c64[2]", "c64[2]", 16),
        ("token[]", "token", -1),
    ],
)
def test_types_have_their_text_and_their_bytes(shape, text, size):
    graph = read(f"ENTRY main {{\n  ROOT x = {shape} parameter(0)\n}}").graph
    types = graph.tables.types
    row = int(graph.values.type[0])
    assert (graph.tables.type_text(row), types.bytes[row]) == (text, size)


def test_an_asynchronous_fusion_enters_and_leaves():
    graph = read("""
fused {
  p = f32[8]{0} parameter(0)
  ROOT n = f32[8]{0} negate(p)
}
ENTRY main {
  x = f32[8]{0} parameter(0)
  s = ((f32[8]{0}), f32[8]{0}, u32[]) fusion-start(x), kind=kLoop, calls=fused
  ROOT d = f32[8]{0} fusion-done(s)
}
""").graph
    assert bindings(graph) == [("enter", "x", "p"), ("leave", "result n", "s#1")]


def test_computations_without_a_row_have_their_regions():
    graph = read(
        "f {\n  ROOT t = () tuple()\n}\n\n"
        "ENTRY e {\n  c = () call(), to_apply=f\n  d = () call(), to_apply=f\n  ROOT p = f32[2] parameter(0)\n}\n"
    ).graph
    graph.check()
    assert [node.op for node in graph] == ["argument", "call", "call", "result"]
    assert [int(owner) for owner in graph.regions.owner] == [-1, 1, 2]
