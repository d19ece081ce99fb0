import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import type { Document } from '../document/graph.ts';
import { loop } from '../document/sketch.ts';
import { layout } from '../layout/layout.ts';
import { abreast, areVersions, isSame, type Side } from './abreast.ts';
import { Brevity, type ViewState } from './folds.ts';
import type { Space } from './space.ts';

const ROOM = { width: 900, height: 600 };
const measure = (text: string): number => 7 * text.length;

/** Two versions of a program with a loop, whose row is 1. */
function versions(): Document {
  const plain = loop().plain();
  const [program] = plain.programs;
  plain.graphs.push(structuredClone(plain.graphs[0]));
  plain.programs.push({ ...program, name: 'other', stages: [{ ...program.stages[0], graph: 1 }] });
  const nodes = [3, 7, 8, 11];
  plain.links = [{ from: 0, to: 1, source: nodes, target: nodes, kind: [0, 0, 0, 0], shares: {} }];
  return decodePlain(plain);
}

/** What is open in each, by what would be open alone. */
function opened(one: readonly number[], other: readonly number[], space = ROOM): number[][] {
  const document = versions();
  const sides = [one, other].map((open, at): Side => {
    return { graph: document.graphs[at], state: { open: new Set(open) }, space: at ? space : ROOM };
  });
  return abreast(document, sides[0], sides[1], measure, layout).map(({ open }) => [...open]);
}

test('what is open in one version is open in the other, where both have room for it', () => {
  assert.deepEqual(opened([1], []), [[1], [1]]);
  assert.deepEqual(opened([], [1]), [[1], [1]]);
  assert.deepEqual(opened([], []), [[], []]);
});

test('what one version has no room for is closed in both', () => {
  assert.deepEqual(opened([1], [], { width: 90, height: 60 }), [[], []]);
});

test('what only one version has stays as it is', () => {
  const document = { ...versions(), links: [] };
  const [one, other] = document.graphs.map((graph, at): Side => {
    return { graph, state: { open: new Set(at ? [] : [1]) }, space: ROOM };
  });
  const [here, there] = abreast(document, one, other, measure, layout);
  assert.deepEqual([[...here.open], [...there.open]], [[1], []]);
});

test('both versions are told in the same words, as long as there is room for in both', () => {
  const document = versions();
  const long: ViewState = { open: new Set([1]), long: true, types: true };
  const short: ViewState = { open: new Set([1]), brevity: Brevity.short };
  const told = (space: Space): unknown[] => {
    const [one, other] = [long, short].map((state, at): Side => {
      return { graph: document.graphs[at], state, space: at ? space : ROOM };
    });
    return abreast(document, one, other, measure, layout).map(state => [state.brevity, state.long, state.types]);
  };
  assert.deepEqual(told(ROOM), Array(2).fill([Brevity.none, false, false]));
  assert.deepEqual(told({ width: 390, height: 600 }), Array(2).fill([Brevity.short, false, false]));
  assert.ok(!isSame(long, short));
  assert.ok(isSame(short, { ...short, open: new Set([1]) }));
});

test('versions are the same stage of two programs, in either order', () => {
  const document = versions();
  assert.ok(areVersions(document, 0, 1) && areVersions(document, 1, 0) && !areVersions(document, 0, 0));
});
