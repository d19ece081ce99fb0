/** What a pass of the compiler changed of an instruction that it kept, in words. */
import type { Document, Graph, Passes } from '../../document/graph.ts';
import { stateOf, type State } from '../../document/series.ts';
import { attributesOf, operandsOf, valuesOf } from '../../text/body.ts';
import { elided } from '../../text/pieces.ts';

/** Of much that was changed, so much is told. */
const MOST = 3;

/** What differs in an instruction of state `number` from the state before, such as `reads reshape, before dot`. */
export function alteredWords(document: Document, passes: Passes, number: number, lineage: number): string {
  const [before, after] = [stateOf(passes, number - 1), stateOf(passes, number)];
  const [was, node] = [before.nodeOf.get(lineage), after.nodeOf.get(lineage)];
  if (was === undefined || node === undefined) {
    return '';
  }
  const { strings } = document;
  const op = ({ graph }: State, one: number): string => strings[graph.op[one]];
  const all = [
    ...differs('', op(after, node), op(before, was)),
    ...typesDiffer(document, after.graph, node, before.graph, was),
    ...readDiffers(document, after, node, before, was),
    ...attributesDiffer(document, after.graph, node, before.graph, was)
  ];
  const found = [...new Set(all)];
  const rest = found.length - MOST;
  return found.slice(0, MOST).join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}

function differs(what: string, now: string, was: string): string[] {
  return now === was ? [] : [`${what}${now || 'nothing'}, before ${was || 'nothing'}`];
}

function typesDiffer({ strings, types }: Document, now: Graph, node: number, then: Graph, was: number): string[] {
  const typesOf = (graph: Graph, one: number): string[] =>
    valuesOf(graph, one).map(value => strings[types.text[graph.valueType[value]]]);
  const [made, before] = [typesOf(now, node), typesOf(then, was)];
  return made.length === before.length
    ? made.flatMap((type, at) => differs('', type, before[at]))
    : [`makes ${made.length} values, before ${before.length}`];
}

/** An operand that is another instruction, not only one that was named anew. */
function readDiffers(document: Document, after: State, node: number, before: State, was: number): string[] {
  const [now, then] = [operandsOf(after.graph, node), operandsOf(before.graph, was)];
  if (now.length !== then.length) {
    return [`reads ${now.length} values, before ${then.length}`];
  }
  return [...now].flatMap((source, at) =>
    identity(document, after, source) === identity(document, before, then[at])
      ? []
      : [`reads ${nameOf(document, after.graph, source)}, before ${nameOf(document, before.graph, then[at])}`]
  );
}

function identity(document: Document, { graph, lineage }: State, source: number): string {
  if (source < 0) {
    return nameOf(document, graph, source);
  }
  const node = graph.valueNode[source];
  return `${lineage[node]}:${source - graph.firstValue[node]}`;
}

function nameOf({ strings }: Document, graph: Graph, source: number): string {
  if (source < 0) {
    return elided(strings[graph.literalText[-1 - source]]);
  }
  const node = graph.valueNode[source];
  return strings[graph.name[node]] || strings[graph.op[node]];
}

function attributesDiffer(document: Document, now: Graph, node: number, then: Graph, was: number): string[] {
  const [own, old] = [attributesOf(document, now, node), attributesOf(document, then, was)].map(all => new Map(all));
  const keys = [...new Set([...own.keys(), ...old.keys()])];
  return keys.flatMap(key => differs(`${key}=`, elided(own.get(key) ?? ''), elided(old.get(key) ?? '')));
}
