"""StableHLO in the words of a jaxpr, so that what is found in the one is found in the other too.

Each operation of StableHLO comes of one of JAX that is called otherwise. The nodes and values stay as they are: what is
found in these words is true of the graph that they were taken from.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from jaxviz.graph import CONSTANT, OPERATION, Attributes, Graph, Literals, Operands

# What has another name in a jaxpr, and takes and gives the same.
_WORDS = {
    "add": "add",
    "call": "jit",
    "case": "cond",
    "cbrt": "cbrt",
    "ceil": "ceil",
    "concatenate": "concatenate",
    "convert": "convert_element_type",
    "cosine": "cos",
    "divide": "div",
    "exponential": "exp",
    "exponential_minus_one": "expm1",
    "log_plus_one": "log1p",
    "maximum": "max",
    "minimum": "min",
    "multiply": "mul",
    "negate": "neg",
    "power": "pow",
    "remainder": "rem",
    "reverse": "rev",
    "select": "select_n",
    "sine": "sin",
    "subtract": "sub",
    "tangent": "tan",
    "while": "while",
}
# What has one name here, and one for each of what an attribute says in a jaxpr.
_BY_ATTRIBUTE = {
    "compare": ("comparison_direction", "{}"),
    "reduce": ("reducer", "reduce_{}"),
    "scatter": ("reducer", "scatter_{}"),
}
_REDUCERS = {"add": "sum", "maximum": "max", "minimum": "min", "multiply": "prod"}
_SCATTERS = {"scatter_multiply": "scatter_mul", "scatter_minimum": "scatter_min", "scatter_maximum": "scatter_max"}
_PLAIN = str.maketrans("", "", "[]")
# The function by which JAX draws with one half of a key and the other, and one in which it makes a key of a key.
_DRAWS, _FOLDS = "threefry2x32", "_threefry_fold_in"
# A function that is called in several ways is there once for each, with a number behind its name.
_NUMBERED = re.compile(r"_\d+$")


def in_words_of_jaxpr(graph: Graph) -> Graph:
    """The same graph with the operations, constants and choices of StableHLO as a jaxpr has them."""
    return _with_operands(_with_draws(_with_names(_with_constants(graph))))


def _with_names(graph: Graph) -> Graph:
    tables, nodes = graph.tables, graph.nodes
    strings = tables.strings
    op, name = nodes.op.copy(), nodes.name.copy()
    for word in np.unique(nodes.op).tolist():
        rows = np.flatnonzero((nodes.op == word) & (nodes.kind == OPERATION))
        if strings[word] in _WORDS:
            op[rows] = tables.string(_WORDS[strings[word]])
        elif strings[word] in _BY_ATTRIBUTE:
            op[rows] = [tables.string(_by_attribute(graph, strings[word], row)) for row in rows.tolist()]
        elif strings[word] == "custom_call":
            op[rows] = [tables.string(_custom(strings[nodes.scope[row]])) for row in rows.tolist()]
        if strings[word] == "call":
            name[rows] = tables.strings_of([_NUMBERED.sub("", strings[row]) for row in nodes.name[rows].tolist()])
    return replace(graph, nodes=replace(nodes, op=op, name=name))


def _with_draws(graph: Graph) -> Graph:
    """The graph with what draws and what makes keys as a jaxpr has them: in StableHLO they are calls."""
    tables, nodes = graph.tables, graph.nodes
    draws, folds = ((nodes.name == tables.find_string(name)) & (nodes.kind == OPERATION) for name in (_DRAWS, _FOLDS))
    inside = np.zeros(len(graph.regions.owner), bool)
    for region, (owner, parent) in enumerate(
        zip(graph.regions.owner.tolist(), graph.region_parent.tolist(), strict=True)
    ):
        inside[region] = owner >= 0 and bool(folds[owner] or inside[parent])
    op = nodes.op.copy()
    op[draws & ~inside[nodes.region]] = tables.string("random_bits")
    op[folds] = tables.string("random_fold_in")
    return replace(graph, nodes=replace(nodes, op=op))


def _by_attribute(graph: Graph, word: str, node: int) -> str:
    key, form = _BY_ATTRIBUTE[word]
    said = graph.attribute(node, key)
    if not said:
        return word
    made = form.format(said.lower() if word != "reduce" else _REDUCERS.get(said, said))
    return _SCATTERS.get(made, made)


def _custom(scope: str) -> str:
    """What JAX called an operation that is none of StableHLO, such as a call into Python."""
    return scope.rpartition("/")[2] or "custom_call"


def _with_constants(graph: Graph) -> Graph:
    """The graph with constants as such, and what they hold in the words of a jaxpr."""
    tables, nodes, attributes = graph.tables, graph.nodes, graph.attributes
    constant = nodes.op == tables.string("constant")
    key, value = attributes.key.copy(), attributes.value.copy()
    rows = np.flatnonzero(constant[attributes.node] & (key == tables.string("value")))
    for row in rows.tolist():
        text = tables.strings[value[row]]
        if text.startswith("["):
            key[row] = tables.string("values")
        value[row] = tables.string(text.translate(_PLAIN).replace("true", "True").replace("false", "False"))
    kind = np.where(constant, CONSTANT, nodes.kind).astype(np.int32)
    return replace(graph, nodes=replace(nodes, kind=kind), attributes=Attributes(attributes.node, key, value))


def _with_operands(graph: Graph) -> Graph:
    """The graph with numbers where they are read, and of each choice first what is taken where its condition fails."""
    tables, values = graph.tables, graph.values
    source = graph.operands.source.copy()
    chooses = np.flatnonzero((graph.nodes.op == tables.string("select_n")) & (graph.nodes.operands == 3))
    first = graph.first_operand[chooses]
    source[first + 1], source[first + 2] = source[first + 2], source[first + 1].copy()
    numbers = [
        (int(graph.first_value[node]), tables.string(text))
        for node in np.flatnonzero(graph.nodes.kind == CONSTANT).tolist()
        if (text := graph.attribute(node, "value")) and not tables.types.dims[values.type[graph.first_value[node]]]
    ]
    literal_of = np.arange(len(values.type), dtype=np.int32)
    made = np.array([value for value, _ in numbers], np.int32)
    literal_of[made] = -1 - len(graph.literals.text) - np.arange(len(made), dtype=np.int32)
    source[source >= 0] = literal_of[source[source >= 0]]
    literals = Literals(
        np.concatenate([graph.literals.text, np.array([text for _, text in numbers], np.int32)]),
        np.concatenate([graph.literals.type, values.type[made]]),
    )
    return replace(graph, operands=Operands(source), literals=literals)
