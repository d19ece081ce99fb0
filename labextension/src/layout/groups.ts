/**
 * Cuts a graph with nested groups into one flat graph for each group.
 *
 * An edge that crosses borders becomes a piece in each group on its way. In the group that it leaves or enters, the
 * piece runs to a gate: a point on the lower or upper border. Edges that carry the same port in share one gate and one
 * piece, so a value enters a group once, however many boxes read it there.
 *
 * Where groups need each other in a circle, some edges run upward between them. These leave a group through its upper
 * border and come in through the lower one, so that they do not run through what stands in it.
 */
import { Pin, type LayoutInput } from './input.ts';
import { breakCycles } from './rank.ts';
import { getOrMake } from '../maps';

/** What stands in a flat graph: a box (a group counts as one) or a gate on the border. */
export interface Vertex {
  /** Box number, -1 for a gate. */
  readonly box: number;
  /** One of `Pin`: gates are pinned to their border. */
  readonly pin: number;
  readonly gate: boolean;
  /** Program order: of the box itself, of a gate that of what it leads to outside. */
  order: number;
}

/** A piece of one or more edges inside one group. Ports: an ordinal of the box, or -1 - g for gate g of a group. */
export interface Piece {
  readonly from: number;
  readonly to: number;
  readonly fromPort: number;
  readonly toPort: number;
}

/** The flat graph of one group; -1 is the top level. */
export interface Flat {
  readonly group: number;
  readonly vertices: Vertex[];
  readonly pieces: Piece[];
}

export interface Cut {
  /** The innermost groups first, the top level last. */
  readonly flats: readonly Flat[];
  /** For each edge its pieces from source to target: group (by position in `flats`) and piece. */
  readonly ways: readonly (readonly Step[])[];
}

export interface Step {
  readonly flat: number;
  readonly piece: number;
}

/** A flat graph while it grows, with what is known by key. */
class Builder {
  readonly vertices: Vertex[] = [];
  readonly pieces: Piece[] = [];
  private readonly gates = new Map<string, number>();
  private readonly known = new Map<string, number>();

  constructor(readonly group: number) {}

  gate(key: string, pin: number, order: number): number {
    let vertex = this.gates.get(key);
    if (vertex === undefined) {
      vertex = this.vertices.push({ box: -1, pin, gate: true, order }) - 1;
      this.gates.set(key, vertex);
    }
    this.vertices[vertex].order = Math.min(this.vertices[vertex].order, order);
    return vertex;
  }

  piece(from: number, fromPort: number, to: number, toPort: number): number {
    const key = `${from} ${fromPort} ${to} ${toPort}`;
    return getOrMake(this.known, key, () => this.pieces.push({ from, to, fromPort, toPort }) - 1);
  }
}

export function cutIntoGroups(input: LayoutInput): Cut {
  const count = input.parent.length;
  const builders: Builder[] = [];
  const builderOf = new Map<number, number>();
  // A group has a smaller number than what stands in it, so falling numbers give the innermost first.
  for (let box = count - 1; box >= -1; box--) {
    if (box === -1 || input.group[box]) {
      builderOf.set(box, builders.push(new Builder(box)) - 1);
    }
  }
  const vertexOf = new Int32Array(count);
  const flatOf = (group: number): number => builderOf.get(group) as number;
  for (let box = 0; box < count; box++) {
    const { vertices } = builders[flatOf(input.parent[box])];
    vertexOf[box] = vertices.push({ box, pin: input.pin[box], gate: false, order: box }) - 1;
  }
  const depth = new Int32Array(count);
  for (let box = 0; box < count; box++) {
    depth[box] = input.parent[box] < 0 ? 0 : depth[input.parent[box]] + 1;
  }

  const upward = findUpward(input, depth);

  const ways = Array.from(input.source, (source, edge) => {
    const target = input.target[edge];
    if (source === target) {
      return [];
    }
    const [out, into] = upward[edge] ? [Pin.top, Pin.bottom] : [Pin.bottom, Pin.top];
    const up: Step[] = [];
    const down: Step[] = [];
    let [from, fromPort] = [source, input.sourcePort[edge]];
    let [to, toPort] = [target, input.targetPort[edge]];
    const leaving = `out ${source} ${fromPort} ${out}`;
    const entering = `in ${source} ${fromPort} ${into}`;
    while (input.parent[from] !== input.parent[to]) {
      if (depth[from] >= depth[to]) {
        const flat = flatOf(input.parent[from]);
        const gate = builders[flat].gate(leaving, out, target);
        up.push({ flat, piece: builders[flat].piece(vertexOf[from], fromPort, gate, 0) });
        [from, fromPort] = [input.parent[from], -1 - gate];
      } else {
        const flat = flatOf(input.parent[to]);
        const gate = builders[flat].gate(entering, into, source);
        down.push({ flat, piece: builders[flat].piece(gate, 0, vertexOf[to], toPort) });
        [to, toPort] = [input.parent[to], -1 - gate];
      }
    }
    // What joins a group and a box in it ends at the border of the group.
    if (from !== to) {
      const flat = flatOf(input.parent[from]);
      up.push({ flat, piece: builders[flat].piece(vertexOf[from], fromPort, vertexOf[to], toPort) });
    }
    return [...up, ...down.reverse()];
  });
  return { flats: builders, ways };
}

/** 1 for each edge that runs upward in the innermost group that holds both of its ends. */
function findUpward({ parent, source, target }: LayoutInput, depth: Int32Array): Uint8Array {
  const count = parent.length;
  // Members of one group join only each other, so that all groups are seen to at once.
  const from = new Int32Array(source.length);
  const to = new Int32Array(source.length);
  source.forEach((one, edge) => {
    let [a, b] = [one, target[edge]];
    while (parent[a] !== parent[b]) {
      if (depth[a] >= depth[b]) {
        a = parent[a];
      } else {
        b = parent[b];
      }
    }
    from[edge] = a;
    to[edge] = b;
  });
  const upward = breakCycles(count, from, to);
  return upward.map((turned, edge) => (from[edge] === to[edge] ? 0 : turned));
}
