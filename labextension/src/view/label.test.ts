import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { Sketch } from '../document/sketch.ts';
import { cut, nodeLabel, regionLabel, turns } from './label.ts';

function labels(...regions: readonly (readonly [kind: string, name: string])[]): string[] {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[]');
  sketch.op('while', [x], 'f32[]');
  const owner = sketch.last;
  for (const [kind, name] of regions) {
    sketch.region(owner, kind, name, () => sketch.result('', sketch.argument('', 'f32[]')));
  }
  const document = decodePlain(sketch.plain());
  return regions.map((_, index) => regionLabel(document, document.graphs[0], index + 1));
}

test('the parts of a while loop say which is which, with the name of the function where it has one', () => {
  assert.deepEqual(labels(['while cond', '<lambda>'], ['while body', '<lambda>']), ['condition', 'body']);
  assert.deepEqual(labels(['while cond', 'cond_fun'], ['while body', '_fori_body_fun']), ['condition', 'body']);
  assert.deepEqual(labels(['while cond', 'unsettled'], ['while body', 'step']), ['condition: unsettled', 'body: step']);
});

test('the parts of a loop that the compiler named are told by what they do alone', () => {
  const parts = labels(['while cond', 'wide.region_25.36.clone.clone'], ['while body', 'region_0.2.clone.sunk.clone']);
  assert.deepEqual(parts, ['condition', 'body']);
  assert.deepEqual(labels(['while cond', 'region_of_trust'], ['while body', 'region']), [
    'condition: region_of_trust',
    'body: region'
  ]);
});

test('an operation whose name has nothing to read is called by what it does', () => {
  const names = ['\u200b\u200d', '  ', '\u0301', '\u202e', 'ש', '½', '→', 'e\u0301'];
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[]');
  names.forEach(name => sketch.op('sin', [x], 'f32[]', {}, name));
  const document = decodePlain(sketch.plain());
  const told = names.map((_, index) => nodeLabel(document, document.graphs[0], index + 1));
  assert.deepEqual(told, ['sin', 'sin', 'sin', 'sin', ...names.slice(4)]);
});

test('the turns of a loop can be read where they are many, and are an expression where sizes are left open', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[]');
  const lengths = ['100', '1500', '1000000000', '2*n + 1'];
  lengths.forEach(length => sketch.op('scan', [x], 'f32[]', { length }));
  const document = decodePlain(sketch.plain());
  const told = lengths.map((_, index) => turns(document, document.graphs[0], index + 1));
  assert.deepEqual(told, ['x100', 'x1500', 'x1,000,000,000', 'x2*n + 1']);
});

test('what sums derivatives says so', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[]');
  sketch.op('add_any', [x, x], 'f32[]');
  const document = decodePlain(sketch.plain());
  assert.equal(nodeLabel(document, document.graphs[0], sketch.last), 'add derivatives');
});

test('an operation may have any name', () => {
  const sketch = new Sketch();
  sketch.op('toString', [sketch.argument('x', 'f32[]')], 'f32[]');
  const document = decodePlain(sketch.plain());
  assert.equal(nodeLabel(document, document.graphs[0], sketch.last), 'toString');
});

test('other regions are called by their function, or by what they are', () => {
  assert.deepEqual(labels(['branch', 'grow'], ['branch', '']), ['grow', 'branch']);
});

test('a long name is cut between letters with their marks, and between emoji', () => {
  assert.equal(cut('attention_of_the_decoder', 10), 'attention…');
  assert.equal(cut('attention … decoder', 12), 'attention…');
  const marked = 'e\u0301'.repeat(12);
  assert.equal(cut(marked, 10), `${'e\u0301'.repeat(4)}…`);
  const family = '👩\u200d👩\u200d👧';
  assert.equal(cut(family.repeat(4), 9), `${family}…`);
  assert.equal(cut('👍🏽'.repeat(9), 10), `${'👍🏽'.repeat(4)}…`);
  // Nothing but marks is cut all the same.
  assert.equal(cut('\u0903'.repeat(40), 10).length, 10);
});

test('a long name is shortened by the modules of its functions and by what it says of a gradient before it is cut', () => {
  assert.equal(cut('kt, kn = jax.random.split(key)'), 'kt, kn = split(key)');
  assert.equal(cut('a = jnp.cos(t * jnp.pi / 2)'), 'a = cos(t * pi / 2)');
  assert.equal(cut('jax.scipy.special.logsumexp(logits, axis=-1)'), 'logsumexp(logits, axi…');
  // What fits is as the person wrote it, and what only looks like a module is none.
  assert.equal(cut('jnp.exp(lp)'), 'jnp.exp(lp)');
  assert.equal(cut('value_and_grad(critic_loss)'), 'grad(critic_loss)');
  assert.equal(cut('filter_value_and_grad(generator_loss)'), 'grad(generator_loss)');
  assert.equal(cut('value_and_grad(loss)'), 'value_and_grad(loss)');
  assert.equal(cut('self.np.first(state.jax.model)'), 'self.np.first(state.j…');
});

test('a long name that is cut still says which of several parts it is', () => {
  assert.equal(cut('forward Block.__call__ 2/3'), 'forward Block.__c… 2/3');
  assert.equal(cut('backward loss 2/3'), 'backward loss 2/3');
});

test('marks that would stand higher than the box are left out, and those of every script stay', () => {
  assert.equal(cut(`Z${'\u0308'.repeat(9)}o\u0301`), `Z${'\u0308'.repeat(3)}o\u0301`);
  for (const name of ['क्षेत्र', 'ที่นี่', 'བསྒྲུབས', 'e\u0323\u0302\u0301']) {
    assert.equal(cut(name), name);
  }
});

test('of what is done to a function, the function is told', () => {
  assert.equal(cut('value_and_grad(loss)', 22), 'value_and_grad(loss)');
  assert.equal(cut('value_and_grad(critic_loss)', 22), 'grad(critic_loss)');
  // A gradient is not what it is taken of.
  assert.equal(cut('jax.value_and_grad(critic_loss)', 14), 'grad(critic_…)');
  assert.equal(cut('vmap(critic_loss)', 12), 'critic_loss');
  assert.equal(cut('jax.vmap(critic_loss_of_all_states)', 14), 'vmap(critic_l…');
  // What is more than a name is cut at its end.
  assert.equal(cut('solve(S00 + jitter, S10.T)', 22), 'solve(S00 + jitter, S…');
});

test('a call of what a library has is called by that, but for one that has another name', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[]');
  const target = { custom_call_target: 'TopK' };
  sketch.op('custom-call', [x], 'f32[]', target, 'custom-call.12');
  sketch.op('custom-call', [x], 'f32[]', target, 'largest.3');
  sketch.op('custom_call', [x], 'f32[]', { call_target_name: '@lapack_spotrf_ffi' });
  sketch.op('custom-call', [x], 'f32[]', {}, 'custom-call.2');
  const document = decodePlain(sketch.plain());
  const told = [1, 2, 3, 4].map(node => nodeLabel(document, document.graphs[0], node));
  assert.deepEqual(told, ['TopK', 'largest.3', 'lapack_spotrf_ffi', 'custom-call.2']);
});
