/**
 * StableHLO as MLIR prints it: a line for each operation, `%0 = stablehlo.add %arg0, %arg1 : tensor<8xf32>`; the bodies
 * of loops and branches stand in braces in their operations, functions once behind the one that the program begins with.
 */
import { BindingKind, NodeKind, type Document, type Graph } from '../document/graph.ts';
import { attributesOf, bodyOf, operandsOf, regionsOf, valuesOf } from './body.ts';
import type { Lines, Syntax } from './listing.ts';
import { MlirNames, NONE_YET, type Count, type Stem } from './mlirNames.ts';
import { mlirType } from './mlirTypes.ts';
import { writeAsFirst } from './once.ts';
import { PRINTED } from './printed.ts';
import { body, elided, joined, key, note, op, plain, title, type, value, type Piece } from './pieces.ts';

const Part = {
  module: 0,
  function: 1,
  parameter: 2,
  parametersEnd: 3,
  operation: 4,
  opens: 5,
  body: 6,
  closes: 7,
  returns: 8,
  functionEnd: 9,
  moduleEnd: 10
} as const;

/** Arguments of a function that stand in its first line; of more, each has its own. */
const MOST_IN_LINE = 3;
const STEP = 2;
/** Attributes that are spelled otherwise where an operation is printed. */
const SPELLED: Readonly<Record<string, string>> = {
  broadcast_dimensions: 'dims',
  permutation: 'dims',
  slice_sizes: 'sizes',
  dimension: 'dim'
};
/** Those that are a list without its brackets in a document. */
const LISTS = new Set(['broadcast_dimensions', 'permutation', 'slice_sizes', 'dimensions']);
const HELD = new Set(['value', 'values']);

export class StablehloSyntax implements Syntax {
  private readonly names: MlirNames;
  /** The values that those of bodies begin as, by the argument. */
  private readonly begins = new Map<number, { readonly kind: number; readonly from: number }>();

  constructor(
    private readonly document: Document,
    private readonly graph: Graph
  ) {
    this.names = new MlirNames(graph);
    const { bindingKind, bindingFrom, bindingTo } = graph;
    bindingKind.forEach((kind, i) => {
      if (kind === BindingKind.enter || kind === BindingKind.init) {
        this.begins.set(bindingTo[i], { kind, from: bindingFrom[i] });
      }
    });
  }

  lay(lines: Lines): void {
    lines.add(Part.module, 0);
    // Functions that are called by functions come behind them: the list grows as it is read.
    const waiting = [0];
    for (const region of waiting) {
      this.layFunction(lines, region, inner => {
        const { region: first } = lines.call(this.regionName(inner), inner, this.graph.regionOwner[inner]);
        if (first === inner) {
          waiting.push(inner);
        } else {
          writeAsFirst(this.graph, first, inner, lines.writtenAs);
        }
      });
    }
    lines.add(Part.moduleEnd, 0);
  }

  private layFunction(lines: Lines, region: number, called: (region: number) => void): void {
    const { parameters } = bodyOf(this.graph, region);
    this.names.name(parameters, NONE_YET, () => 'arg');
    lines.begin(this.regionName(region), region);
    lines.add(Part.function, region, STEP);
    if (parameters.length > MOST_IN_LINE) {
      parameters.forEach(node => lines.add(Part.parameter, node, 3 * STEP));
      lines.add(Part.parametersEnd, region, STEP);
    }
    if (!region) {
      lines.beginFrom(0);
    }
    this.layBlock(lines, region, 2 * STEP, NONE_YET, called);
    lines.add(Part.functionEnd, region, STEP);
  }

  private layBlock(lines: Lines, region: number, indent: number, from: Count, called: (region: number) => void): void {
    const { graph } = this;
    const { operations } = bodyOf(graph, region, true);
    const count = this.names.name(operations, from, node => this.stemOf(node));
    for (const node of operations) {
      const regions = regionsOf(graph, node);
      if (!regions.length || this.isCall(node)) {
        lines.add(Part.operation, node, indent);
        regions.forEach(called);
        continue;
      }
      lines.add(Part.opens, node, indent);
      for (const inner of regions) {
        lines.add(Part.body, inner, indent);
        this.layBlock(lines, inner, indent + STEP, this.begin(inner, count), called);
      }
      lines.add(Part.closes, node, indent);
    }
    lines.add(Part.returns, region, indent);
  }

  /** Names what a body begins with: what a loop carries anew, what is seen from around as there. */
  private begin(region: number, from: Count): Count {
    const { parameters } = bodyOf(this.graph, region);
    const own = parameters.filter(node => {
      const bound = this.begins.get(node);
      if (bound?.kind === BindingKind.enter) {
        this.names.alias(this.graph.firstValue[node], bound.from);
      }
      return bound?.kind !== BindingKind.enter;
    });
    return this.names.name(own, from, () => 'iterArg');
  }

  private stemOf(node: number): Stem {
    const { strings, types } = this.document;
    if (this.opOf(node) !== 'constant') {
      return '';
    }
    const made = this.graph.valueType[this.graph.firstValue[node]];
    return /^(u|s|i|bool|pred)/.test(strings[types.dtype[made]]) ? 'c' : 'cst';
  }

  private opOf(node: number): string {
    return this.graph.kind[node] === NodeKind.constant ? 'constant' : this.document.strings[this.graph.op[node]];
  }

  /** True where what an operation holds is a function, which is written once for all that call it. */
  private isCall(node: number): boolean {
    const [region] = regionsOf(this.graph, node);
    return region !== undefined && this.isFunction(region);
  }

  about(part: number, at: number, found: (node: number) => void): void {
    const { graph } = this;
    if (part === Part.function || part === Part.body) {
      const { parameters } = bodyOf(graph, at);
      if (part === Part.body || parameters.length <= MOST_IN_LINE) {
        parameters.forEach(found);
      }
    } else if (part === Part.returns) {
      bodyOf(graph, at).results.forEach(found);
    } else if (part === Part.parameter || part === Part.operation || part === Part.opens || part === Part.closes) {
      found(at);
    }
  }

  write(part: number, at: number): readonly Piece[] {
    switch (part) {
      case Part.module:
        return [plain('module '), title(`@${this.regionName(0) || 'main'}`), plain(' {')];
      case Part.function:
        return this.signature(at);
      case Part.parameter:
        return this.parameterLine(at);
      case Part.parametersEnd:
        return [plain(') -> '), ...this.resultType(at), plain(' {')];
      case Part.operation:
        return this.operation(at);
      case Part.opens:
        return [...this.head(at), ...this.opening(at), ...this.attributes(at), ...this.typesOf(at)];
      case Part.body:
        return this.bodyBegin(at);
      case Part.closes:
        return [plain(this.isLoop(at) ? '}' : '})')];
      case Part.returns:
        return this.returned(at);
      default:
        return [plain('}')];
    }
  }

  private signature(region: number): Piece[] {
    const { parameters } = bodyOf(this.graph, region);
    const head = [
      plain('func.func '),
      region ? body('private @', this.regionName(region)) : title('public @main'),
      plain('(')
    ];
    if (parameters.length > MOST_IN_LINE) {
      return head;
    }
    const all = parameters.map(node => this.typed(this.graph.firstValue[node]));
    return [...head, ...joined(all, ', '), plain(') -> '), ...this.resultType(region), plain(' {')];
  }

  private parameterLine(node: number): Piece[] {
    const name = this.document.strings[this.graph.name[node]];
    return [...this.typed(this.graph.firstValue[node]), plain(','), ...(name ? [note(`  // ${name}`)] : [])];
  }

  private head(node: number): Piece[] {
    const { firstValue } = this.graph;
    const count = firstValue[node + 1] - firstValue[node];
    const name = this.opOf(node);
    const made = count ? [value(`${this.names.group(node)}${count > 1 ? `:${count}` : ''}`, node), plain(' = ')] : [];
    return [...made, op(name === 'call' ? this.callWord(node) : /[. ]/.test(name) ? name : `stablehlo.${name}`)];
  }

  /** In a function itself, its dialect goes without saying. */
  private callWord(node: number): string {
    return this.isFunction(this.graph.region[node]) ? 'call' : 'func.call';
  }

  private isFunction(region: number): boolean {
    return !region || this.document.strings[this.graph.regionKind[region]] === 'call';
  }

  private operation(node: number): Piece[] {
    const own = new Map(attributesOf(this.document, this.graph, node));
    const read = [...operandsOf(this.graph, node)].map(source => this.read(source));
    const spelled = PRINTED[this.opOf(node)]?.(read, own);
    return [
      ...this.head(node),
      ...(spelled ?? [...this.operands(node, read), ...this.attributes(node)]),
      ...this.typesOf(node)
    ];
  }

  private operands(node: number, read: readonly (readonly Piece[])[]): Piece[] {
    const { strings } = this.document;
    if (this.opOf(node) === 'call') {
      const [region = -1] = regionsOf(this.graph, node);
      const name = region < 0 ? strings[this.graph.name[node]] : this.regionName(region);
      return [plain(' '), body('@', name), plain('('), ...joined(read, ', '), plain(')')];
    }
    const held = attributesOf(this.document, this.graph, node).find(([name]) => HELD.has(name))?.[1];
    return held === undefined
      ? [plain(read.length ? ' ' : ''), ...joined(read, ', ')]
      : [plain(` dense<${elided(held)}>`)];
  }

  private attributes(node: number): Piece[] {
    return attributesOf(this.document, this.graph, node)
      .filter(([name]) => !HELD.has(name))
      .flatMap(([name, text]) => [
        plain(', '),
        key(SPELLED[name] ?? name),
        plain(` = ${LISTS.has(name) ? `[${elided(text).replace(/^\(\)$/, '')}]` : elided(text)}`)
      ]);
  }

  /** `: tensor<8xf32>` where all that is read and made is of one type, else what is read and what is made. */
  private typesOf(node: number): Piece[] {
    const read = [...operandsOf(this.graph, node)].map(source => this.typeOf(source));
    const made = valuesOf(this.graph, node).map(one => this.typeOf(one));
    const isLoop = regionsOf(this.graph, node).length > 0 && this.isLoop(node);
    if (isLoop) {
      return [
        plain(' : '),
        ...joined(
          made.map(one => [type(one)]),
          ', '
        )
      ];
    }
    return new Set([...read, ...made]).size <= 1 && made.length <= 1
      ? [plain(' : '), type(made[0] ?? read[0] ?? '()')]
      : [
          plain(' : ('),
          ...joined(
            read.map(one => [type(one)]),
            ', '
          ),
          plain(') -> '),
          ...listOf(made)
        ];
  }

  /** What a loop begins with, each by the name that it has inside. */
  private opening(node: number): Piece[] {
    const { graph } = this;
    if (!this.isLoop(node)) {
      const read = [...operandsOf(graph, node)].map(source => this.read(source));
      return [plain('('), ...joined(read, ', '), plain(')')];
    }
    const { parameters } = bodyOf(graph, regionsOf(graph, node)[0]);
    const carried = parameters.flatMap(one => {
      const bound = this.begins.get(one);
      const own = graph.firstValue[one];
      return bound?.kind === BindingKind.init ? [[this.valueOf(own), plain(' = '), ...this.read(bound.from)]] : [];
    });
    return [plain('('), ...joined(carried, ', '), plain(')')];
  }

  private isLoop(node: number): boolean {
    const [region] = regionsOf(this.graph, node);
    return region !== undefined && this.document.strings[this.graph.regionKind[region]].startsWith('while');
  }

  private bodyBegin(region: number): Piece[] {
    const owner = this.graph.regionOwner[region];
    const first = regionsOf(this.graph, owner)[0] === region;
    if (this.isLoop(owner)) {
      return [plain(first ? 'cond {' : '} do {')];
    }
    const name = this.regionName(region);
    const own = bodyOf(this.graph, region)
      .parameters.filter(node => this.begins.get(node)?.kind !== BindingKind.enter)
      .map(node => this.typed(this.graph.firstValue[node]));
    const taken = own.length ? [plain(' ^bb0('), ...joined(own, ', '), plain('):')] : [];
    return [plain(first ? '({' : '}, {'), ...taken, ...(name ? [note(`  // ${name}`)] : [])];
  }

  private returned(region: number): Piece[] {
    const sources = bodyOf(this.graph, region).results.flatMap(node => [...operandsOf(this.graph, node)]);
    const types = sources.map(source => [type(this.typeOf(source))]);
    return [
      op(this.isFunction(region) ? 'return' : 'stablehlo.return'),
      ...(sources.length ? [plain(' ')] : []),
      ...joined(
        sources.map(source => this.read(source)),
        ', '
      ),
      ...(sources.length ? [plain(' : '), ...joined(types, ', ')] : [])
    ];
  }

  private resultType(region: number): Piece[] {
    const { results } = bodyOf(this.graph, region);
    return listOf(results.flatMap(node => [...operandsOf(this.graph, node)].map(source => this.typeOf(source))));
  }

  private typed(one: number): Piece[] {
    return [this.valueOf(one), plain(': '), type(this.typeOf(one))];
  }

  private typeOf(source: number): string {
    const { valueType, literalType } = this.graph;
    return mlirType(this.document, source >= 0 ? valueType[source] : literalType[-1 - source]);
  }

  private read(source: number): Piece[] {
    return source >= 0
      ? [this.valueOf(source)]
      : [plain(elided(this.document.strings[this.graph.literalText[-1 - source]]))];
  }

  private valueOf(one: number): Piece {
    return value(this.names.text(one), this.graph.valueNode[this.names.origin(one)]);
  }

  private regionName(region: number): string {
    return this.document.strings[this.graph.regionName[region]];
  }
}

function listOf(types: readonly string[]): Piece[] {
  const all = types.map(one => [type(one)]);
  return types.length === 1 ? all[0] : [plain('('), ...joined(all, ', '), plain(')')];
}
