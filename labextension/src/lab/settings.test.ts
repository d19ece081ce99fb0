/** What the settings editor offers is what there is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { colourings } from '../view/colouring.ts';
import schema from '../../settings/settings.json' with { type: 'json' };

const { properties } = schema;

test('every way to colour that all documents have can be chosen in the settings', () => {
  const offered = properties.colour.oneOf.map(one => one.const);
  assert.deepEqual(offered.sort(), colourings.map(({ key }) => key).sort());
});

test('every setting, and every choice that is a name, has words', () => {
  for (const setting of Object.values(properties)) {
    assert.ok(setting.title && setting.description);
  }
  for (const { const: name, title } of [...properties.stage.oneOf, ...properties.colour.oneOf]) {
    assert.ok(title.length >= name.length, name);
  }
});

test('the words of the settings are looked up where the titles of everything else are', () => {
  assert.equal(schema['jupyter.lab.internationalization'].domain, 'jupyterlab_jaxviz');
});
