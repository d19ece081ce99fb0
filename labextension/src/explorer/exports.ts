/** What is seen, as a file: the picture as SVG or PNG, as it stands on the screen, and the document with all stages. */
import type { Document } from '../document/graph.ts';
import type { Scene } from '../draw/scene.ts';
import { toSvg } from '../draw/svg.ts';
import type { Theme } from '../draw/theme.ts';
import { described } from '../view/described.ts';
import { button, element } from './elements.ts';
import type { Viewing } from './picture/viewing.ts';

export interface Exported {
  readonly document: Document;
  /** The document as it came; where there is none, it cannot be saved. */
  readonly data?: unknown;
  scene(): Scene | null;
  viewing(): Viewing;
  theme(): Theme;
  /** Keys are meant for the picture again. */
  left(): void;
}

/** Pixels of a PNG for each px. */
const SCALE = 2;
/** Canvases of more pixels at a side than this stay empty in some browsers. */
const MOST_PIXELS = 16_000;

export class Exports {
  readonly root = element('div', 'jv-exports');
  /** The address of what was saved last. */
  private saved = '';
  private readonly said = element('span', 'jv-working-words');

  constructor(private readonly of: Exported) {
    const { root, said } = this;
    root.hidden = true;
    root.setAttribute('role', 'group');
    root.setAttribute('aria-label', 'Save');
    said.setAttribute('role', 'status');
    root.append(
      element('span', '', 'save the picture:'),
      button('jv-link', 'SVG', 'As it is seen, with live text', () => this.saveSvg()),
      button('jv-link', 'PNG', `As it is seen, ${SCALE} pixels for each px`, () => void this.savePng())
    );
    if (of.data !== undefined) {
      const title = 'All stages, to be opened again in JupyterLab or with jv.load';
      root.append(
        element('span', '', 'or the program:'),
        button('jv-link', '.jaxviz', title, () => this.saveDocument())
      );
    }
    root.append(
      said,
      button('jv-close', '×', 'Close (Escape)', () => this.close())
    );
    root.addEventListener('keydown', event => {
      if (event.key === 'Escape') {
        event.stopPropagation();
        this.close();
      }
    });
  }

  toggle(): void {
    if (!this.root.hidden) {
      this.close();
      return;
    }
    this.open();
    this.root.querySelector('button')?.focus({ preventScroll: true });
  }

  /** Shows it, and leaves the keys where they are. */
  open(): void {
    this.said.textContent = '';
    this.root.hidden = false;
  }

  close(): void {
    this.root.hidden = true;
    this.of.left();
  }

  /** The picture as it stands: what is open, and in which colours. */
  svg(scene: Scene): string {
    const { document: source } = this.of;
    const { program, stage } = this.of.viewing();
    return toSvg(scene, {
      theme: this.of.theme(),
      title: source.programs[program].call || 'program',
      description: described(stage?.kind ?? 'graph', scene.visible)
    });
  }

  private saveSvg(): void {
    const scene = this.of.scene();
    if (scene) {
      this.save(new Blob([this.svg(scene)], { type: 'image/svg+xml' }), 'svg');
    }
  }

  private async savePng(): Promise<void> {
    const scene = this.of.scene();
    if (!scene) {
      return;
    }
    try {
      this.save(await pngOf(this.svg(scene)), 'png');
    } catch {
      this.said.textContent = 'this picture is too large for a PNG: close some of it, or take the SVG';
    }
  }

  private saveDocument(): void {
    const { data } = this.of;
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    this.save(new Blob([text], { type: 'application/json' }), 'jaxviz');
  }

  private save(blob: Blob, extension: string): void {
    const { document: source } = this.of;
    const { program, stage } = this.of.viewing();
    const name = (source.programs[program].name || 'program').replace(/[^\w.-]+/g, '_');
    const file = `${extension === 'jaxviz' || !stage ? name : `${name}-${stage.kind}`}.${extension}`;
    const link = element('a', '');
    link.href = URL.createObjectURL(blob);
    link.download = file;
    link.click();
    // A browser may still be at the last one: it goes with the next.
    URL.revokeObjectURL(this.saved);
    this.saved = link.href;
    this.said.textContent = `saved as ${file}`;
  }
}

/** An SVG as PNG: smaller than it would be where a browser could not draw that many pixels. */
async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const scale = Math.min(SCALE, MOST_PIXELS / Math.max(image.width, image.height));
  const canvas = element('canvas', '');
  canvas.width = Math.round(image.width * scale);
  canvas.height = Math.round(image.height * scale);
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => {
    canvas.toBlob(blob => (blob ? done(blob) : fail(new Error('no room for a canvas'))), 'image/png');
  });
}
