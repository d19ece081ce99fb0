/** Small documents written by hand, for tests: a builder that keeps the columns of one graph in step. */
import { BindingKind, NodeKind } from './graph.ts';
import type { Document as PlainDocument, Outline as PlainOutline } from './schema.generated.ts';

/** A value of the sketch, or a literal by its text. */
export type Source = number | string;

export class Sketch {
  readonly strings: string[] = [''];
  private readonly types: string[] = [];
  private readonly nodes = {
    kind: [] as number[],
    op: [] as number[],
    name: [] as number[],
    region: [] as number[],
    stack: [] as number[],
    scope: [] as number[],
    outputs: [] as number[],
    operands: [] as number[]
  };
  private readonly valueType: number[] = [];
  private readonly source: number[] = [];
  private readonly literals = { text: [] as number[], type: [] as number[] };
  private readonly regions = { owner: [-1], kind: [] as number[], name: [0] };
  private readonly bindings = { kind: [] as number[], from: [] as number[], to: [] as number[] };
  private readonly attributes = { node: [] as number[], key: [] as number[], value: [] as number[] };
  private readonly inside: number[] = [0];

  constructor(readonly name = 'sketch') {
    this.regions.kind.push(this.string('program'));
  }

  argument(name: string, type: string, bind?: { kind: keyof typeof BindingKind; from: Source }): number {
    const value = this.node(NodeKind.argument, '', name, [], [type]);
    if (bind) {
      this.bind(bind.kind, this.operand(bind.from), this.nodes.kind.length - 1);
    }
    return value;
  }

  constant(name: string, type: string): number {
    return this.node(NodeKind.constant, '', name, [], [type]);
  }

  op(
    op: string,
    reads: readonly Source[],
    types: string | readonly string[],
    attributes: Record<string, string> = {},
    name = ''
  ): number {
    const value = this.node(NodeKind.operation, op, name, reads, typeof types === 'string' ? [types] : types);
    this.mark(attributes);
    return value;
  }

  /** Attributes of the last node. */
  mark(attributes: Record<string, string>): void {
    for (const [key, text] of Object.entries(attributes)) {
      this.attributes.node.push(this.nodes.kind.length - 1);
      this.attributes.key.push(this.string(key));
      this.attributes.value.push(this.string(text));
    }
  }

  /** The number of the last node; its owner when a region follows. */
  get last(): number {
    return this.nodes.kind.length - 1;
  }

  /** A region of node `owner`, which must be the last operation at its level. */
  region(owner: number, kind: string, name: string, fill: () => void): void {
    this.inside.push(this.regions.owner.length);
    this.regions.owner.push(owner);
    this.regions.kind.push(this.string(kind));
    this.regions.name.push(this.string(name));
    fill();
    this.inside.pop();
  }

  /** A result of the innermost region; gives its node. */
  result(name: string, reads: Source, leaves?: { kind: 'leave' | 'stack'; to: number }): number {
    this.node(NodeKind.result, '', name, [reads], []);
    if (leaves) {
      this.bind(leaves.kind, this.last, leaves.to);
    }
    return this.last;
  }

  bind(kind: keyof typeof BindingKind, from: number, to: number): void {
    this.bindings.kind.push(BindingKind[kind]);
    this.bindings.from.push(from);
    this.bindings.to.push(to);
  }

  plain(): PlainDocument {
    const texts = this.types;
    const shapes = texts.map(text => (/\[(.*)\]/.exec(text)?.[1] ?? '').split(',').filter(Boolean).map(Number));
    return {
      format: 'jaxviz',
      version: 1,
      producer: { jaxviz: '0' },
      strings: this.strings,
      types: {
        text: texts.map(text => this.string(text)),
        dtype: texts.map(text => this.string(text.replace(/\[.*/, ''))),
        rank: shapes.map(shape => shape.length),
        dims: shapes.flat(),
        bytes: shapes.map(shape => 4 * shape.reduce((product, size) => product * size, 1)),
        weak: texts.map(() => 0)
      },
      files: { path: [], label: [], library: [], start: [], text: [] },
      frames: { file: [], function: [], line: [], column: [], endLine: [], endColumn: [] },
      stacks: { frame: [], parent: [] },
      graphs: [
        {
          nodes: this.nodes,
          values: { type: this.valueType },
          operands: { source: this.source },
          literals: this.literals,
          regions: this.regions,
          bindings: this.bindings,
          attributes: this.attributes
        }
      ],
      programs: [
        {
          name: this.name,
          call: `${this.name}()`,
          file: -1,
          line: 0,
          stages: [{ kind: 'jaxpr', graph: 0, seconds: {} }]
        }
      ]
    };
  }

  private node(kind: number, op: string, name: string, reads: readonly Source[], types: readonly string[]): number {
    const { nodes } = this;
    const first = this.valueType.length;
    nodes.kind.push(kind);
    nodes.op.push(this.string(op));
    nodes.name.push(this.string(name));
    nodes.region.push(this.inside[this.inside.length - 1]);
    nodes.stack.push(-1);
    nodes.scope.push(0);
    nodes.outputs.push(types.length);
    nodes.operands.push(reads.length);
    this.source.push(...reads.map(read => this.operand(read)));
    this.valueType.push(...types.map(type => this.type(type)));
    return first;
  }

  private operand(source: Source): number {
    if (typeof source === 'number') {
      return source;
    }
    this.literals.text.push(this.string(source));
    this.literals.type.push(this.type('f32[]'));
    return -this.literals.text.length;
  }

  private string(text: string): number {
    const at = this.strings.indexOf(text);
    return at >= 0 ? at : this.strings.push(text) - 1;
  }

  private type(text: string): number {
    const at = this.types.indexOf(text);
    return at >= 0 ? at : this.types.push(text) - 1;
  }
}

/** The outline of the first graph, of `nodes` operations and values: plain rows, each once and without a twin. */
export function plainOutline(
  rows: Pick<PlainOutline, 'back' | 'kind' | 'name' | 'gap' | 'size'>,
  nodes: number
): PlainOutline {
  const same = (value: number): number[] => rows.back.map(() => value);
  return {
    graph: 0,
    ...rows,
    detail: same(0),
    variable: same(0),
    closed: same(0),
    count: same(1),
    copy: same(-1),
    like: same(0),
    twin: same(0),
    region: same(-1),
    role: new Array<number>(nodes).fill(0)
  };
}

/** Three operations and their arguments: `tanh(w @ x + b)`. */
export function affine(): Sketch {
  const sketch = new Sketch('affine');
  const w = sketch.argument('w', 'f32[4,8]');
  const b = sketch.argument('b', 'f32[4]');
  const x = sketch.argument('x', 'f32[8]');
  const product = sketch.op('dot_general', [w, x], 'f32[4]', { dimension_numbers: '(((1,), (0,)), ((), ()))' });
  const sum = sketch.op('add', [product, b], 'f32[4]');
  sketch.result('result', sketch.op('tanh', [sum], 'f32[4]'));
  return sketch;
}

/** A loop that carries one value, reads a slice each turn and reads `w` in every turn. */
export function loop(): Sketch {
  const sketch = new Sketch('loop');
  const w = sketch.argument('w', 'f32[4]');
  const start = sketch.argument('h', 'f32[4]');
  const xs = sketch.argument('xs', 'f32[32,4]');
  const final = sketch.op('scan', [w, start, xs], ['f32[4]', 'f32[32,4]'], { length: '32' });
  const owner = sketch.last;
  sketch.region(owner, 'scan', 'cell', () => {
    const kept = sketch.argument('', 'f32[4]', { kind: 'enter', from: w });
    const carried = sketch.argument('', 'f32[4]', { kind: 'init', from: start });
    const first = sketch.last;
    const slice = sketch.argument('', 'f32[4]', { kind: 'slice', from: xs });
    const product = sketch.op('mul', [carried, kept], 'f32[4]');
    const sum = sketch.op('add', [product, slice], 'f32[4]');
    const next = sketch.result('', sum, { kind: 'leave', to: final });
    sketch.bind('carry', next, first);
    sketch.result('', product, { kind: 'stack', to: final + 1 });
  });
  sketch.result('result', sketch.op('neg', [final], 'f32[4]'));
  return sketch;
}

/** A value that one of two branches makes. */
export function condition(): Sketch {
  const sketch = new Sketch();
  const p = sketch.argument('p', 'bool[]');
  const x = sketch.argument('x', 'f32[4]');
  const y = sketch.op('cond', [p, x], 'f32[4]');
  const owner = sketch.last;
  for (const [name, op] of [
    ['if false', 'cos'],
    ['if true', 'sin']
  ]) {
    sketch.region(owner, 'branch', name, () => {
      const inner = sketch.argument('', 'f32[4]', { kind: 'enter', from: x });
      sketch.result('', sketch.op(op, [inner], 'f32[4]'), { kind: 'leave', to: y });
    });
  }
  sketch.result('result', sketch.op('neg', [y], 'f32[4]'));
  return sketch;
}

/** A loop in which so many values go round that they are chips. */
export function threeCarried(): Sketch {
  const sketch = new Sketch('kept');
  const starts = ['a', 'b', 'c'].map(name => sketch.argument(name, 'f32[4]'));
  const final = sketch.op('scan', starts, ['f32[4]', 'f32[4]', 'f32[4]', 'f32[32,4]'], { length: '32' });
  sketch.region(sketch.last, 'scan', 'cell', () => {
    const carried = starts.map(from => sketch.argument('', 'f32[4]', { kind: 'init', from }));
    const first = sketch.last - 2;
    for (const [i, op] of ['sin', 'cos', 'tan'].entries()) {
      const next = sketch.op(op, [carried[i]], 'f32[4]');
      sketch.bind('carry', sketch.result('', next, { kind: 'leave', to: final + i }), first + i);
    }
    sketch.result('', carried[0], { kind: 'stack', to: final + 3 });
  });
  sketch.result('result', sketch.op('abs', [final + 3], 'f32[32,4]'));
  return sketch;
}

/** A function that is called twice, beside what it is called with. */
export function calledTwice(): Sketch {
  const sketch = new Sketch('twice');
  let value = sketch.argument('x', 'f32[4]');
  for (let i = 0; i < 2; i++) {
    const made = sketch.op('call', [value], 'f32[4]', {}, 'double');
    sketch.region(sketch.last, 'call', 'double', () => {
      const inner = sketch.argument('', 'f32[4]', { kind: 'enter', from: value });
      sketch.result('', sketch.op('add', [inner, inner], 'f32[4]'), { kind: 'leave', to: made });
    });
    value = made;
  }
  sketch.result('result', value);
  return sketch;
}
