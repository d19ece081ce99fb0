import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Pin, type Layout, type LayoutInput, type Stood } from './input.ts';
import { layout } from './layout.ts';

interface Box {
  parent?: number;
  width?: number;
  group?: boolean;
  pin?: number;
  left?: number;
}

/** A layout input from a list of boxes and of edges `[source, target]`; ports in the order of the edges. */
export function graph(boxes: readonly Box[], edges: readonly (readonly [number, number])[]): LayoutInput {
  const ports = new Map<number, number>();
  return {
    parent: Int32Array.from(boxes, box => box.parent ?? -1),
    width: Float64Array.from(boxes, box => box.width ?? 80),
    height: new Float64Array(boxes.length).fill(22),
    left: Float64Array.from(boxes, box => box.left ?? 0),
    right: new Float64Array(boxes.length),
    group: Uint8Array.from(boxes, box => (box.group ? 1 : 0)),
    pin: Uint8Array.from(boxes, box => box.pin ?? Pin.free),
    source: Int32Array.from(edges, edge => edge[0]),
    target: Int32Array.from(edges, edge => edge[1]),
    sourcePort: new Int32Array(edges.length),
    targetPort: Int32Array.from(edges, ([, target]) => {
      const port = ports.get(target) ?? 0;
      ports.set(target, port + 1);
      return port;
    })
  };
}

const EPSILON = 0.02;

/** Everything that holds for every layout. */
export function check(input: LayoutInput, out: Layout): void {
  const count = input.parent.length;
  for (let a = 0; a < count; a++) {
    for (const value of [out.x[a], out.y[a], out.width[a], out.height[a]]) {
      assert.ok(Number.isFinite(value), `box ${a} has no place`);
    }
    const p = input.parent[a];
    if (p >= 0) {
      assert.ok(out.x[a] - input.left[a] >= out.x[p] - EPSILON, `box ${a} sticks out to the left`);
      assert.ok(
        out.x[a] + out.width[a] + input.right[a] <= out.x[p] + out.width[p] + EPSILON,
        `box ${a} sticks out to the right`
      );
      assert.ok(
        out.y[a] >= out.y[p] - EPSILON && out.y[a] + out.height[a] <= out.y[p] + out.height[p] + EPSILON,
        `box ${a} sticks out`
      );
    } else {
      assert.ok(out.x[a] >= -EPSILON && out.y[a] >= -EPSILON);
      assert.ok(
        out.x[a] + out.width[a] <= out.totalWidth + EPSILON && out.y[a] + out.height[a] <= out.totalHeight + EPSILON
      );
    }
    for (let b = a + 1; b < count; b++) {
      if (input.parent[b] === p) {
        const apart =
          out.x[a] + out.width[a] + input.right[a] <= out.x[b] - input.left[b] + EPSILON ||
          out.x[b] + out.width[b] + input.right[b] <= out.x[a] - input.left[a] + EPSILON ||
          out.y[a] + out.height[a] <= out.y[b] + EPSILON ||
          out.y[b] + out.height[b] <= out.y[a] + EPSILON;
        assert.ok(apart, `boxes ${a} and ${b} overlap`);
      }
    }
  }
  checkRoutes(input, out);
}

function points(out: Layout, edge: number): [number, number][] {
  const result: [number, number][] = [];
  for (let i = out.routeStart[edge]; i < out.routeStart[edge + 1]; i++) {
    result.push([out.route[2 * i], out.route[2 * i + 1]]);
  }
  return result;
}

function checkRoutes(input: LayoutInput, out: Layout): void {
  const inside = (value: number, low: number, high: number) => value >= low - EPSILON && value <= high + EPSILON;
  input.source.forEach((source, edge) => {
    const route = points(out, edge);
    const target = input.target[edge];
    if (source === target) {
      assert.equal(route.length, 0);
      return;
    }
    assert.ok(route.length >= 2, `edge ${edge} is not drawn`);
    for (const [box, [x, y]] of [
      [source, route[0]],
      [target, route[route.length - 1]]
    ] as const) {
      assert.ok(inside(x, out.x[box], out.x[box] + out.width[box]), `edge ${edge} misses box ${box}`);
      const onBorder = Math.abs(y - out.y[box]) < EPSILON || Math.abs(y - out.y[box] - out.height[box]) < EPSILON;
      assert.ok(onBorder, `edge ${edge} ends off the border of box ${box}`);
    }
  });
}

/** Whether `box` is `group` or stands in it. */
function within(parent: ArrayLike<number>, group: number, box: number): boolean {
  let at = box;
  while (at > group) {
    at = parent[at];
  }
  return at === group;
}

/** Number of edges whose straight pieces run through a box or a group that holds neither of their ends. */
function through(input: LayoutInput, out: Layout): number {
  let count = 0;
  input.source.forEach((source, edge) => {
    const route = points(out, edge);
    const ends = (box: number): boolean =>
      within(input.parent, box, source) || within(input.parent, box, input.target[edge]);
    for (let i = 0; i + 1 < route.length; i++) {
      for (let box = 0; box < input.parent.length; box++) {
        if (!ends(box) && crosses(route[i], route[i + 1], out, box)) {
          count++;
        }
      }
    }
  });
  return count;
}

function crosses([x1, y1]: [number, number], [x2, y2]: [number, number], out: Layout, box: number): boolean {
  const [top, bottom] = [out.y[box] + 1, out.y[box] + out.height[box] - 1];
  const [low, high] = [Math.max(Math.min(y1, y2), top), Math.min(Math.max(y1, y2), bottom)];
  if (low >= high) {
    return false;
  }
  const at = (y: number) => (y2 === y1 ? x1 : x1 + ((x2 - x1) * (y - y1)) / (y2 - y1));
  const [a, b] = [at(low), at(high)];
  return Math.max(a, b) > out.x[box] + 1 && Math.min(a, b) < out.x[box] + out.width[box] - 1;
}

/** Nested graphs: a box may stand in any group before it, edges join boxes and groups of which none stands in the other, in circles too. */
const programs = fc
  .array(
    fc.record({ up: fc.nat(3), group: fc.boolean(), width: fc.integer({ min: 20, max: 160 }), left: fc.nat(40) }),
    { minLength: 1, maxLength: 40 }
  )
  .chain(list => {
    const boxes: Required<Pick<Box, 'parent' | 'group' | 'width' | 'left'>>[] = [];
    let open: number[] = [];
    list.forEach(({ up, group, width, left }, i) => {
      open = open.slice(0, Math.max(0, open.length - (up % 3 === 0 ? 0 : up)));
      boxes.push({ parent: open.length ? open[open.length - 1] : -1, group, width, left });
      if (group) {
        open.push(i);
      }
    });
    const parents = boxes.map(box => box.parent);
    const pair = fc.tuple(fc.nat(boxes.length - 1), fc.nat(boxes.length - 1), fc.nat(3));
    return fc.array(pair, { maxLength: 60 }).map(pairs => ({
      boxes,
      edges: pairs
        .map(([a, b, turn]): [number, number] => (a < b === turn > 0 ? [a, b] : [b, a]))
        .filter(([a, b]) => !within(parents, a, b) && !within(parents, b, a))
    }));
  });

test('what reads an argument and what was made elsewhere stands below what was made', () => {
  // Of two wide boxes side by side the right one is made from the left one; the last box reads it and the first argument.
  const boxes = [
    { pin: Pin.top },
    { pin: Pin.top },
    { width: 300, group: true },
    { parent: 2, width: 280 },
    { parent: 2, width: 280 },
    { width: 500, group: true },
    { parent: 5, width: 480 },
    {}
  ];
  const input = graph(boxes, [
    [0, 3],
    [1, 3],
    [3, 4],
    [1, 6],
    [0, 7],
    [6, 7]
  ]);
  const out = layout(input);
  check(input, out);
  const middle = (box: number): number => out.x[box] + out.width[box] / 2;
  assert.ok(middle(0) < out.x[5], 'the argument stands left of what was made');
  assert.ok(middle(7) > out.x[5] && middle(7) < out.x[5] + out.width[5], `${middle(7)}`);
});

test('nothing overlaps, members stay inside their group, edges end on their boxes', () => {
  fc.assert(
    fc.property(programs, ({ boxes, edges }) => {
      const input = graph(boxes, edges);
      check(input, layout(input));
    }),
    { numRuns: 300 }
  );
});

test('no edge runs through a box or a group that it has nothing to do with', () => {
  fc.assert(
    fc.property(programs, ({ boxes, edges }) => {
      const input = graph(boxes, edges);
      assert.equal(through(input, layout(input)), 0);
    }),
    { numRuns: 150 }
  );
});

test('the same input gives the same layout', () => {
  fc.assert(
    fc.property(programs, ({ boxes, edges }) => {
      assert.deepEqual(layout(graph(boxes, edges)), layout(graph(boxes, edges)));
    }),
    { numRuns: 50 }
  );
});

test('any graph is laid out: cycles, loops, parallel edges', () => {
  const any = fc
    .integer({ min: 1, max: 25 })
    .chain(n => fc.array(fc.tuple(fc.nat(n - 1), fc.nat(n - 1)), { maxLength: 60 }).map(edges => ({ n, edges })));
  fc.assert(
    fc.property(any, ({ n, edges }) => {
      const input = graph(
        Array.from({ length: n }, () => ({})),
        edges
      );
      check(input, layout(input));
    }),
    { numRuns: 200 }
  );
});

test('operands meet their box from left to right in their order, wherever they come from', () => {
  fc.assert(
    fc.property(programs, ({ boxes, edges }) => {
      const input = graph(boxes, edges);
      const out = layout(input);
      // What closes a circle may come in from below.
      const ends = edges.map(([, target], edge) => {
        const [x, y] = points(out, edge).at(-1) ?? [NaN, NaN];
        return !input.group[target] && Math.abs(y - out.y[target]) < EPSILON ? x : NaN;
      });
      edges.forEach(([, target], a) => {
        edges.forEach(([, other], b) => {
          assert.ok(!(a < b && target === other && ends[a] > ends[b] + EPSILON), `${a} meets ${target} right of ${b}`);
        });
      });
    }),
    { numRuns: 100 }
  );
});

test('a chain is one straight line', () => {
  const n = 12;
  const input = graph(
    Array.from({ length: n }, (_, i) => ({ width: 60 + 10 * (i % 3) })),
    Array.from({ length: n - 1 }, (_, i) => [i, i + 1] as const)
  );
  const out = layout(input);
  const middle = out.x[0] + out.width[0] / 2;
  for (let i = 0; i < n; i++) {
    assert.ok(Math.abs(out.x[i] + out.width[i] / 2 - middle) < 0.01);
  }
  for (let edge = 0; edge < n - 1; edge++) {
    assert.equal(points(out, edge).length, 2);
  }
});

test('arguments stand at the top in their order, results at the bottom', () => {
  const input = graph(
    [{ pin: Pin.top }, { pin: Pin.top }, { pin: Pin.top }, {}, {}, { pin: Pin.bottom }, { pin: Pin.bottom }],
    [
      [2, 3],
      [0, 4],
      [1, 4],
      [3, 4],
      [4, 5],
      [3, 6]
    ]
  );
  const out = layout(input);
  assert.ok(out.x[0] < out.x[1] && out.x[1] < out.x[2]);
  assert.ok(out.x[5] < out.x[6]);
  assert.ok(out.y[0] === out.y[1] && out.y[1] === out.y[2] && out.y[2] < out.y[3]);
  assert.ok(out.y[5] === out.y[6] && out.y[5] > out.y[4]);
});

test('results that no edge joins stand in the row of the others, in the order of the signature', () => {
  const ends = [Pin.top, Pin.free, Pin.bottom, Pin.bottom, Pin.bottom];
  const input = graph(
    ends.map(pin => ({ pin })),
    [
      [0, 1],
      [1, 3]
    ]
  );
  const out = layout(input);
  check(input, out);
  assert.ok(out.x[2] < out.x[3] && out.x[3] < out.x[4]);
  assert.ok(out.y[2] === out.y[3] && out.y[3] === out.y[4] && out.y[3] > out.y[1]);
});

test('arguments that nothing reads stand in the row of the others, in the order of the signature', () => {
  const ends = [Pin.top, Pin.top, Pin.top, Pin.free, Pin.bottom];
  const edges = [
    [1, 3],
    [3, 4]
  ] as [number, number][];
  const input = graph(
    ends.map(pin => ({ pin })),
    edges
  );
  const out = layout(input);
  check(input, out);
  assert.ok(out.x[0] < out.x[1] && out.x[1] < out.x[2]);
  assert.ok(out.y[0] === out.y[1] && out.y[1] === out.y[2] && out.y[2] < out.y[3]);
});

test('where nothing is joined, results stand in one row below the arguments', () => {
  const out = layout(
    graph(
      [Pin.top, Pin.top, Pin.bottom, Pin.bottom, Pin.bottom].map(pin => ({ pin })),
      []
    )
  );
  assert.ok(out.y[0] === out.y[1] && out.y[2] === out.y[3] && out.y[3] === out.y[4] && out.y[1] < out.y[2]);
  assert.ok(out.x[0] < out.x[1] && out.x[2] < out.x[3] && out.x[3] < out.x[4]);
});

/** Boxes stood in these rows, in one column, and nothing is known of the space between. */
function inRows({ width }: LayoutInput, rows: readonly number[]): Stood {
  const first = new Int32Array(rows.length);
  const none = new Float64Array(rows.length).fill(NaN);
  return { width, row: Int32Array.from(rows), column: first, shelf: first, above: none, below: none };
}

test('a result that loses its edge comes to the others, and they stay', () => {
  const boxes = [Pin.free, Pin.free, Pin.bottom, Pin.bottom].map(pin => ({ pin }));
  const before = Float64Array.from([2000, 40, 2000, 40]);
  const input = graph(boxes, [[0, 2]]);
  const out = layout({ ...input, before, stood: inRows(input, [0, 0, 0, 0]) });
  assert.ok(out.y[2] === out.y[3] && out.x[2] < out.x[3]);
  assert.equal(out.x[2], out.x[0]);
});

test('a result that stood below another part comes to those of its own, and leaves no gap', () => {
  const boxes = [Pin.free, Pin.free, Pin.bottom, Pin.bottom].map(pin => ({ pin }));
  const before = Float64Array.from([40, 1000, 40, 1000]);
  const input = graph(boxes, [[1, 3]]);
  const out = layout({ ...input, before, stood: inRows(input, [0, 0, 0, 0]) });
  check(input, out);
  assert.ok(out.x[2] < out.x[3] && out.x[3] - out.x[2] - out.width[2] < 40);
  assert.ok(out.totalWidth < 400);
});

test('what stood in the midst of others stays there when no edge joins them any more', () => {
  // The middle one of three read the same value as the others; its reader has closed.
  const boxes = [Pin.free, Pin.free, Pin.free, Pin.free].map(pin => ({ pin }));
  const before = Float64Array.from([600, 40, 600, 1160]);
  const input = graph(boxes, [
    [0, 1],
    [0, 3]
  ]);
  const out = layout({ ...input, before, stood: inRows(input, [0, 1, 1, 1]) });
  check(input, out);
  assert.ok(out.x[1] < out.x[2] && out.x[2] < out.x[3]);
  assert.equal(out.y[2], out.y[1]);
});

test('parts that no edge joins keep their order from left to right, but for those with results', () => {
  const boxes = [Pin.free, Pin.free, Pin.free, Pin.bottom, Pin.bottom].map(pin => ({ pin }));
  const input = { ...graph(boxes, []), height: new Float64Array(5).fill(200) };
  const before = Float64Array.from([500, 40, 270, 900, 730]);
  const out = layout({ ...input, before, stood: inRows(input, [0, 0, 0, 0, 0]) });
  check(input, out);
  const order = [...out.x.keys()].sort((a, b) => out.x[a] - out.x[b]);
  assert.deepEqual(order, [1, 2, 0, 3, 4]);
});

test('a result that loses its edge stays where it was, if the only other one is read further up', () => {
  // The result 1 stands to the right of the result 0, which others read; what it read is hidden now.
  const boxes = [Pin.free, Pin.bottom, Pin.bottom, Pin.free, Pin.free].map(pin => ({ pin }));
  const before = Float64Array.from([40, 600, 40, 40, 640]);
  const input = graph(boxes, [
    [0, 2],
    [2, 3],
    [2, 4]
  ]);
  const out = layout({ ...input, before, stood: inRows(input, [0, 3, 1, 2, 2]) });
  check(input, out);
  assert.equal(out.x[1] - out.x[0], 560);
});

test('a value enters a group once, however many boxes read it there', () => {
  const input = graph(
    [{}, { group: true }, { parent: 1 }, { parent: 1 }, { parent: 1 }],
    [
      [0, 2],
      [0, 3],
      [0, 4]
    ]
  );
  const out = layout(input);
  const border = out.y[1];
  const places = new Set([0, 1, 2].map(edge => points(out, edge).find(([, y]) => Math.abs(y - border) < 0.5)?.[0]));
  assert.equal(places.size, 1);
});

test('parts that nothing joins are packed, not lined up', () => {
  const input = graph(
    Array.from({ length: 10_000 }, () => ({})),
    []
  );
  const out = layout(input);
  assert.ok(out.totalWidth / out.totalHeight < 4 && out.totalHeight / out.totalWidth < 4);
});

test('a group whose twin is nested less deep stays inside its own', () => {
  const tall = Array.from({ length: 12 }, () => ({ parent: 0 }));
  const boxes: Box[] = [{ group: true }, ...tall, { group: true }, { parent: 13, group: true }, { parent: 14 }];
  const edges = tall.slice(1).map((_, i) => [i + 1, i + 2] as const);
  const level = new Int32Array(boxes.length).fill(-1);
  [level[0], level[14]] = [14, 0];
  const input = { ...graph(boxes, edges), level };
  check(input, layout(input));
});

test('what joins a group and a box in it runs inside, from the upper border or to the lower one', () => {
  const boxes: Box[] = [{ group: true }, { parent: 0, group: true }, { parent: 1 }, { parent: 1 }, {}];
  const edges: [number, number][] = [
    [0, 2],
    [2, 3],
    [3, 0],
    [0, 4]
  ];
  const { x, y, width, height, route, routeStart, simplified } = layout(graph(boxes, edges));
  const heights = (edge: number): number[] =>
    [routeStart[edge], routeStart[edge + 1] - 1].map(point => route[2 * point + 1]);
  assert.deepEqual(simplified, []);
  assert.deepEqual(
    edges.map((_, edge) => heights(edge)),
    [
      [y[0], y[2]],
      [y[2] + height[2], y[3]],
      [y[3] + height[3], y[0] + height[0]],
      [y[0] + height[0], y[4]]
    ]
  );
  for (let point = routeStart[0]; point < routeStart[3]; point++) {
    assert.ok(route[2 * point] > x[0] && route[2 * point] < x[0] + width[0]);
  }
});
