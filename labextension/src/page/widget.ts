/**
 * The explorer as a widget, for front ends that know anywidget: selection, findings and view are traits that Python and
 * other widgets observe and set.
 */
import { decode } from '../document/decode.ts';
import { element } from '../explorer/elements.ts';
import { Explorer } from '../explorer/explorer.ts';
import { refusal } from '../explorer/picture/inPlace.ts';
import { noLine } from '../explorer/kernelLine.ts';
import { readSaved } from '../explorer/versions/saved.ts';
import { LayoutClient } from '../layout/client.ts';

/** What anywidget gives of the model in Python. */
interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, hear: () => void): void;
  off(event: string, hear: () => void): void;
}

/** A widget shows what it was given; the kernel has the rest. */
const MEASURE =
  'A widget shows what it was made of: in a cell, ex.run() or ex.rebuild(), and then ex.widget() has what was measured.';

function workerOf(text: string): () => Worker {
  return () => new Worker(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
}

/** One trait that both sides set: what came from the other side is not sent back. */
class Shared {
  private last: string;

  constructor(
    private readonly model: Model,
    private readonly name: string,
    private readonly take: (value: unknown) => void
  ) {
    this.last = JSON.stringify(model.get(name));
    model.on(`change:${name}`, this.hear);
  }

  tell(value: unknown): void {
    const text = JSON.stringify(value);
    if (text !== this.last) {
      this.last = text;
      this.model.set(this.name, value);
      this.model.save_changes();
    }
  }

  dispose(): void {
    this.model.off(`change:${this.name}`, this.hear);
  }

  private readonly hear = (): void => {
    const value = this.model.get(this.name);
    const text = JSON.stringify(value);
    if (text !== this.last) {
      this.last = text;
      this.take(value);
    }
  };
}

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.every(Number.isInteger);
}

/** A widget's picture; gives what takes it away. */
async function show(model: Model, host: HTMLElement): Promise<() => void> {
  const layouts = new LayoutClient(workerOf(String(model.get('worker'))));
  const shown = await decode(model.get('document'));
  const saved = readSaved(model.get('view'));
  const height = model.get('height');
  const explorer = new Explorer(host, {
    document: shown,
    data: model.get('document'),
    layouts,
    ...(typeof height === 'number' ? { height } : {}),
    stage: String(model.get('stage')),
    ...(saved ? { view: saved } : {}),
    kernel: noLine(MEASURE),
    save: now => {
      view.tell(now);
      stage.tell(now.stage);
      selection.tell([...explorer.selection]);
    },
    shownFinding: entry => finding.tell(shown.findings.indexOf(entry))
  });
  const showFinding = (number: unknown): void => {
    const entry = typeof number === 'number' ? shown.findings[number] : undefined;
    if (entry) {
      explorer.showFinding(entry, false);
    } else {
      explorer.select([]);
    }
  };
  const view = new Shared(model, 'view', value => {
    const read = readSaved(value);
    if (read) {
      explorer.restore(read);
    }
  });
  const stage = new Shared(model, 'stage', value => explorer.showStage(String(value), false));
  const selection = new Shared(model, 'selection', value => explorer.select(isNumbers(value) ? value : []));
  const finding = new Shared(model, 'finding', showFinding);
  if (!saved) {
    const given = model.get('selection');
    if (isNumbers(given) && given.length) {
      explorer.select(given);
    }
    if (model.get('finding') !== null) {
      showFinding(model.get('finding'));
    }
  }
  return () => {
    [view, stage, selection, finding].forEach(shared => shared.dispose());
    explorer.dispose();
    layouts.dispose();
  };
}

async function render({ model, el }: { model: Model; el: HTMLElement }): Promise<() => void> {
  const host = element('div', 'jv-output');
  el.append(host);
  try {
    return await show(model, host);
  } catch (error) {
    host.replaceChildren(refusal('This document cannot be shown', error));
    return () => host.remove();
  }
}

// anywidget looks for a default export.
export default { render };
