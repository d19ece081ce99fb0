import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain, DocumentError } from '../../document/decode.ts';
import type { Document } from '../../document/graph.ts';
import { affine } from '../../document/sketch.ts';
import { checkpointColourings } from '../../view/checkpoints.ts';
import { CheckpointStrip } from './checkpoints.ts';
import { withWindow } from '../testWindow.ts';

withWindow();

const nothing = { bytes: 0, equations: 0, flops: 0, host: 0, saved: [], first: [], count: [] };

/** `affine`, whose product and tanh are kept: one for the way back, one for that of a second derivative. */
function kept(change: Record<string, unknown> = {}): Document {
  const plain = affine().plain();
  const policies = [
    { ...nothing, name: 'everything_saveable', bytes: 48, saved: [3, 5] },
    { ...nothing, name: 'dots_saveable', bytes: 16, equations: 2, flops: 8, saved: [3], first: [4], count: [2] },
    { ...nothing, name: 'offload_dot_with_no_batch_dims', host: 16, equations: 2, saved: [3], first: [4], count: [2] },
    { ...nothing, name: 'nothing_saveable', equations: 3, flops: 72, first: [3], count: [3] }
  ];
  plain.residuals = [{ graph: 0, node: [3, 5], size: [16, 32], order: [1, 2], policies, ...change }];
  return decodePlain(plain);
}

test('the strip says how much is kept, and by which lines; a line leads to where it is', () => {
  const shown: unknown[] = [];
  const { root } = new CheckpointStrip(kept(), {
    show: (graph, nodes) => shown.push([graph, ...nodes]),
    colour: () => undefined
  });
  const [title, show] = root.querySelectorAll('button');
  assert.equal(title.textContent, 'kept for the backward pass: 2 values, 48 B');
  show.click();
  assert.deepEqual(shown.pop(), [0, 3, 5]);
  const more = root.querySelector('.jv-run-more') as HTMLElement;
  assert.equal(more.hidden, true);
  title.click();
  assert.equal(more.hidden, false);
  assert.match(more.textContent ?? '', /32 B of it for the second backward pass/);
  (more.querySelector('button.jv-run-line') as HTMLElement).click();
  assert.deepEqual(shown.pop(), [0, 3, 5]);
});

test('a policy is a switch that colours the picture, and says what it costs and how it is written', () => {
  const colours: string[] = [];
  const strip = new CheckpointStrip(kept(), { show: () => undefined, colour: key => colours.push(key) });
  const rows = [...strip.root.querySelectorAll<HTMLElement>('.jv-checkpoints-choice button')];
  assert.deepEqual(
    rows.map(row => [...row.children].map(cell => cell.textContent).join('|')),
    [
      'as it is||48 B|nothing again',
      'dots_saveable||16 B|2 again, 8 FLOP',
      'offload_dot_with_no_batch_dims||0 B|2 again; 16 B to the host',
      'nothing_saveable||0 B|3 again, 72 FLOP'
    ]
  );
  rows[1].click();
  assert.deepEqual(colours, ['checkpoint dots_saveable']);
  assert.deepEqual(
    rows.map(row => row.getAttribute('aria-pressed')),
    ['false', 'true', 'false', 'false']
  );
  const code = (): string => strip.root.querySelector('.jv-checkpoints-code')?.textContent ?? '';
  assert.match(code(), /jax\.checkpoint\(f, policy=jax\.checkpoint_policies\.dots_saveable\)/);
  rows[1].click();
  assert.equal(colours.pop(), '');
  assert.equal(rows[1].getAttribute('aria-pressed'), 'false');
  assert.equal(code(), '');
  // Whoever colours the picture in another way, the switches follow.
  strip.mark('checkpoint nothing_saveable');
  assert.equal(rows[3].getAttribute('aria-pressed'), 'true');
});

test('a checkpoint that saves everything and keeps less is called by its name, and told how to write', () => {
  const policies = [{ ...nothing, name: 'everything_saveable', bytes: 32, saved: [5] }];
  const { root } = new CheckpointStrip(kept({ policies }), { show: () => undefined, colour: () => undefined });
  const row = root.querySelector('.jv-checkpoints-choice button') as HTMLElement;
  assert.match(row.textContent ?? '', /^everything_saveable/);
  row.click();
  assert.match(
    root.querySelector('.jv-checkpoints-code')?.textContent ?? '',
    /policy=jax\.checkpoint_policies\.everything/
  );
});

test('the colours of a policy tell what is kept from what is computed again', () => {
  const document = kept();
  const colourings = checkpointColourings(document);
  assert.deepEqual(
    colourings.map(({ key }) => key.split(' ')[1]),
    ['everything_saveable', 'dots_saveable', 'offload_dot_with_no_batch_dims', 'nothing_saveable']
  );
  const groups = colourings[1].groups(document, document.graphs[0]);
  assert.deepEqual([...(groups?.of ?? [])].slice(3, 6), [0, 1, 1]);
  assert.deepEqual([...(groups?.of ?? [])].slice(0, 3), [-1, -1, -1]);
  assert.deepEqual(checkpointColourings(decodePlain(affine().plain())), []);
});

test('without a backward pass there is no strip', () => {
  const nobody = { show: () => undefined, colour: () => undefined };
  assert.equal(new CheckpointStrip(decodePlain(affine().plain()), nobody).root.hidden, true);
  const none = kept({ node: [], size: [], order: [], policies: [] });
  assert.equal(new CheckpointStrip(none, nobody).root.hidden, true, 'nor where nothing is kept for it');
});

test('what is kept of nodes that are not there is refused in one line', () => {
  const far = { ...nothing, name: 'dots_saveable', first: [4], count: [99] };
  for (const wrong of [{ graph: 3 }, { node: [3, 99] }, { size: [1] }, { policies: [far] }]) {
    assert.throws(() => kept(wrong), DocumentError);
  }
});
