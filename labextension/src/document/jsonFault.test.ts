import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jsonFault } from './jsonFault.ts';

const faults: [string, string, string][] = [
  [
    'a file that was cut off in a text',
    '{"format": "jax',
    '1:16 expected the quote that ends the text begun at line 1, column 12, but the file ends there'
  ],
  ['a file that was cut off between two things', '{"a": [1,\n 2', '2:3 expected a comma or ], but the file ends there'],
  ['a comma too many', '{\n  "a": 1,\n}', '3:1 expected a name in quotes, but found }'],
  ['a comma that is missing', '{"a": 1\n "b": 2}', '2:2 expected a comma or }, but found "'],
  ['a colon that is missing', '{"a" 1}', '1:6 expected a colon, but found 1'],
  ['a name without quotes', '{format: 1}', '1:2 expected a name in quotes or }, but found format'],
  ['a value that JSON does not have', '[1, NaN]', '1:5 expected a value, but found NaN'],
  ['a number that begins with a zero', '[01]', '1:3 expected a comma or ], but found 1'],
  [
    'a text over two lines',
    '["a\nb"]',
    '1:4 expected the quote that ends the text begun at line 1, column 2, but the line ends there'
  ],
  ['a sign that stands for nothing', '["\\x"]', '1:3 expected \\ and what it stands for, but found \\'],
  ['two documents', '{}\n{}', '2:1 expected the end of the file, but found {'],
  ['another kind of file', 'HloModule jit_f, entry={()}', '1:1 expected a jaxviz document, but found HloModule'],
  ['a long word', `[${'x'.repeat(99)}]`, `1:2 expected a value or ], but found ${'x'.repeat(24)}…`],
  ['an empty file', ' \n', '2:1 expected a jaxviz document, but the file is empty']
];
for (const [what, text, words] of faults) {
  test(`the first fault is told with its line and column: ${what}`, () => {
    const fault = jsonFault(text);
    assert.equal(fault && `${fault.line}:${fault.column} ${fault.words}`, words);
  });
}

test('a text has a fault where the browser cannot read it', () => {
  const cut = fc.tuple(fc.json(), fc.nat(), fc.string({ maxLength: 2 }));
  fc.assert(
    fc.property(cut, ([json, at, put]) => {
      const place = at % (json.length + 1);
      const text = json.slice(0, place) + put + json.slice(place + put.length);
      assert.equal(jsonFault(text) === null, isJson(text), text);
    })
  );
});

test('a text that is millions of characters long, or open as often, has its fault told', () => {
  assert.match(jsonFault(`{"packed": "${'A'.repeat(5_000_000)}`)?.words ?? '', /the file ends there/);
  assert.equal(jsonFault('['.repeat(1_000_000))?.column, 1_000_001);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
