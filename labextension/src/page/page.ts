/**
 * The explorer as a page of its own: the document lies in the page, and nothing is loaded from anywhere. Opened from a
 * disk, a page may not load its worker as a file, so the worker's code lies in the page too.
 */
import { decode } from '../document/decode.ts';
import { Explorer } from '../explorer/explorer.ts';
import { refusal } from '../explorer/picture/inPlace.ts';
import { readSaved } from '../explorer/versions/saved.ts';
import { LayoutClient } from '../layout/client.ts';
import { followPageAround } from './around.ts';

interface Options {
  readonly stage?: string;
  readonly view?: unknown;
}

function textOf(id: string): string {
  return document.getElementById(id)?.textContent ?? '';
}

function makeWorker(): Worker {
  return new Worker(URL.createObjectURL(new Blob([textOf('jv-worker')], { type: 'text/javascript' })));
}

async function start(host: HTMLElement): Promise<void> {
  const { stage, view } = JSON.parse(textOf('jv-options') || '{}') as Options;
  const saved = readSaved(view);
  try {
    const data = textOf('jv-document');
    const shown = await decode(data);
    host.replaceChildren();
    new Explorer(host, {
      document: shown,
      data,
      layouts: new LayoutClient(makeWorker),
      fill: true,
      alone: true,
      ...(stage ? { stage } : {}),
      ...(saved ? { view: saved } : {})
    });
  } catch (error) {
    host.replaceChildren(refusal('This document cannot be shown', error));
  }
}

const host = document.getElementById('jv-page');
if (host) {
  // There is none, and none of another site: then the system says what is light.
  if (window.frameElement) {
    followPageAround(window.frameElement, light => {
      document.documentElement.style.colorScheme = light ? 'light' : 'dark';
      document.body.dataset.jpThemeLight = String(light);
    });
  }
  void start(host);
}
