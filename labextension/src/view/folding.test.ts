/** Whatever is open and whichever copies are shown, boxes stand in the order of the program: no edge closes a cycle. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodePlain } from '../document/decode.ts';
import { NodeKind, RowKind, type Document } from '../document/graph.ts';
import { Sketch } from '../document/sketch.ts';
import { bordersOf } from './borders.ts';
import { Folds } from './folds.ts';
import { rowsOf } from './outline.ts';
import { show, type ViewState } from './view.ts';

/** A piece of a program: an operation that reads values made so far, counted from the last one, or what holds others. */
interface Piece {
  readonly reads: readonly number[];
  readonly parts: readonly Piece[];
  /** Of each copy, the part that it lacks, and the one that it begins with; of the first, the part that it lacks too. */
  readonly copies: readonly { readonly lacks: number; readonly begins: number; readonly bare?: boolean }[];
  readonly lacks?: number;
  readonly bare?: boolean;
  /** Stands in a statement, with an operation; in a copy that is bare it is all of that. */
  readonly stated?: boolean;
}

const reads = fc.array(fc.nat(12), { minLength: 1, maxLength: 2 });
const copies = fc.array(fc.record({ lacks: fc.nat(7), begins: fc.nat(2), bare: fc.boolean() }), { maxLength: 3 });
const { pieces } = fc.letrec<{ piece: Piece; pieces: Piece[] }>(tie => ({
  piece: fc.record({
    reads,
    parts: fc.oneof({ maxDepth: 3 }, fc.constant([]), tie('pieces')),
    copies,
    lacks: fc.integer({ min: -1, max: 2 }),
    bare: fc.boolean(),
    stated: fc.boolean()
  }),
  pieces: fc.array(tie('piece'), { minLength: 1, maxLength: 3 })
}));

interface Row {
  readonly parent: number;
  readonly kind: number;
  readonly first: number;
  readonly copy: number;
  /** Rows of the same way are alike. */
  readonly way: string;
  end: number;
  count: number;
}

class Writer {
  private readonly sketch = new Sketch();
  private readonly values = [this.sketch.argument('x', 'f32[4]')];
  private readonly rows: Row[] = [];
  private bare = false;

  document(parts: readonly Piece[]): Document {
    this.row(-1, RowKind.program, '', () => this.write(0, parts));
    this.sketch.result('result', this.values[this.values.length - 1]);
    const plain = this.sketch.plain();
    const { rows } = this;
    const zero = rows.map(() => 0);
    const nodes = plain.graphs[0].nodes.kind.length;
    rows[0].end = nodes;
    plain.outlines = [
      {
        graph: 0,
        back: rows.map(({ parent }, row) => row - parent),
        kind: rows.map(({ kind }) => kind),
        name: zero,
        detail: zero,
        variable: zero,
        gap: rows.map(({ first }, row) => first - (row ? rows[row - 1].first : 0)),
        size: rows.map(({ first, end }) => end - first),
        closed: zero,
        count: rows.map(({ count }) => count),
        copy: rows.map(({ copy }) => copy),
        like: rows.map(({ way }, row) => row - rows.findIndex(other => other.way === way)),
        twin: zero,
        region: rows.map(() => -1),
        role: Array.from({ length: nodes }, () => 0)
      }
    ];
    return decodePlain(plain);
  }

  private write(around: number, parts: readonly Piece[], begins = 0, lacks = -1): void {
    parts.forEach((_, i) => {
      const at = (i + begins) % parts.length;
      if (at !== lacks) {
        const way = [this.rows[around].way, at].filter(step => step !== '').join('/');
        if (!parts[at].stated || this.bare) {
          this.piece(around, parts[at], way);
        } else {
          this.row(around, RowKind.statement, `${way}/statement`, row => {
            this.piece(row, parts[at], way);
            this.values.push(
              this.sketch.op(`${way.replaceAll('/copy', '')}/add`, [this.values[this.values.length - 1]], 'f32[4]')
            );
          });
        }
      }
    });
  }

  private piece(
    around: number,
    { reads, parts, copies, lacks: first = -1, bare: one = false }: Piece,
    way: string
  ): void {
    if (!parts.length) {
      const sources = reads.map(back => this.values[Math.max(0, this.values.length - 1 - back)]);
      this.values.push(this.sketch.op(way.replaceAll('/copy', ''), sources, 'f32[4]'));
    } else if (!copies.length) {
      this.row(around, RowKind.function, way, row => this.write(row, parts));
    } else {
      this.row(around, RowKind.stack, way, stack => {
        this.rows[stack].count = copies.length + 1;
        [{ lacks: first, begins: 0, bare: one }, ...copies].forEach(({ lacks, begins, bare = false }, copy) => {
          const lacking = parts.length > 1 ? lacks : -1;
          const around = this.bare;
          this.bare = bare;
          this.row(stack, RowKind.copy, `${way}/copy`, row => this.write(row, parts, begins, lacking), copy);
          this.bare = around;
        });
      });
    }
  }

  private row(parent: number, kind: number, way: string, fill: (row: number) => void, copy = -1): void {
    const row = this.rows.length;
    const first = row ? this.sketch.last + 1 : 0;
    this.rows.push({ parent, kind, first, end: first, count: 1, copy, way });
    fill(row);
    this.rows[row].end = this.sketch.last + 1;
  }
}

/** Edges between what stands in one frame, from box to box. */
function edgesOfFrames(document: Document, state: ViewState): (readonly [number, number])[] {
  const { source, target, parent } = show(document, document.graphs[0], state);
  const around = (box: number): number[] => (box < 0 ? [] : [...around(parent[box]), box]);
  return [...source].flatMap((maker, edge) => {
    const [one, other] = [around(maker), around(target[edge])];
    const apart = one.findIndex((box, depth) => box !== other[depth]);
    return apart >= 0 && apart < other.length ? [[one[apart], other[apart]] as const] : [];
  });
}

/** The operations that are in no box, or in one that is not there. */
function lost(document: Document, state: ViewState): number[] {
  const graph = document.graphs[0];
  const rows = rowsOf(document, graph);
  const { item } = new Folds(graph, rows, bordersOf(graph), state);
  const boxes = new Set(show(document, graph, state).item);
  return [...graph.kind.keys()].filter(node => graph.kind[node] === NodeKind.operation && !boxes.has(item[node]));
}

/** True where some boxes can be reached from themselves: taken away one by one, they are what stays. */
function hasCycle(edges: readonly (readonly [number, number])[]): boolean {
  for (let left = edges; left.length;) {
    const made = new Set(left.map(([, target]) => target));
    const rest = left.filter(([source]) => made.has(source));
    if (rest.length === left.length) {
      return true;
    }
    left = rest;
  }
  return false;
}

test('stacks in stacks, of copies that lack a part or have it in another order, make no cycle and lose nothing', () => {
  const choice = fc.array(fc.boolean(), { minLength: 7, maxLength: 7 });
  fc.assert(
    fc.property(pieces, choice, choice, (parts, opened, spread) => {
      const document = new Writer().document(parts);
      const rows = [...document.outlines[0].count.keys()];
      const state = {
        open: new Set(rows.filter(row => row === 0 || opened[row % opened.length])),
        spread: new Set(rows.filter(row => spread[row % spread.length]))
      };
      assert.ok(!hasCycle(edgesOfFrames(document, state)), 'cycle');
      assert.deepEqual(lost(document, state), []);
    }),
    { numRuns: 200 }
  );
});

test('what one copy of an inner stack gives to the next is no edge, in whichever copy of the outer one that is', () => {
  const op = (...reads: number[]): Piece => ({ reads, parts: [], copies: [] });
  const twice = (...parts: Piece[]): Piece => ({ reads: [], parts, copies: [{ lacks: -1, begins: 0 }] });
  // The last one reads what the first one of the copy before has made.
  const document = new Writer().document([twice(twice(op(0), op(0), op(0, 4)))]);
  const { label, source, target } = show(document, document.graphs[0], {
    open: new Set(document.outlines[0].count.keys())
  });
  assert.deepEqual(
    [...source].map((box, edge) => `${label[box]} ${label[target[edge]]}`),
    ['x 0/0/0', '0/0/0 0/0/1', '0/0/1 0/0/2', 'x 0/0/2', '0/0/2 result']
  );
});

test('a call that is all of its statement in a later copy is seen as the one in the statement of the first', () => {
  const op: Piece = { reads: [0], parts: [], copies: [] };
  const call: Piece = { reads: [], parts: [op, op], copies: [], stated: true };
  const layers: Piece = { reads: [], parts: [op, call], copies: [{ lacks: -1, begins: 0, bare: true }] };
  const document = new Writer().document([layers]);
  const kinds = [...document.outlines[0].kind.entries()];
  const apart = (...closed: number[]): readonly string[] =>
    show(document, document.graphs[0], {
      open: new Set(kinds.filter(([, kind]) => !closed.includes(kind)).map(([row]) => row))
    }).detail.filter(detail => detail.includes('in 1 of 2'));
  assert.deepEqual(apart(), []);
  assert.deepEqual(apart(RowKind.function), []);
  assert.deepEqual(apart(RowKind.statement), []);
});

test('what only a later copy has in such a call stands in the statement of the first, where that is closed', () => {
  const op: Piece = { reads: [0], parts: [], copies: [] };
  const call: Piece = { reads: [], parts: [op, { ...op, parts: [op, op], stated: true }], copies: [], stated: true };
  const layers: Piece = { reads: [], parts: [op, call], copies: [{ lacks: -1, begins: 0, bare: true }] };
  const document = new Writer().document([layers]);
  const { kind, like } = document.outlines[0];
  // The innermost row of the later copy is like nothing in the first.
  like[kind.lastIndexOf(RowKind.function)] = -1;
  const open = new Set([...kind.keys()].filter(row => kind[row] !== RowKind.statement));
  const { detail } = show(document, document.graphs[0], { open });
  assert.deepEqual(
    detail.filter(one => one.includes('in 1 of 2')),
    []
  );
});

test('a call that is all of its statement in the first copy alone is seen as one, and the rest of it stands beside that', () => {
  const op: Piece = { reads: [0], parts: [], copies: [] };
  const call: Piece = { reads: [], parts: [op, op], copies: [], stated: true };
  const later = { lacks: -1, begins: 0 };
  const document = new Writer().document([{ reads: [], parts: [op, call], copies: [later, later], bare: true }]);
  const kinds = [...document.outlines[0].kind.entries()];
  const beside = (...closed: number[]): readonly string[] => {
    const { label, detail } = show(document, document.graphs[0], {
      open: new Set(kinds.filter(([, kind]) => !closed.includes(kind)).map(([row]) => row))
    });
    return label.filter((_, box) => detail[box].includes('in 2 of 3'));
  };
  assert.deepEqual(beside(), ['0/1/add']);
  assert.deepEqual(beside(RowKind.function), ['0/1/add']);
  assert.deepEqual(beside(RowKind.statement), ['0/1/add']);
});
