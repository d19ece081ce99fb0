import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element } from './elements.ts';
import { withWindow } from './testWindow.ts';
import { breakInWords } from './wordBreaks.ts';

withWindow();

test('a long name goes on in the next line where a word of it begins', () => {
  for (const [text, broken] of [
    ['softmax_cross_entropy_with_integer_labels', 'softmax_|cross_|entropy_|with_|integer_|labels'],
    ['loss = optax.losses.mean_of(logits,labels)', 'loss = optax.|losses.|mean_|of(|logits,|labels)'],
    ['TransformerEncoder/DenseGeneral_0', 'Transformer|Encoder/|Dense|General_0'],
    ['a_b + jnp.sum(x, axis=0)', 'a_b + jnp.sum(x, axis=0)'],
    ['f32[4096,4096,4096]{2,1,0:T(8,128)}', 'f32[4096,4096,4096]{2,1,0:T(8,128)}'],
    ['123456.789012 1.00000000e-30', '123456.789012 1.00000000e-30'],
    ['__very_long_private_name__', '__very_|long_|private_|name__'],
    ['', '']
  ]) {
    const made = breakInWords(element('code', '', text));
    const parts = [...made.childNodes].map(node => (node.nodeName === 'WBR' ? '|' : (node.textContent ?? '')));
    assert.equal(parts.join(''), broken);
    assert.equal(made.textContent, text);
  }
});
