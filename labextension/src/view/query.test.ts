import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FateKind } from '../document/graph.ts';
import { parseQuery, type Term } from './query.ts';

const terms = (text: string): readonly Term[] => {
  const query = parseQuery(text);
  assert.ok('terms' in query, 'fault' in query ? query.fault : '');
  return query.terms;
};
const fault = (text: string): string => {
  const query = parseQuery(text);
  return 'fault' in query ? query.fault : '';
};

test('words, quoted words and terms stand side by side', () => {
  assert.deepEqual(terms('Dense "a b" op:Dot line:12-20 type:f32'), [
    { kind: 'text', text: 'dense' },
    { kind: 'text', text: 'a b' },
    { kind: 'op', text: 'dot' },
    { kind: 'line', first: 12, last: 20 },
    { kind: 'type', text: 'f32' }
  ]);
  assert.deepEqual(terms('fate:cse'), [{ kind: 'fate', fates: [FateKind.merged] }]);
  assert.deepEqual(terms('  '), []);
  assert.deepEqual(terms('"op:add"'), [{ kind: 'text', text: 'op:add' }]);
  assert.deepEqual(terms("params[0]['w']"), [{ kind: 'text', text: "params[0]['w']" }]);
});

test('sizes and times are compared in the units that people write', () => {
  const [over] = terms('bytes>1MB');
  assert.ok(over.kind === 'bytes' && over.least > 1e6 && over.least < 1e6 + 1 && over.most === Infinity);
  const [atLeast] = terms('bytes>=4KiB');
  assert.ok(atLeast.kind === 'bytes' && atLeast.least === 4096);
  const [under] = terms('time<2ms');
  assert.ok(under.kind === 'time' && under.most < 2e-3 && under.most > 1.99e-3);
  const [any] = terms('bytes>0');
  assert.ok(any.kind === 'bytes' && any.least > 0 && any.least < 1);
});

test('a regular expression between strokes, also while it is typed', () => {
  const [pattern] = terms('/^dot|conv/');
  assert.ok(pattern.kind === 'pattern' && pattern.pattern.test('Dot_general') && !pattern.pattern.test('a dot'));
  assert.deepEqual(terms('/'), []);
  assert.match(fault('/(/'), /^not a regular expression: /);
});

test('what cannot be understood says what was expected', () => {
  assert.match(fault('line:x'), /line: wants a line .* line:12/);
  assert.match(fault('bytes>big'), /bytes wants a size .* bytes>1MB/);
  assert.match(fault('bytes:3'), /bytes wants a size/);
  assert.match(fault('time>1'), /time wants a duration .* time>1ms/);
  assert.match(fault('fate:lost'), /fate: wants one of alive, .*cse/);
  assert.match(fault('fate:constructor'), /fate: wants one of/);
  assert.match(fault('constructor:x'), /constructor: is not known/);
  assert.match(fault('op:'), /op: wants the name/);
  assert.match(fault('colour:red'), /colour: is not known; there are op, type, line, fate, bytes, time/);
});
