import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Pin, type Layout, type LayoutInput } from './input.ts';
import { layout } from './layout.ts';
import { closeGaps } from './warm.ts';

/** Boxes that read one or two of the 12 before them; `open` of them, if any, is a group of ten boxes in a chain. */
function strands(count: number, draw: () => number, open = -1): LayoutInput {
  const reads = Array.from({ length: count }, (_, box) => {
    const one = box - 1 - Math.floor(draw() * Math.min(12, box));
    const two = box - 1 - Math.floor(draw() * Math.min(12, box));
    return box === 0 ? [] : one === two || draw() < 0.6 ? [one] : [one, two];
  });
  const parent: number[] = [];
  const number = (box: number): number => (open >= 0 && box > open ? box + 10 : box);
  const edges: [number, number, number][] = [];
  for (let box = 0; box < count; box++) {
    parent[number(box)] = -1;
    const target = box === open ? number(box) + 1 : number(box);
    reads[box].forEach((from, port) => edges.push([from === open ? number(from) + 10 : number(from), target, port]));
  }
  for (let inner = 1; open >= 0 && inner <= 10; inner++) {
    parent[open + inner] = open;
    if (inner > 1) {
      edges.push([open + inner - 1, open + inner, 1]);
    }
  }
  const boxes = parent.length;
  return {
    parent: Int32Array.from(parent),
    width: new Float64Array(boxes).fill(80),
    height: new Float64Array(boxes).fill(22),
    left: new Float64Array(boxes),
    right: new Float64Array(boxes),
    group: Uint8Array.from(parent, (_, box) => (box === open ? 1 : 0)),
    pin: new Uint8Array(boxes).fill(Pin.free),
    source: Int32Array.from(edges, edge => edge[0]),
    target: Int32Array.from(edges, edge => edge[1]),
    sourcePort: new Int32Array(edges.length),
    targetPort: Int32Array.from(edges, edge => edge[2])
  };
}

const random = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
};

const centre = (out: Layout, box: number): number => out.x[box] + out.width[box] / 2;

/** What the layout is told of the picture before; `was` has the number that each box had there, or -1. */
function stoodAs(out: Layout, was: readonly number[]): Pick<LayoutInput, 'before' | 'stood'> {
  const known = (column: Int32Array): Int32Array => Int32Array.from(was, box => column[box] ?? -1);
  const pixels = (column: Float64Array): Float64Array => Float64Array.from(was, box => column[box]);
  return {
    before: Float64Array.from(was, box => (box < 0 ? NaN : centre(out, box))),
    stood: {
      width: pixels(out.width),
      above: pixels(out.above),
      below: pixels(out.below),
      row: known(out.row),
      column: known(out.column),
      shelf: known(out.shelf)
    }
  };
}

/** The part of all pairs that stand left to right as before, and the largest move against the median. */
function compare(before: readonly number[], after: readonly number[]): { kept: number; furthest: number } {
  let [kept, all] = [0, 0];
  const moves = before.map((x, i) => after[i] - x);
  const middle = moves.slice().sort((a, b) => a - b)[moves.length >> 1];
  before.forEach((a, i) => {
    for (let k = i + 1; k < before.length; k++) {
      if (Math.abs(a - before[k]) > 1) {
        all++;
        kept += a < before[k] === after[i] < after[k] ? 1 : 0;
      }
    }
  });
  return { kept: kept / all, furthest: Math.max(...moves.map(move => Math.abs(move - middle))) };
}

test('opening and closing one group of 300 boxes keeps 95 % of the pairs in order and moves none further than it takes', () => {
  for (let seed = 1; seed <= 8; seed++) {
    const box = 30 * seed;
    const closed = strands(300, random(seed));
    const open = strands(300, random(seed), box);
    const others = Array.from({ length: 300 }, (_, i) => i).filter(i => i !== box);
    const inOpen = (i: number): number => (i > box ? i + 10 : i);

    const first = layout(closed);
    const was = Array.from({ length: 310 }, (_, i) => (i <= box ? i : i > box + 10 ? i - 10 : -1));
    const second = layout({ ...open, ...stoodAs(first, was) });
    const opened = compare(
      others.map(i => centre(first, i)),
      others.map(i => centre(second, inOpen(i)))
    );
    assert.ok(opened.kept > 0.97, `${opened.kept} of the pairs kept their order`);
    assert.ok(opened.furthest <= second.width[box] + second.height[box], `a box moved by ${opened.furthest}`);
    const down = others.map(i => second.y[inOpen(i)] - first.y[i]);
    const grown = second.height[box] - first.height[box];
    assert.ok(Math.min(...down) >= 0 && Math.max(...down) <= grown, `a box moved down by ${Math.max(...down)}`);

    const again = layout({
      ...closed,
      ...stoodAs(
        second,
        Array.from({ length: 300 }, (_, i) => inOpen(i))
      )
    });
    const closedAgain = compare(
      others.map(i => centre(second, inOpen(i))),
      others.map(i => centre(again, i))
    );
    assert.ok(closedAgain.kept > 0.95, `${closedAgain.kept} of the pairs kept their order`);
  }
});

test('what takes the place of one box leaves the others in order, even where it is more than they are', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const box = 5;
    const first = layout(strands(10, random(seed)));
    const framed = strands(10, random(seed), box);
    const was = Array.from({ length: 20 }, (_, i) => (i < box ? i : i > box + 10 ? i - 10 : -1));
    const second = layout({
      ...framed,
      parent: new Int32Array(20).fill(-1),
      group: new Uint8Array(20),
      ...stoodAs(first, was)
    });
    const others = was.flatMap((old, now) => (old < 0 ? [] : [[old, now]]));
    const { kept } = compare(
      others.map(([old]) => centre(first, old)),
      others.map(([, now]) => centre(second, now))
    );
    assert.ok(kept > 0.95, `${kept} of the pairs kept their order`);
  }
});

test('what was drawn before is drawn again', () => {
  let sum = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const count = 10 + 2 * seed;
    const input = strands(count, random(seed));
    const first = layout(input);
    const centres = Array.from({ length: count }, (_, i) => centre(first, i));
    const second = layout({ ...input, before: Float64Array.from(centres) });
    const { kept } = compare(
      centres,
      Array.from({ length: count }, (_, i) => centre(second, i))
    );
    assert.ok(kept > 0.85, `${kept} of the pairs kept their order`);
    sum += kept;
  }
  assert.ok(sum / 60 > 0.98, `${sum / 60} of the pairs kept their order`);
});

test('a new result that no edge joins stands beside the others, wherever they stood', () => {
  const [boxes, alone, joined] = [11, 9, 10];
  const chain = strands(boxes, () => 0);
  const input = {
    ...chain,
    pin: chain.pin.map((_, box) => (box < alone ? Pin.free : Pin.bottom)),
    source: chain.source.slice(0, -1),
    target: chain.target.slice(0, -1).map(box => (box === alone ? joined : box)),
    sourcePort: chain.sourcePort.slice(0, -1),
    targetPort: chain.targetPort.slice(0, -1)
  };
  const first = layout(input);
  const { before, stood } = stoodAs(first, [...Array(alone).keys(), -1, joined]);
  const far = layout({ ...input, before: (before as Float64Array).map(x => x + 5000), stood });
  assert.equal(far.y[alone], far.y[joined]);
  assert.equal(far.totalWidth, first.totalWidth);
});

test('boxes never overlap, whatever is said about where they stood', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.array(fc.oneof(fc.constant(NaN), fc.integer({ min: -500, max: 500 }), fc.constant(1e7)), {
        minLength: 40,
        maxLength: 40
      }),
      (seed, before) => {
        const out = layout({ ...strands(40, random(seed)), before: Float64Array.from(before) });
        for (let a = 0; a < 40; a++) {
          assert.ok(Number.isFinite(out.x[a]));
          for (let b = a + 1; b < 40; b++) {
            assert.ok(
              Math.abs(out.x[a] - out.x[b]) >= 79.9 || Math.abs(out.y[a] - out.y[b]) >= 21.9,
              `boxes ${a} and ${b} overlap`
            );
          }
        }
      }
    ),
    { numRuns: 100 }
  );
});

test('where nothing stands in any row any more, the picture closes up', () => {
  const [before, half] = [Float64Array.from([50, 900, NaN, 940, 2000]), new Float64Array(5).fill(30)];
  const taken = { row: new Int32Array(5), left: half, right: half };
  const none = new Float64Array(5);
  // The first was 1,000 px wider to its right, the last 300 to both sides.
  const right = Float64Array.of(-1000, 0, 0, 0, -300);
  const left = Float64Array.of(0, 0, 0, 0, -300);
  assert.deepEqual([...closeGaps(before, taken, { left, right })], [50, 158, NaN, 198, 848]);
  assert.deepEqual(closeGaps(before, taken, { left: none, right: none }), before);
});
