import assert from 'node:assert/strict';
import { deflateSync } from 'node:zlib';
import { test } from 'node:test';
import { decode, decodePlain, DocumentError, textOf } from './decode.ts';
import { affine, loop } from './sketch.ts';

const pack = (json: unknown, version = 1) => ({
  format: 'jaxviz',
  version,
  packed: deflateSync(JSON.stringify(json)).toString('base64')
});

test('a packed document is the plain one', async () => {
  const plain = loop().plain();
  assert.deepEqual(await decode(pack(plain)), decodePlain(plain));
});

test('a file is read from its text, and one that is cut off says so', async () => {
  const plain = loop().plain();
  const text = JSON.stringify(pack(plain));
  assert.deepEqual(await decode(text), decodePlain(plain));
  await assert.rejects(decode(text.slice(0, 200)), {
    name: 'DocumentError',
    message:
      /^line 1, column 201: expected the quote that ends the text begun at line 1, column \d+, but the file ends there\.$/
  });
  await assert.rejects(decode(''), { message: 'line 1, column 1: expected a jaxviz document, but the file is empty.' });
});

test('a file that comes in base64 has its text back, and one that is no text says so', () => {
  assert.equal(textOf(Buffer.from('{"ü": 1}').toString('base64')), '{"ü": 1}');
  for (const bytes of [[0x1f, 0x8b, 8, 0, 255], [...Buffer.from('ü').subarray(0, 1)]]) {
    assert.throws(() => textOf(Buffer.from(bytes).toString('base64')), {
      name: 'DocumentError',
      message: /^This is no jaxviz document, or a damaged one: it has bytes that are no text\.$/
    });
  }
});

test('columns become offsets, intervals and owners', () => {
  const [graph] = decodePlain(loop().plain()).graphs;
  const owner = 3;
  assert.deepEqual([...graph.ownedRegions.subarray(graph.firstRegion[owner], graph.firstRegion[owner + 1])], [1]);
  assert.deepEqual([graph.regionStart[1], graph.regionEnd[1]], [4, 11]);
  assert.equal(graph.regionEnd[0], graph.nodeCount);
  assert.equal(graph.valueNode[graph.firstValue[owner] + 1], owner);
});

test('a newer document says which version is needed and how to get it', async () => {
  await assert.rejects(decode(pack({}, 7)), (error: Error) => {
    assert.ok(error instanceof DocumentError);
    assert.match(error.message, /version 7.*reads up to version \d+: pip install --upgrade jupyterlab-jaxviz/);
    return true;
  });
});

const damaged: [string, (plain: Record<string, any>) => void, RegExp][] = [
  [
    'no graphs',
    plain => {
      plain.graphs = [];
      plain.programs[0].stages = [];
    },
    /programs should hold a program with a stage/
  ],
  ['a missing column', plain => delete plain.graphs[0].nodes.op, /graphs\/0\/nodes must have required property 'op'/],
  [
    'a word among numbers',
    plain => (plain.graphs[0].values.type[0] = 'f32'),
    /graphs\/0\/values\/type\/0 must be integer/
  ],
  [
    'a column that is too short',
    plain => plain.graphs[0].nodes.op.pop(),
    /graphs\/0\/nodes\/op has 6 entries, expected 7/
  ],
  [
    'an operand that is no value',
    plain => (plain.graphs[0].operands.source[0] = 99),
    /operands\/source\/0 is 99, expected from 0 to 5/
  ],
  ['a string that is not there', plain => (plain.graphs[0].nodes.op[0] = 1000), /nodes\/op\/0 is 1000/],
  ['a stage without a graph', plain => (plain.programs[0].stages[0].graph = 3), /stages\/0\/graph\/0 is 3/],
  [
    'markup where a column should be',
    plain => (plain.graphs[0].literals = '<img src=x onerror=alert(1)>'),
    /literals must be object/
  ]
];
for (const [what, damage, words] of damaged) {
  test(`one line says where: ${what}`, () => {
    const plain = affine().plain();
    damage(plain);
    assert.throws(
      () => decodePlain(plain),
      (error: Error) => {
        assert.ok(error instanceof DocumentError);
        assert.match(error.message, words);
        assert.ok(!error.message.includes('\n'));
        return true;
      }
    );
  });
}

test('what is no document is said to be none', async () => {
  for (const json of [null, 3, 'x', [], {}, { format: 'other' }, { format: 'jaxviz', version: '1' }]) {
    await assert.rejects(decode(json), DocumentError);
  }
  await assert.rejects(decode({ format: 'jaxviz', version: 1, packed: 'AAAA' }), /cannot be unpacked/);
  await assert.rejects(decode({ format: 'jaxviz', version: 1, packed: '%%%' }), /cannot be unpacked/);
  const torn = deflateSync('{"format": ').toString('base64');
  await assert.rejects(decode({ format: 'jaxviz', version: 1, packed: torn }), /its packed part is no JSON\.$/);
});

test('regions that do not nest are refused', () => {
  const plain = loop().plain();
  plain.graphs[0].regions.owner[1] = 5;
  assert.throws(() => decodePlain(plain), /regions\/owner\/1/);
});
