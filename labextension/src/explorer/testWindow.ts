/** A window for tests of parts that make elements: a new one before each test, closed after it; gives how to reach it. */
import { afterEach, beforeEach } from 'node:test';
import { Window } from 'happy-dom';

export function withWindow(): () => Window {
  let window: Window;
  let saved: unknown;
  beforeEach(() => {
    window = new Window();
    saved = globalThis.document;
    Object.assign(globalThis, { document: window.document });
  });
  afterEach(async () => {
    await window.happyDOM.close();
    Object.assign(globalThis, { document: saved });
  });
  return () => window;
}
