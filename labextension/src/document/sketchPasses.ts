/** For tests: a program whose two equal sines are merged by one pass, and which the next makes one fusion. */
import type { Document as PlainDocument } from './schema.generated.ts';
import { Sketch } from './sketch.ts';

type Plain = NonNullable<PlainDocument['passes']>[number];

/** One record of a node: lineage, kind, op, name, how many outputs, what it reads, the equations that it comes from. */
type Row = readonly [
  number,
  0 | 1 | 2 | 3,
  string,
  string,
  number,
  readonly (readonly [number, number])[],
  readonly number[]
];

const X = 0;
const [ONE, OTHER, SUM, RESULT, FUSION, ENTERS, LEAVES] = [1, 2, 3, 4, 5, 6, 7];

const ROWS: readonly Row[] = [
  [X, 1, 'argument', 'x', 1, [], [0]],
  [ONE, 0, 'sine', 'sine.1', 1, [[X, 0]], [1]],
  [OTHER, 0, 'sine', 'sine.2', 1, [[X, 0]], [2]],
  [
    SUM,
    0,
    'add',
    'add.3',
    1,
    [
      [ONE, 0],
      [OTHER, 0]
    ],
    [3]
  ],
  [RESULT, 2, 'result', 'result', 0, [[SUM, 0]], [4]],
  // After the sines were merged.
  [
    SUM,
    0,
    'add',
    'add.3',
    1,
    [
      [ONE, 0],
      [ONE, 0]
    ],
    [3]
  ],
  // In the fusion.
  [FUSION, 0, 'fusion', 'sine_add', 1, [[X, 0]], [1, 3]],
  [ENTERS, 1, 'argument', 'param_0', 1, [], []],
  [ONE, 0, 'sine', 'sine.9', 1, [[ENTERS, 0]], [1]],
  [LEAVES, 2, 'result', '', 0, [[SUM, 0]], []],
  [RESULT, 2, 'result', 'result', 0, [[FUSION, 0]], [4]]
];

/** `sin(x) + sin(x)` with its passes: `cse`, then `fusion`. */
export function mergedAndFused(): PlainDocument {
  const sketch = new Sketch('twice');
  const x = sketch.argument('x', 'f32[4]');
  const sum = sketch.op('add', [sketch.op('sin', [x], 'f32[4]'), sketch.op('sin', [x], 'f32[4]')], 'f32[4]');
  sketch.result('result', sum);
  const plain = sketch.plain();
  const string = (text: string): number => {
    const at = plain.strings.indexOf(text);
    return at >= 0 ? at : plain.strings.push(text) - 1;
  };
  const passes: Plain = {
    graph: 0,
    note: '',
    nodes: {
      lineage: ROWS.map(([lineage]) => lineage),
      kind: ROWS.map(([, kind]) => kind),
      op: ROWS.map(([, , op]) => string(op)),
      name: ROWS.map(([, , , name]) => string(name)),
      stack: ROWS.map(() => -1),
      scope: ROWS.map(() => 0),
      role: ROWS.map(() => 0),
      outputs: ROWS.map(row => row[4]),
      operands: ROWS.map(row => row[5].length),
      attributes: ROWS.map(() => 0),
      links: ROWS.map(row => row[6].length)
    },
    outputs: { type: ROWS.flatMap(row => new Array<number>(row[4]).fill(0)) },
    operands: {
      lineage: ROWS.flatMap(row => row[5].map(([lineage]) => lineage)),
      output: ROWS.flatMap(row => row[5].map(([, output]) => output))
    },
    attributes: { key: [], value: [] },
    links: { node: ROWS.flatMap(row => row[6]), kind: ROWS.flatMap(row => row[6].map(() => 0 as const)) },
    regions: { gap: [0, 2], size: [0, 4], kind: [string('program'), string('fusion')], name: [0, 0] },
    rows: {
      depth: [0, 1],
      gap: [0, 1],
      size: [0, 5],
      kind: [0, 3],
      name: [0, string('sine_add')],
      detail: [0, 0],
      variable: [0, 0],
      closed: [0, 1],
      count: [1, 1],
      copy: [-1, -1],
      like: [0, 0],
      twin: [0, 0],
      region: [-1, -1]
    },
    bindings: { kind: [0, 3], from: [X, LEAVES], fromOutput: [0, 0], to: [ENTERS, FUSION], toOutput: [0, 0] },
    states: [
      {
        name: 'start',
        pipeline: 'all',
        joined: 0,
        nodes: [0, 0, 5, 0, 1, 2, 3, 4],
        regions: [0, 0, 1, 0],
        rows: [0, 0, 1, 0],
        bindings: []
      },
      { name: 'cse', pipeline: 'all', joined: 0, nodes: [2, 2, 1, 5], regions: [], rows: [], bindings: [] },
      {
        name: 'fusion',
        pipeline: 'all',
        joined: 2,
        nodes: [1, 1, 3, 6, 7, 8, 1, 1, 2, 9, 10],
        regions: [1, 0, 1, 1],
        rows: [1, 0, 1, 1],
        bindings: [0, 0, 2, 0, 1]
      }
    ]
  };
  return { ...plain, version: 2, passes: [passes] };
}
