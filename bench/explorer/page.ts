/** Opens a document in the explorer and does what a person does, each step until its picture is on the screen. */
import { decode } from '../../labextension/src/document/decode.ts';
import type { Document } from '../../labextension/src/document/graph.ts';
import { openWhole } from '../../labextension/src/explorer/acts.ts';
import { Explorer } from '../../labextension/src/explorer/explorer.ts';
import { LayoutClient } from '../../labextension/src/layout/client.ts';

/** ms, or the number of boxes that were shown. */
export type Figures = Readonly<Record<string, number>>;

export async function measure(text: string, workerUrl: string, styles: string): Promise<Figures> {
  const style = document.createElement('style');
  style.textContent = styles;
  const host = document.createElement('div');
  Object.assign(host.style, { width: '1280px', height: '800px' });
  document.body.replaceChildren(style, host);
  const tasks: { name: string; ms: number }[] = [];
  let now = 'open';
  const observer = new PerformanceObserver(list => {
    list.getEntries().forEach(({ duration }) => tasks.push({ name: now, ms: duration }));
  });
  observer.observe({ type: 'longtask' });
  const figures: Record<string, number> = {};
  const layouts = new LayoutClient(() => new Worker(workerUrl));
  const timed = async (name: string, does: () => void | Promise<void>): Promise<void> => {
    await idle();
    now = name;
    const start = performance.now();
    await does();
    await settled();
    figures[name] = performance.now() - start;
    // Long tasks are told a little later.
    await wait(60);
  };
  let explorer!: Explorer;
  let read!: Document;
  const settled = async (): Promise<void> => {
    do {
      await frame();
    } while (!explorer.panes.every(({ scene, busy }) => scene !== null && !busy));
    await frame();
  };
  await timed('open', async () => {
    // From the text of the output, as the notebook has it.
    read = await decode(JSON.parse(text));
    explorer = new Explorer(host, { document: read, layouts, fill: true });
  });
  figures.boxes = explorer.labels.length;
  const [pane] = explorer.panes;
  const { stages } = read.programs[0];
  for (const { kind, graph } of stages.slice(1)) {
    await timed(`first ${kind}`, () => pane.enter(graph));
  }
  for (const { kind, graph } of stages) {
    await timed(`to ${kind}`, () => pane.enter(graph));
  }
  pane.enter(stages[0].graph);
  await settled();
  await timed('open all', () => openWhole(pane, true));
  figures['all boxes'] = explorer.labels.length;
  pane.stage.focus();
  const field = search(explorer);
  const keystrokes: number[] = [];
  now = 'search';
  for (const query of ['tanh', 'op:dot', 'line:12', '/^add/']) {
    for (let length = 1; length <= query.length; length++) {
      const start = performance.now();
      field.value = query.slice(0, length);
      field.dispatchEvent(new Event('input', { bubbles: true }));
      keystrokes.push(performance.now() - start);
      await frame();
    }
  }
  // The first one prepares what is searched.
  figures['search first'] = keystrokes[0];
  figures.search = Math.max(...keystrokes.slice(1));
  await wait(100);
  observer.disconnect();
  for (const { name, ms } of tasks) {
    figures[`task: ${name}`] = Math.max(figures[`task: ${name}`] ?? 0, ms);
  }
  return figures;
}

function search(explorer: Explorer): HTMLInputElement {
  explorer.root
    .querySelector('.jv-stage-area')
    ?.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true, cancelable: true }));
  return explorer.root.querySelector('.jv-search-input') as HTMLInputElement;
}

const wait = (ms: number): Promise<void> => new Promise(done => setTimeout(done, ms));
const frame = (): Promise<void> => new Promise(done => requestAnimationFrame(() => done()));
const idle = (): Promise<void> => new Promise(done => requestIdleCallback(() => done(), { timeout: 500 }));

Object.assign(globalThis, { measureExplorer: measure });
