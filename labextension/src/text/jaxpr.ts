/**
 * A jaxpr as JAX prints it: `c:f32[3] = add a b`, with the jaxprs of loops, branches and calls in the brackets of their
 * equations. A line for each equation; two where there is a jaxpr in it, one before and one behind.
 */
import type { Document, Graph } from '../document/graph.ts';
import { attributesOf, bodyOf, isOperation, operandsOf, regionsOf, valuesOf, type Body } from './body.ts';
import type { Lines, Syntax } from './listing.ts';
import { elided, joined, key, note, op, plain, type, value, type Piece } from './pieces.ts';

const Part = { equation: 0, opens: 1, closes: 2, lambda: 3, constant: 4, argument: 5, let: 6, in: 7 } as const;

/** Arguments of a jaxpr that stand in one line; of more, each has its own, with the name that it has in the function. */
const MOST_IN_LINE = 4;
const STEP = 2;
/** The parameter of an equation that a jaxpr is, by the kind of its region. */
const PARAMETERS: Readonly<Record<string, string>> = { 'while cond': 'cond_jaxpr', 'while body': 'body_jaxpr' };
/** The same of equations that call theirs otherwise. */
const OF_OPERATIONS: Readonly<Record<string, string>> = {
  custom_jvp_call: 'call_jaxpr',
  custom_vjp_call: 'call_jaxpr'
};
/** Equations of which JAX does not print what their function is called. */
const NAMELESS = new Set(['scan', 'while', 'cond']);

export class JaxprSyntax implements Syntax {
  /** The name of each value as a number; -1 for one that nothing reads. */
  private readonly letter: Int32Array;

  constructor(
    private readonly document: Document,
    private readonly graph: Graph
  ) {
    this.letter = lettersOf(graph);
  }

  lay(lines: Lines): void {
    this.layBody(lines, 0, 0);
  }

  private layBody(lines: Lines, region: number, indent: number): void {
    const { graph } = this;
    const body = bodyOf(graph, region);
    lines.add(Part.lambda, region, indent);
    if (!this.inLine(body)) {
      body.constants.forEach(node => lines.add(Part.constant, node, indent + 2 * STEP));
      body.parameters.forEach(node => lines.add(Part.argument, node, indent + 2 * STEP));
      lines.add(Part.let, region, indent + STEP);
    }
    if (!region) {
      lines.beginFrom(0);
    }
    for (const node of body.operations) {
      const regions = regionsOf(graph, node);
      lines.add(regions.length ? Part.opens : Part.equation, node, indent + 2 * STEP);
      regions.forEach(inner => this.layBody(lines, inner, indent + 3 * STEP));
      if (regions.length) {
        lines.add(Part.closes, node, indent + 2 * STEP);
      }
    }
    lines.add(Part.in, region, indent + STEP);
  }

  about(part: number, at: number, found: (node: number) => void): void {
    if (part === Part.lambda) {
      const body = bodyOf(this.graph, at);
      if (this.inLine(body)) {
        body.constants.forEach(found);
        body.parameters.forEach(found);
      }
    } else if (part === Part.in) {
      bodyOf(this.graph, at).results.forEach(found);
    } else if (part !== Part.let) {
      found(at);
    }
  }

  write(part: number, at: number): readonly Piece[] {
    switch (part) {
      case Part.equation:
        return [...this.head(at), ...this.parameters(at), ...this.reads(at)];
      case Part.opens:
        return [...this.head(at), plain('['), ...this.pairs(at)];
      case Part.closes:
        return [plain(']'), ...this.reads(at)];
      case Part.lambda:
        return this.lambda(at);
      case Part.constant:
        return [...this.binders([at]), ...this.comment(this.document.strings[this.graph.name[at]], 'constant')];
      case Part.argument:
        return [...this.binders([at]), ...this.comment(this.document.strings[this.graph.name[at]])];
      case Part.let:
        return [plain('. let')];
      default:
        return this.results(at);
    }
  }

  /** What is left of the operands: `c:f32[3] = add`. */
  private head(node: number): Piece[] {
    const made = this.binders([node]);
    return [...made, ...(made.length ? [plain(' = ')] : []), op(this.document.strings[this.graph.op[node]])];
  }

  private parameters(node: number): Piece[] {
    const pairs = this.pairs(node);
    return pairs.length ? [plain('['), ...pairs, plain(']')] : [];
  }

  private pairs(node: number): Piece[] {
    const { strings } = this.document;
    const name = strings[this.graph.name[node]];
    const own = attributesOf(this.document, this.graph, node);
    const isNamed = name && !NAMELESS.has(strings[this.graph.op[node]]) && !own.some(([one]) => one === 'name');
    const all = isNamed ? [['name', name] as const, ...own] : own;
    return joined(
      all.map(([one, text]) => [key(one), plain(`=${elided(text)}`)]),
      ' '
    );
  }

  private reads(node: number): Piece[] {
    return [...operandsOf(this.graph, node)].flatMap(source => [plain(' '), ...this.read(source)]);
  }

  private read(source: number): Piece[] {
    const { strings, types } = this.document;
    if (source >= 0) {
      return [this.valueOf(source)];
    }
    const literal = -1 - source;
    return [
      plain(elided(strings[this.graph.literalText[literal]])),
      type(`:${strings[types.text[this.graph.literalType[literal]]]}`)
    ];
  }

  /** `{ lambda a:f32[3]; b:f32[3]. let`, or its first line. */
  private lambda(region: number): Piece[] {
    const body = bodyOf(this.graph, region);
    const named = this.parameterOf(region);
    const before = [...(named ? [key(named), plain('=')] : []), plain('{ lambda ')];
    const called = this.comment(region ? this.regionName(region) : this.namesOf(body));
    const bound = [...this.binders(body.constants), plain('; '), ...this.binders(body.parameters), plain('. let')];
    return [...before, ...(this.inLine(body) ? bound : [plain(';')]), ...called];
  }

  /** What a jaxpr is a parameter as; nothing for that of the program. */
  private parameterOf(region: number): string {
    const { strings } = this.document;
    const owner = this.graph.regionOwner[region];
    if (owner < 0) {
      return '';
    }
    const kind = strings[this.graph.regionKind[region]];
    if (kind === 'branch') {
      return `branches[${regionsOf(this.graph, owner).indexOf(region)}]`;
    }
    return PARAMETERS[kind] ?? OF_OPERATIONS[strings[this.graph.op[owner]]] ?? 'jaxpr';
  }

  /** What the function calls its arguments, where they stand in one line. */
  private namesOf(body: Body): string {
    const names = body.parameters.map(node => this.document.strings[this.graph.name[node]]);
    return this.inLine(body) && names.every(name => name) ? names.join(', ') : '';
  }

  private regionName(region: number): string {
    return this.document.strings[this.graph.regionName[region]];
  }

  /** `in (a, b) }` */
  private results(region: number): Piece[] {
    const read = bodyOf(this.graph, region).results.map(node =>
      [...operandsOf(this.graph, node)].flatMap(source => this.read(source))
    );
    return [plain('in ('), ...joined(read, ', '), plain(read.length === 1 ? ',) }' : ') }')];
  }

  /** What nodes make, with its types: `a:f32[3] b:f32[]`. */
  private binders(nodes: readonly number[]): Piece[] {
    const { strings, types } = this.document;
    return joined(
      nodes
        .flatMap(node => valuesOf(this.graph, node))
        .map(one => [this.valueOf(one), type(`:${strings[types.text[this.graph.valueType[one]]]}`)]),
      ' '
    );
  }

  private inLine({ constants, parameters }: Body): boolean {
    const all = [...constants, ...parameters];
    return all.length <= MOST_IN_LINE || !all.some(node => this.document.strings[this.graph.name[node]]);
  }

  private comment(text: string, kind = ''): Piece[] {
    const words = [kind, text].filter(Boolean).join(' ');
    return words ? [note(`  # ${words}`)] : [];
  }

  private valueOf(one: number): Piece {
    return value(this.letter[one] < 0 ? '_' : letters(this.letter[one]), this.graph.valueNode[one]);
  }
}

/** Values are called in the order in which they are printed, which is that of the graph. */
function lettersOf(graph: Graph): Int32Array {
  const letter = new Int32Array(graph.valueNode.length).fill(-1);
  for (const source of graph.operandSource) {
    if (source >= 0) {
      letter[source] = 0;
    }
  }
  let next = 0;
  letter.forEach((read, one) => {
    if (read === 0 || !isOperation(graph, graph.valueNode[one])) {
      letter[one] = next++;
    }
  });
  return letter;
}

/** A number in letters: a to z, then ba, bb and on. */
function letters(number: number): string {
  let text = '';
  for (let rest = number; rest > 0 || !text; rest = Math.floor(rest / 26)) {
    text = String.fromCharCode(97 + (rest % 26)) + text;
  }
  return text;
}
