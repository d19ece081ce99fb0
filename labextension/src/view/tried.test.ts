import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { loop } from '../document/sketch.ts';
import type { Layout, LayoutInput } from '../layout/input.ts';
import { firstView } from './first.ts';
import { Apart, Brevity } from './folds.ts';
import { Tried } from './tried.ts';
import { show } from './view.ts';

test('what is tried looks as it does when it is shown, with words as short as they are wanted', () => {
  const document = decodePlain(loop().plain());
  const [graph] = document.graphs;
  const tried = new Tried(document, graph);
  for (const open of [new Set<number>(), new Set([1])]) {
    for (const brevity of Object.values(Brevity)) {
      for (const told of [{}, { types: true }, { apart: Apart.beside }]) {
        const state = { open: new Set(open), brevity, ...told };
        assert.deepEqual(tried.shown(state), show(document, graph, { ...state, open: new Set(open) }));
      }
    }
  }
});

test('rows that are tried again with other words are not joined anew', () => {
  const document = decodePlain(loop().plain());
  const [graph] = document.graphs;
  const tried = new Tried(document, graph);
  const [first, again] = [Brevity.none, Brevity.short].map(brevity => tried.shown({ open: new Set([1]), brevity }));
  assert.equal(again.source, first.source);
  assert.notEqual(tried.shown({ open: new Set() }).source, first.source);
  assert.ok(tried.boxes(new Set()) < tried.boxes(new Set([1])));
});

test('what is tried is laid out roughly, and as it is drawn where it is hardly readable', () => {
  const document = decodePlain(loop().plain());
  const [graph] = document.graphs;
  const whole = (zoom: number): number => {
    const efforts: number[] = [];
    const place = ({ effort = 1 }: LayoutInput): Layout => {
      efforts.push(effort);
      return { totalWidth: 600 / zoom, totalHeight: 9 } as never;
    };
    firstView(document, graph, { width: 600, height: 400 }, text => 7 * text.length, place);
    assert.ok(
      efforts.some(effort => effort < 1),
      'roughly'
    );
    return efforts.filter(effort => effort === 1).length;
  };
  assert.ok(whole(0.76) > whole(0.9), 'near above');
  assert.ok(whole(0.74) > whole(0.6), 'near below');
});
