/**
 * The graphs after the passes of the compiler, from what differs between them. Records are kept once for all states; the
 * schema says how. A state is put together when it is asked for.
 */
import { buildGraph, buildOutline, offsets } from './build.ts';
import { BindingKind, type Document, type Graph, type Outline, type Passes } from './graph.ts';
import { getOrMake } from '../maps';

const PARTS = ['nodes', 'regions', 'rows', 'bindings'] as const;
const LISTS = ['outputs', 'operands', 'attributes', 'links'] as const;

/** The records of a state, by part. */
type Sequences = Readonly<Record<(typeof PARTS)[number], readonly number[]>>;

/** The program after a pass, with what belongs to its graph. */
export interface State {
  readonly graph: Graph;
  /** Its `graph` is -1: the outline is of no document yet. */
  readonly outline: Outline;
  /** What each node is called in all states, and the node of each lineage. */
  readonly lineage: readonly number[];
  readonly nodeOf: ReadonlyMap<number, number>;
  /** Links to the jaxpr: node here, node there, one of `LinkKind`. */
  readonly links: { readonly source: Int32Array; readonly target: Int32Array; readonly kind: Uint8Array };
}

const knownSequences = new WeakMap<Passes, readonly Sequences[]>();
const knownStates = new WeakMap<Passes, Map<number, State>>();

/** One state, put together; `RangeError` where its records do not fit. */
export function stateOf(passes: Passes, number: number): State {
  const states = getOrMake(knownStates, passes, () => new Map<number, State>());
  return getOrMake(states, number, () => new Reader(passes, sequencesOf(passes)[number]).state());
}

/** The record of each node that is there in a state, by lineage. */
export function recordsOf(passes: Passes, number: number): ReadonlyMap<number, number> {
  return new Map(sequencesOf(passes)[number].nodes.map(record => [passes.nodes.lineage[record], record]));
}

function sequencesOf(passes: Passes): readonly Sequences[] {
  return getOrMake(knownSequences, passes, () => {
    let before: Sequences = { nodes: [], regions: [], rows: [], bindings: [] };
    return passes.states.map(state => {
      const after = (part: (typeof PARTS)[number]): number[] =>
        applyEdit(before[part], state[part], passes[part].kind.length);
      before = { nodes: after('nodes'), regions: after('regions'), rows: after('rows'), bindings: after('bindings') };
      return before;
    });
  });
}

/** The sequence that an edit makes of another: how many stay, go and come, those that come, and so on. */
export function applyEdit(before: readonly number[], edit: readonly number[], records: number): number[] {
  const parts: number[][] = [];
  let at = 0;
  for (let place = 0; place < edit.length;) {
    const [stay, go, come] = edit.slice(place, place + 3);
    const fresh = edit.slice(place + 3, place + 3 + come);
    if (!(at + stay + go <= before.length) || fresh.length !== come || fresh.some(record => record >= records)) {
      throw new RangeError(`an edit of ${before.length} records does not fit`);
    }
    parts.push(before.slice(at, at + stay), fresh);
    at += stay + go;
    place += 3 + come;
  }
  return [...parts, before.slice(at)].flat();
}

/** Checks that passes are about nodes that there are, and that their edits fit. What else may be wrong, a state says. */
export function checkPasses(document: Document): void {
  document.passes.forEach((passes, index) => {
    const path = `passes/${index}`;
    const jaxpr = document.graphs[passes.graph];
    if (!jaxpr || passes.links.node.some(node => node >= jaxpr.nodeCount)) {
      throw new RangeError(`${path} should be about a graph and its nodes`);
    }
    for (const part of [...PARTS, ...LISTS]) {
      const lengths = new Set(Object.values(passes[part]).map(column => column.length));
      if (lengths.size > 1) {
        throw new RangeError(`${path}/${part} should have columns of one length`);
      }
    }
    for (const list of LISTS) {
      const wanted = passes.nodes[list].reduce((sum, count) => sum + count, 0);
      if (Object.values(passes[list])[0].length !== wanted) {
        throw new RangeError(`${path}/${list} should have ${wanted} entries`);
      }
    }
    sequencesOf(passes);
  });
}

class Reader {
  private readonly nodes: readonly number[];
  private readonly lineage: readonly number[];
  private readonly nodeOf: ReadonlyMap<number, number>;
  private readonly firstValue: Int32Array;

  constructor(
    private readonly passes: Passes,
    private readonly sequences: Sequences
  ) {
    this.nodes = sequences.nodes;
    this.lineage = this.nodes.map(record => passes.nodes.lineage[record]);
    this.nodeOf = new Map(this.lineage.map((lineage, node) => [lineage, node]));
    if (this.nodeOf.size !== this.lineage.length) {
      throw new RangeError('a lineage stands twice in one state');
    }
    this.firstValue = offsets(this.column('outputs'));
  }

  state(): State {
    const { lineage, nodeOf } = this;
    const [source, kind] = this.flat('links', ['node', 'kind']);
    const target = this.owners('links');
    return {
      graph: this.graph(),
      outline: this.outline(),
      lineage,
      nodeOf,
      links: { source: Int32Array.from(source), target: Int32Array.from(target), kind: Uint8Array.from(kind) }
    };
  }

  private column(name: keyof Passes['nodes']): number[] {
    const column = this.passes.nodes[name];
    return this.nodes.map(record => column[record]);
  }

  private rows<Part extends 'regions' | 'rows' | 'bindings'>(part: Part, name: keyof Passes[Part]): number[] {
    const column = this.passes[part][name] as readonly number[];
    return this.sequences[part].map(record => column[record]);
  }

  /** The columns of what belongs to the nodes of this state, node by node. */
  private flat<List extends (typeof LISTS)[number]>(list: List, names: readonly (keyof Passes[List])[]): number[][] {
    const counts = this.passes.nodes[list];
    const first = offsetsOf(this.passes, list);
    return names.map(name => {
      const column = this.passes[list][name] as readonly number[];
      const found: number[] = [];
      for (const record of this.nodes) {
        for (let i = first[record]; i < first[record] + counts[record]; i++) {
          found.push(column[i]);
        }
      }
      return found;
    });
  }

  /** The node that each entry of a list belongs to. */
  private owners(list: (typeof LISTS)[number]): number[] {
    return this.column(list).flatMap((count, node) => new Array<number>(count).fill(node));
  }

  private graph(): Graph {
    const [type] = this.flat('outputs', ['type']);
    const [lineage, output] = this.flat('operands', ['lineage', 'output']);
    const [key, value] = this.flat('attributes', ['key', 'value']);
    const owner = runningOwners(this.rows('regions', 'gap'));
    return buildGraph({
      nodes: {
        kind: this.column('kind'),
        op: this.column('op'),
        name: this.column('name'),
        region: this.regionOfNodes(owner),
        stack: this.column('stack'),
        scope: this.column('scope'),
        outputs: this.column('outputs'),
        operands: this.column('operands')
      },
      values: { type },
      operands: { source: lineage.map((one, i) => this.value(one, output[i])) },
      literals: { text: [], type: [] },
      regions: { owner, kind: this.rows('regions', 'kind'), name: this.rows('regions', 'name') },
      bindings: this.bindings(),
      attributes: { node: this.owners('attributes'), key, value }
    });
  }

  private node(lineage: number): number {
    const node = this.nodeOf.get(lineage);
    if (node === undefined) {
      throw new RangeError(`nothing of lineage ${lineage} is there`);
    }
    return node;
  }

  private value(lineage: number, output: number): number {
    return this.firstValue[this.node(lineage)] + output;
  }

  private regionOfNodes(owner: readonly number[]): number[] {
    const region = new Array<number>(this.nodes.length).fill(0);
    // Regions of one owner stand one after the other, the first right after the owner.
    const following = new Map<number, number>();
    this.rows('regions', 'size').forEach((size, index) => {
      if (index > 0) {
        const start = following.get(owner[index]) ?? owner[index] + 1;
        following.set(owner[index], start + size);
        region.fill(index, start, start + size);
      }
    });
    return region;
  }

  private bindings(): { kind: number[]; from: number[]; to: number[] } {
    const kind = this.rows('bindings', 'kind');
    const [from, fromOutput] = [this.rows('bindings', 'from'), this.rows('bindings', 'fromOutput')];
    const [to, toOutput] = [this.rows('bindings', 'to'), this.rows('bindings', 'toOutput')];
    const fromNode = kind.map(one => one > BindingKind.slice);
    const toNode = kind.map(one => one <= BindingKind.slice || one === BindingKind.carry);
    return {
      kind,
      from: from.map((one, i) => (fromNode[i] ? this.node(one) : this.value(one, fromOutput[i]))),
      to: to.map((one, i) => (toNode[i] ? this.node(one) : this.value(one, toOutput[i])))
    };
  }

  private outline(): Outline {
    const path: number[] = [];
    const back = this.rows('rows', 'depth').map((depth, row) => {
      path.length = Math.min(path.length, depth);
      const around = path.length ? row - path[path.length - 1] : 1;
      path.push(row);
      return around;
    });
    const size = this.rows('rows', 'size');
    const copied = ['gap', 'kind', 'name', 'detail', 'variable', 'closed', 'count', 'copy', 'like', 'twin'] as const;
    const columns = Object.fromEntries(copied.map(name => [name, this.rows('rows', name)])) as Record<
      (typeof copied)[number],
      number[]
    >;
    return buildOutline({
      ...columns,
      graph: -1,
      back,
      size: size.map((one, row) => (row === 0 ? this.nodes.length : one)),
      region: this.rows('rows', 'region'),
      role: this.column('role') as (0 | 1 | 2 | 3 | 4 | 5)[]
    } as Parameters<typeof buildOutline>[0]);
  }
}

const knownOffsets = new WeakMap<readonly number[], Int32Array>();

/** Where the entries of each record of a node begin. */
function offsetsOf(passes: Passes, list: (typeof LISTS)[number]): Int32Array {
  const counts = passes.nodes[list];
  return getOrMake(knownOffsets, counts, () => offsets(counts));
}

/** The owners of regions, from how far they stand from each other. The program has none. */
function runningOwners(gaps: readonly number[]): number[] {
  let owner = -1;
  return gaps.map(gap => (owner += gap));
}
