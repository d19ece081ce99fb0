/**
 * HLO as XLA prints it: a line for each instruction, `%add.1 = f32[8] add(%a, %b)`, computations before those that call
 * them, the entry last. Tuples are written as the values that they hold: `%while.2[1]` is what XLA takes out of
 * `%while.2` by an instruction of its own.
 */
import { NodeKind, type Document, type Graph } from '../document/graph.ts';
import { attributesOf, bodyOf, operandsOf, regionsOf, valuesOf } from './body.ts';
import type { Lines, Syntax } from './listing.ts';
import { writeAsFirst } from './once.ts';
import { body, elided, joined, key, note, op, plain, title, type, value, type Piece } from './pieces.ts';

const Part = { module: 0, empty: 1, opens: 2, instruction: 3, root: 4, tuple: 5, closes: 6 } as const;

/** Arguments of a computation that stand in its first line. */
const MOST_IN_LINE = 4;
/** What the attributes are called that name the computations of an instruction, by the kinds of their regions. */
const CALLED: Readonly<Record<string, string>> = {
  'while cond': 'condition',
  'while body': 'body',
  fusion: 'calls',
  call: 'to_apply'
};
/** What a constant is, in brackets behind its name. */
const HELD = new Set(['value', 'values']);
/** The attribute that stands before the computations of an instruction, and the one that stands with its type. */
const FIRST = 'kind';
const LAYOUT = 'layout';

export class HloSyntax implements Syntax {
  /** The place of each argument among those of its computation. */
  private readonly place = new Map<number, number>();

  constructor(
    private readonly document: Document,
    private readonly graph: Graph
  ) {}

  lay(lines: Lines): void {
    lines.add(Part.module, 0);
    lines.add(Part.empty, 0);
    this.layComputation(lines, 0);
  }

  private layComputation(lines: Lines, region: number): void {
    const { graph } = this;
    const { parameters, operations, results } = bodyOf(graph, region, true);
    for (const node of operations) {
      for (const inner of regionsOf(graph, node)) {
        const { region: first } = lines.call(this.computation(inner), inner, node);
        if (first === inner) {
          this.layComputation(lines, inner);
        } else {
          writeAsFirst(graph, first, inner, lines.writtenAs);
        }
      }
    }
    const head = lines.count;
    lines.begin(this.computation(region), region);
    lines.add(Part.opens, region);
    parameters.forEach((node, index) => {
      this.place.set(node, index);
      lines.add(Part.instruction, node, 2);
    });
    if (!region) {
      lines.beginFrom(head);
    }
    const root = this.rootOf(results);
    operations.forEach(node => lines.add(node === root ? Part.root : Part.instruction, node, 2));
    if (root < 0) {
      lines.add(Part.tuple, region, 2);
    }
    lines.add(Part.closes, region);
    if (region) {
      lines.add(Part.empty, region);
    }
  }

  /** The instruction that makes all results of its computation, in their order; -1 where that is a tuple of several. */
  private rootOf(results: readonly number[]): number {
    const { graph } = this;
    const [first = -1] = results.length ? operandsOf(graph, results[0]) : [];
    const root = first < 0 ? -1 : graph.valueNode[first];
    const made = root < 0 ? [] : valuesOf(graph, root);
    const isOwn = root >= 0 && graph.region[root] === graph.region[results[0]];
    const isMade = made.length === results.length && made.every((one, i) => operandsOf(graph, results[i])[0] === one);
    return isOwn && isMade ? root : -1;
  }

  about(part: number, at: number, found: (node: number) => void): void {
    if (part === Part.instruction || part === Part.root) {
      found(at);
    }
    if (part === Part.root || part === Part.tuple) {
      const region = part === Part.root ? this.graph.region[at] : at;
      bodyOf(this.graph, region).results.forEach(found);
    }
  }

  write(part: number, at: number): readonly Piece[] {
    switch (part) {
      case Part.module:
        return [plain('HloModule '), plain(this.document.strings[this.graph.regionName[0]] || 'main')];
      case Part.opens:
        return this.opening(at);
      case Part.instruction:
        return this.instruction(at);
      case Part.root:
        return [plain('ROOT '), ...this.instruction(at)];
      case Part.tuple:
        return this.tuple(at);
      case Part.closes:
        return [plain('}')];
      default:
        return [];
    }
  }

  private opening(region: number): Piece[] {
    const { parameters, results } = bodyOf(this.graph, region);
    const taken = parameters
      .slice(0, MOST_IN_LINE)
      .map(node => [plain(`${this.bare(node)}: `), ...joined(this.types(node), ', ')]);
    const left = parameters.length - taken.length;
    return [
      plain(region ? '' : 'ENTRY '),
      body('%', this.computation(region)),
      plain(' ('),
      ...joined(left ? [...taken, [note(`… ${left} more`)]] : taken, ', '),
      plain(') -> '),
      ...this.resultType(results),
      plain(' {')
    ];
  }

  private instruction(node: number): Piece[] {
    const { document, graph } = this;
    const { strings } = document;
    const types = this.types(node);
    const argument = graph.kind[node] === NodeKind.argument;
    const own = attributesOf(document, graph, node);
    const held = own.find(([name]) => HELD.has(name))?.[1];
    const operands = argument
      ? [[plain(String(this.place.get(node) ?? 0))]]
      : held !== undefined && !operandsOf(graph, node).length
        ? [[plain(elided(held))]]
        : [...operandsOf(graph, node)].map(source => this.read(source));
    return [
      value(`%${this.bare(node)}`, node),
      plain(' = '),
      ...(types.length === 1 ? types[0] : [plain('('), ...joined(types, ', '), plain(')')]),
      // That of a copy is told with the one before.
      ...own.filter(([name]) => name === LAYOUT).map(([, text]) => type(text.split(' from ')[0])),
      plain(' '),
      op(argument ? 'parameter' : graph.kind[node] === NodeKind.constant ? 'constant' : strings[graph.op[node]]),
      plain('('),
      ...joined(operands, ', '),
      plain(')'),
      ...own.filter(([name]) => name === FIRST).flatMap(([name, text]) => attribute(name, text)),
      ...this.computations(node),
      ...own
        .filter(([name]) => name !== FIRST && name !== LAYOUT && !HELD.has(name))
        .flatMap(([name, text]) => attribute(name, text))
    ];
  }

  /** The computations that an instruction calls, by their names. */
  private computations(node: number): Piece[] {
    const { strings } = this.document;
    const called = new Map<string, Piece[]>();
    for (const region of regionsOf(this.graph, node)) {
      const kind = strings[this.graph.regionKind[region]];
      const name = kind === 'branch' ? 'branch_computations' : (CALLED[kind] ?? 'to_apply');
      called.set(name, [...(called.get(name) ?? []), body('%', this.computation(region))]);
    }
    return [...called].flatMap(([name, all]) => [
      plain(', '),
      key(name),
      plain('='),
      ...(name === 'branch_computations' || all.length > 1
        ? [
            plain('{'),
            ...joined(
              all.map(one => [one]),
              ', '
            ),
            plain('}')
          ]
        : [all[0]])
    ]);
  }

  private tuple(region: number): Piece[] {
    const { results } = bodyOf(this.graph, region);
    const read = results.flatMap(node => [...operandsOf(this.graph, node)].map(source => this.read(source)));
    return [
      plain('ROOT '),
      title('%tuple'),
      plain(' = '),
      ...this.resultType(results),
      plain(' '),
      op('tuple'),
      plain('('),
      ...joined(read, ', '),
      plain(')')
    ];
  }

  private resultType(results: readonly number[]): Piece[] {
    const types = results.flatMap(node => [...operandsOf(this.graph, node)].map(source => this.typeOf(source)));
    return types.length === 1 ? types[0] : [plain('('), ...joined(types, ', '), plain(')')];
  }

  private types(node: number): Piece[][] {
    return valuesOf(this.graph, node).map(one => this.typeOf(one));
  }

  private typeOf(source: number): Piece[] {
    const { strings, types } = this.document;
    const { valueType, literalType } = this.graph;
    return [type(strings[types.text[source >= 0 ? valueType[source] : literalType[-1 - source]]])];
  }

  private read(source: number): Piece[] {
    const { graph, document } = this;
    if (source < 0) {
      return [plain(elided(document.strings[graph.literalText[-1 - source]]))];
    }
    const node = graph.valueNode[source];
    const first = graph.firstValue[node];
    const isPart = graph.firstValue[node + 1] - first > 1;
    return [value(`%${this.bare(node)}${isPart ? `[${source - first}]` : ''}`, node)];
  }

  private bare(node: number): string {
    const { strings } = this.document;
    return strings[this.graph.name[node]] || `${strings[this.graph.op[node]]}.${node}`;
  }

  /** What a computation is called. Those of the branches of a condition are told by what chooses them. */
  private computation(region: number): string {
    const { strings } = this.document;
    const { regionName, regionKind, regionOwner } = this.graph;
    const name = strings[regionName[region]];
    if (!region) {
      return 'main';
    }
    return strings[regionKind[region]] === 'branch' || !name
      ? `${this.bare(regionOwner[region])}.${(name || 'body').replaceAll(' ', '_')}`
      : name;
  }
}

function attribute(name: string, text: string): Piece[] {
  return [plain(', '), key(name), plain(`=${elided(text)}`)];
}
