import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loop } from '../document/sketch.ts';
import { Way } from '../view/relations.ts';
import { Shape } from '../view/visible.ts';
import { drawMarks, Fade, type Highlight } from './canvas.ts';
import { titleOf } from './scene.ts';
import { sceneOf } from './sceneOf.ts';
import { palettes } from './theme.ts';

/** A context that only notes what is drawn on it: the words, and that a line is. */
function noting(notes: string[]): CanvasRenderingContext2D {
  const call = (name: string, ...values: unknown[]): void => {
    if (name === 'fillText') {
      notes.push(String(values[0]));
    } else if (name === 'bezierCurveTo' || name === 'lineTo') {
      notes.push('line');
    }
  };
  return new Proxy({} as CanvasRenderingContext2D, {
    get: (_, name) => call.bind(null, String(name)),
    set: () => true
  });
}

test('the title of a frame stands over what is lit, but not where the frame steps back', () => {
  const scene = sceneOf(loop(), [1]);
  const { visible } = scene;
  const frame = visible.shape.indexOf(Shape.frame);
  const title = titleOf(scene, frame);
  const drawn = (faded: Uint8Array | null): string[] => {
    const notes: string[] = [];
    const highlight: Highlight = {
      selected: visible.shape.indexOf(Shape.box),
      linked: [],
      marks: [],
      faded,
      ways: new Uint8Array(visible.source.length).fill(Way.to),
      edges: 1,
      arrives: () => false
    };
    const size = { width: 1000, height: 1000, ratio: 1 };
    drawMarks(noting(notes), scene, { x: 0, y: 0, scale: 1 }, size, palettes.light, highlight);
    return notes;
  };
  const notes = drawn(null);
  assert.ok(notes.includes('line'));
  assert.ok(notes.indexOf(title) > notes.lastIndexOf('line'), notes.join(' '));
  assert.ok(!drawn(new Uint8Array(visible.count).fill(Fade.far)).includes(title));
});
