/** A window for tests of parts that make elements: a new one before each test, closed after it; gives how to reach it. */
import { afterEach, beforeEach } from 'node:test';
import { Window } from 'happy-dom';

export function withWindow(): () => Window {
  let window: Window;
  const { document, ResizeObserver } = globalThis;
  beforeEach(() => {
    window = new Window();
    Object.assign(globalThis, { document: window.document, ResizeObserver: window.ResizeObserver });
  });
  afterEach(async () => {
    await window.happyDOM.close();
    Object.assign(globalThis, { document, ResizeObserver });
  });
  return () => window;
}
