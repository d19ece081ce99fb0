import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import type { Document as PlainDocument } from '../../document/schema.generated.ts';
import { mergedAndFused } from '../../document/sketchPasses.ts';
import { alteredWords } from './altered.ts';

/** The record of the sum after the first pass, and its lineage. */
const [AFTER, SUM] = [5, 3];

function words(change: (plain: PlainDocument) => void): string {
  const plain = mergedAndFused();
  change(plain);
  const document = decodePlain(plain);
  return alteredWords(document, document.passes[0], 1, SUM);
}

test('an instruction that a pass changed tells what it reads now and read before', () => {
  assert.equal(
    words(() => undefined),
    'reads sine.1, before sine.2'
  );
});

test('another operation is told', () => {
  const another = (plain: PlainDocument): void => {
    const { nodes } = (plain.passes ?? [])[0];
    nodes.op[AFTER] = plain.strings.push('multiply') - 1;
  };
  assert.equal(words(another), 'multiply, before add; reads sine.1, before sine.2');
});

test('of types those that are others are told, or how many there are', () => {
  const made = (outputs: number): string =>
    words(plain => {
      const { nodes, outputs: all } = (plain.passes ?? [])[0];
      const before = nodes.outputs.slice(0, AFTER).reduce((sum, count) => sum + count, 0);
      all.type.splice(before, 1, ...Array.from({ length: outputs }, () => 1));
      nodes.outputs[AFTER] = outputs;
      plain.types = { ...plain.types };
      for (const column of Object.values(plain.types)) {
        column.push(column[0]);
      }
      plain.types.text[1] = plain.strings.push('bf16[4]') - 1;
    });
  assert.equal(made(1), 'bf16[4], before f32[4]; reads sine.1, before sine.2');
  assert.equal(made(2), 'makes 2 values, before 1; reads sine.1, before sine.2');
});

test('of attributes those that came, went or have another value are told, and of much the first three', () => {
  const told = words(plain => {
    const { nodes, attributes } = (plain.passes ?? [])[0];
    const string = (text: string): number => plain.strings.push(text) - 1;
    const [dims, sorted, config] = ['dimensions', 'sorted', 'config'].map(string);
    const [one, other, yes] = ['{0}', '{1}', 'true'].map(string);
    nodes.attributes = nodes.attributes.map((_, record) => ({ [SUM]: 2, [AFTER]: 2 })[record] ?? 0);
    attributes.key = [dims, config, dims, sorted];
    attributes.value = [one, yes, other, yes];
  });
  assert.equal(
    told,
    'reads sine.1, before sine.2; dimensions={1}, before {0}; sorted=true, before nothing; and 1 more'
  );
});
