/** Explorers for tests that need no browser: a window of its own for each test, and layouts without a worker. */
import { afterEach, beforeEach } from 'node:test';
import { Window } from 'happy-dom';
import { decodePlain } from '../document/decode.ts';
import type { Sketch } from '../document/sketch.ts';
import { LayoutClient } from '../layout/client.ts';
import { Explorer } from './explorer.ts';
import type { ExplorerOptions } from './options.ts';

const NAMES = [
  'document',
  'matchMedia',
  'MutationObserver',
  'ResizeObserver',
  'IntersectionObserver',
  'requestAnimationFrame',
  'cancelAnimationFrame',
  'getComputedStyle',
  'CSS'
];

let window: Window;

export interface Explored {
  readonly explorer: Explorer;
  readonly root: HTMLElement;
  readonly press: (key: string) => Promise<void>;
}

export type Plain = Pick<Sketch, 'plain'>;

/** Gives every test of a file a window; gives how to reach it. */
export function withExplorers(): () => Window {
  const saved: Record<string, unknown> = {};
  beforeEach(() => {
    window = new Window({ width: 1000, height: 700 });
    for (const name of NAMES) {
      saved[name] = (globalThis as Record<string, unknown>)[name];
      (globalThis as Record<string, unknown>)[name] = (window as unknown as Record<string, unknown>)[name];
    }
    const { requestAnimationFrame, matchMedia, getComputedStyle } = window;
    Object.assign(globalThis, {
      requestAnimationFrame: requestAnimationFrame.bind(window),
      matchMedia: matchMedia.bind(window),
      getComputedStyle: getComputedStyle.bind(window)
    });
  });
  afterEach(async () => {
    await window.happyDOM.close();
    Object.assign(globalThis, saved);
  });
  return () => window;
}

export function layoutsHere(): LayoutClient {
  return new LayoutClient(() => {
    throw new Error('no workers here');
  });
}

/** An explorer without a worker, laid out. */
export async function explore(
  sketch: Plain,
  options: Partial<ExplorerOptions> = {},
  host = document.createElement('div')
): Promise<Explored> {
  document.body.append(host);
  const explorer = new Explorer(host, { document: decodePlain(sketch.plain()), layouts: layoutsHere(), ...options });
  const settle = () => new Promise<void>(done => setTimeout(done, 5));
  await settle();
  const stage = explorer.root.querySelector('.jv-stage-area') as HTMLElement;
  const press = async (key: string) => {
    const event = new window.KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
    stage.dispatchEvent(event as unknown as Event);
    await settle();
  };
  return { explorer, root: explorer.root, press };
}

/** Gives every element a size, as a page with a layout would. */
export function giveSize(width: number, height: number): void {
  for (const [name, size] of [
    ['clientWidth', width],
    ['clientHeight', height]
  ] as const) {
    Object.defineProperty(window.HTMLElement.prototype, name, { configurable: true, get: () => size });
  }
}

/** How elements are given another size that explorers made from now on hear of. */
export function resizing(): (width: number, height: number) => void {
  const resized: (() => void)[] = [];
  Object.assign(globalThis, {
    ResizeObserver: class {
      constructor(seen: () => void) {
        resized.push(seen);
      }
      observe(): void {}
      disconnect(): void {}
    }
  });
  return (width, height) => {
    giveSize(width, height);
    resized.forEach(seen => seen());
  };
}
