/**
 * The MIME renderer: draws a document wherever JupyterLab or Notebook shows an output or opens a `.jaxviz` file.
 * It needs no kernel and no trust: a document is data and is only ever shown as text and pixels.
 */
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { JSONExt, type JSONValue } from '@lumino/coreutils';
import { Widget } from '@lumino/widgets';
import type { Document } from '../document/graph.ts';
import { button, element } from '../explorer/elements.ts';
import type { Earlier } from '../explorer/versions/earlier.ts';
import type { Explorer } from '../explorer/explorer.ts';
import { opening, refusal } from '../explorer/picture/inPlace.ts';
import { noLine, type KernelLine } from '../explorer/kernelLine.ts';
import { readSaved, type SavedView } from '../explorer/versions/saved.ts';
import type { LayoutClient } from '../layout/client.ts';
import { bytesText } from '../view/words.ts';
import { loaded, type Loaded } from './later.ts';
import { Leaving, type Left } from './leaving.ts';
import { LeftInCells, type Stood } from './leftInCells.ts';
import { application, onChoice, preferences } from './preferences.ts';
import { sign } from './sign.ts';
import { Staying, type Sides } from './staying.ts';

const MIME_TYPE = 'application/vnd.jaxviz.v1+json';
/** ms after the last change of the view in which it is saved. */
const REST = 400;

/** Whether two pieces of data are the same; the host may give a copy, with its parts in another order. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSONExt.deepEqual(one as JSONValue, other as JSONValue);
}

/** How many characters a document has, about. */
function sizeOf(data: unknown): number {
  const packed = (data as { packed?: unknown } | null)?.packed;
  return typeof data === 'string' ? data.length : typeof packed === 'string' ? packed.length : 0;
}

/** What an output that says nothing of it has: its metadata goes before. */
function preferred(): { height?: unknown; stage?: unknown; view?: unknown; program?: unknown; coming?: unknown } {
  const { height, stage } = preferences;
  return { ...(height ? { height } : {}), ...(stage ? { stage } : {}) };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(one => typeof one === 'string');
}

type Model = IRenderMime.IMimeModel;
type Metadata = IRenderMime.IMimeModel['metadata'];

/** What goes with a document in an output: the view that was saved, and which program of the kernel it is. */
function ownOf(model: Model): { view?: unknown; program?: unknown } {
  return (model.metadata[MIME_TYPE] ?? {}) as { view?: unknown; program?: unknown };
}

/** A picture, and all that its next output has to know. */
interface LeftPicture extends Left {
  readonly explorer: Explorer;
  readonly layouts: LayoutClient;
  readonly home: { output: DocumentOutput };
  readonly data: unknown;
  readonly program: unknown;
  readonly kept: boolean;
  /** True where the view has changed and was not saved yet. */
  readonly unsaved: boolean;
  readonly changing: Promise<void> | null;
  readonly stood: Stood | null;
  readonly nodes: readonly ChildNode[];
  /** What had the keys in it. */
  readonly focused: HTMLElement | null;
}

const leaving = new Leaving<LeftPicture>();
const leftInCells = new LeftInCells<Earlier>();
const staying = new Staying();

class DocumentOutput extends Widget implements IRenderMime.IRenderer {
  private explorer: Explorer | null = null;
  /** The data that is shown. */
  private shown: unknown = null;
  private model: IRenderMime.IMimeModel | null = null;
  /** True once the person has asked for a large document. */
  private asked = false;
  private saving: ReturnType<typeof setTimeout> | undefined;
  private layouts: LayoutClient | null = null;
  private readonly sight = new IntersectionObserver(entries =>
    this.layouts?.setSeen(entries[entries.length - 1].isIntersecting)
  );
  /** How many documents are on their way to the screen. */
  private opening = 0;
  /** While one picture takes the place of another. */
  private changing: Promise<void> | null = null;
  /** True once the person has changed what is seen. */
  private kept = false;
  /** What had the keys in the picture when it left the page. */
  private focused: HTMLElement | null = null;
  /** Where the picture stands now: whatever it tells goes there. */
  private home: { output: DocumentOutput } = { output: this };
  /** Where it stands in a cell, if it does, and the function that it shows. */
  private spot: Omit<Stood, 'name'> | null = null;
  private name = '';
  /** Where it stood in its cell. */
  private sides: Sides = { left: 0, right: 0 };

  constructor(private readonly options: IRenderMime.IRendererOptions) {
    super();
    this.addClass('jv-output');
    onChoice.add(this.drawAgain);
  }

  /** As the person has chosen now in the settings; what he has changed in the picture itself goes before. */
  private readonly drawAgain = (): void => {
    const { model } = this;
    if (model && !this.isFile && !this.kept && !readSaved(ownOf(model).view)) {
      this.clear();
      this.shown = null;
      void this.renderModel(model);
    }
  };

  /** A file has the whole tab; an output shares the notebook. */
  private get isFile(): boolean {
    return this.parent?.hasClass('jp-MimeDocument') ?? false;
  }

  /** As the tab of a file says it; none for an output. */
  private get fileName(): string {
    return this.isFile ? (this.parent?.parent?.title.label ?? '') : '';
  }

  protected override onAfterAttach(): void {
    const cell = this.node.closest('.jp-Cell');
    this.spot = cell && { cell, place: [...cell.querySelectorAll('.jv-output')].indexOf(this.node) };
    this.parent?.node.addEventListener('focus', this.takeKeys);
  }

  protected override onBeforeDetach(): void {
    const { activeElement } = document;
    this.focused = this.explorer?.root.contains(activeElement) ? (activeElement as HTMLElement) : null;
    if (this.spot) {
      const { cell } = this.spot;
      const beside = cell.querySelector('.jp-Cell-inputWrapper') ?? cell;
      const [own, around] = [this.node, beside].map(one => one.getBoundingClientRect());
      this.sides = { left: own.left - around.left, right: around.right - own.right };
    }
    this.parent?.node.removeEventListener('focus', this.takeKeys);
  }

  /** A tab that is shown has the keys itself, and cannot use them: they are meant for the picture. */
  private readonly takeKeys = (): void => {
    if (this.isFile && document.activeElement === this.parent?.node) {
      this.explorer?.focus();
    }
  };

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const data = model.data[this.options.mimeType];
    this.model = model;
    if (this.shown !== null && isSame(data, this.shown)) {
      // Only what goes with the data has changed: the view, which was saved from here.
      return;
    }
    this.shown = data;
    this.setBusy(1);
    try {
      await this.open(data, model);
    } finally {
      this.setBusy(-1);
    }
  }

  private setBusy(change: number): void {
    this.opening += change;
    this.node.setAttribute('aria-busy', String(this.opening > 0));
  }

  private async open(data: unknown, model: Model): Promise<void> {
    const size = sizeOf(data);
    if (preferences.largest > 0 && size > preferences.largest && !this.asked) {
      this.clear();
      this.offer(size);
      return;
    }
    try {
      if (this.takeUp(data, model)) {
        return;
      }
      // What is there already stays until the next is drawn.
      const wait = this.explorer ? null : opening(application.trans.__('opening…')).root;
      if (wait) {
        this.clear();
        this.node.append(wait);
      }
      const parts = await loaded();
      // The output that this one follows may be taken away only now.
      if (this.takeUp(data, model)) {
        return;
      }
      const content = this.isFile ? parts.textOf(String(data)) : data;
      const document = await parts.decode(content);
      await this.changing;
      if (!this.isDisposed && this.shown === data) {
        wait?.remove();
        await (this.changing = this.draw(parts, document, content, model));
      }
    } catch (error) {
      this.clear();
      this.node.replaceChildren(refusal(application.trans.__('This document cannot be shown'), error, this.fileName));
    }
  }

  /** Draws a document; where another one is on the screen, it is the same program, and this takes its place. */
  private async draw(
    { Explorer, LayoutClient, takePlace, comeForward }: Loaded,
    document: Document,
    data: unknown,
    model: Model
  ): Promise<void> {
    const { height, stage, view, program, coming } = { ...preferred(), ...(model.metadata[MIME_TYPE] as object) };
    const saved = readSaved(view);
    const fill = this.isFile;
    if (!this.layouts) {
      this.layouts = new LayoutClient();
      this.sight.observe(this.node);
    }
    const { explorer: before, home } = this;
    this.name = document.programs[0].name;
    const earlier = before || saved || !this.spot ? undefined : leftInCells.take(this.spot.cell, this.name);
    const next = new Explorer(this.node, {
      document,
      data,
      layouts: this.layouts,
      fill,
      // A file is not changed by looking at it.
      ...(fill ? {} : { save: (now: SavedView) => home.output.save(now) }),
      ...(saved && !before ? { view: saved } : {}),
      ...(earlier ? { earlier } : {}),
      ...(typeof height === 'number' ? { height } : {}),
      ...(typeof stage === 'string' ? { stage } : {}),
      ...(preferences.colour ? { colour: preferences.colour } : {}),
      ...(fill ? {} : { takeKeys: () => application.toCell?.(home.output.node) }),
      ...(fill ? {} : { kernel: this.line(typeof program === 'string' ? program : '') }),
      ...(isTexts(coming) ? { coming } : {}),
      ...(application.goToLine ? { goToLine: spot => application.goToLine?.(home.output.node, spot) } : {})
    });
    this.explorer = next;
    this.takeKeys();
    const cell = this.spot?.cell;
    if (!before && cell && staying.has(cell)) {
      await comeForward(next, () => staying.makeRoom(cell, this.name));
    }
    if (before) {
      await takePlace(before, next, seen => (saved ? { ...seen, colour: saved.colour } : seen));
      const { output } = home;
      if (output.kept && output.explorer === next) {
        // What the notebook has now knows nothing of what the person has seen.
        output.save(next.view);
      }
    } else if (earlier?.chosen) {
      // The notebook has lost it with the output before.
      home.output.save(next.view);
    }
  }

  /** Goes on with the picture of an output that was taken away just now; true where nothing else is to be drawn. */
  private takeUp(data: unknown, model: Model): boolean {
    const { view, program } = ownOf(model);
    const left =
      this.explorer || this.isDisposed
        ? undefined
        : leaving.take(one => (program !== undefined && one.program === program) || isSame(one.data, data));
    if (!left) {
      return false;
    }
    const { explorer, layouts, home, kept, unsaved, changing, nodes, focused, stood } = left;
    Object.assign(this, { explorer, layouts, home, kept, changing, name: stood?.name ?? '' });
    if (stood) {
      leftInCells.drop(stood);
    }
    home.output = this;
    staying.release(nodes);
    this.node.replaceChildren(...nodes);
    this.sight.observe(this.node);
    if (document.activeElement === document.body) {
      focused?.focus({ preventScroll: true });
    }
    if (unsaved) {
      this.save(explorer.view);
    }
    const saved = readSaved(view);
    if (saved && !kept && !isSame(saved, explorer.view)) {
      // Who has only looked on sees what a colleague sees.
      explorer.restore(saved);
    }
    return isSame(left.data, data);
  }

  /** Leaves the picture to the output that may come in the place of this one. */
  private leave(explorer: Explorer, layouts: LayoutClient): void {
    const { home, shown, model, kept, saving, changing, focused, spot, name, sides } = this;
    clearTimeout(saving);
    const stood = spot && { ...spot, name };
    const nodes = [...this.node.childNodes];
    let holders = 1;
    const end = (): void => {
      holders--;
      if (!holders) {
        explorer.dispose();
        layouts.dispose();
      }
    };
    if (stood) {
      leftInCells.put(stood, explorer.inheriting.earlier);
      // The host says only after it took the outputs away that the cell is run.
      queueMicrotask(() => {
        const isTaken = nodes.some(one => one.parentNode !== this.node);
        if (!isTaken && !explorer.root.classList.contains('jv-whole')) {
          const words = application.trans.__('running again: this is the picture from before');
          holders += Number(staying.keep(stood, nodes, sides, words, end));
        }
      });
    }
    leaving.put({
      explorer,
      layouts,
      home,
      data: shown,
      program: model && ownOf(model).program,
      kept,
      unsaved: saving !== undefined,
      changing,
      stood,
      nodes,
      focused,
      end
    });
  }

  /** The line to the kernel, looked for when it is used: an output may be there before the plugins are. */
  private line(program: string): KernelLine {
    const { home } = this;
    const found = (): KernelLine =>
      application.kernelLine?.(home.output.node, program, measured => home.output.showMeasured(measured)) ??
      noLine(application.trans.__('There is no kernel here, and this needs one.'));
    return {
      missing: () => found().missing(),
      run: told => found().run(told),
      rebuild: (loop, told) => found().rebuild(loop, told)
    };
  }

  /** Says that a document is large, and shows it when it is asked for. */
  private offer(size: number): void {
    const { trans } = application;
    const text = trans.__('This program is large: %1. It is opened when you ask for it.', bytesText(size));
    const line = element('div', 'jv-large', text);
    const show = button('jv-large-show', trans.__('show it'), trans.__('Show this picture'), () => {
      this.asked = true;
      this.shown = null;
      if (this.model) {
        void this.renderModel(this.model);
      }
    });
    line.append(show);
    this.node.replaceChildren(line);
  }

  /** Keeps a view with the output once the person has come to rest: each time, the notebook is changed. */
  private save(view: SavedView): void {
    clearTimeout(this.saving);
    this.saving = undefined;
    const saved = this.model && readSaved(ownOf(this.model).view);
    if (saved && isSame(view, saved)) {
      // As the notebook has it: it came from there.
      return;
    }
    this.kept = true;
    this.saving = setTimeout(() => {
      const { model } = this;
      this.saving = undefined;
      if (!model) {
        return;
      }
      const own = model.metadata[MIME_TYPE] as Metadata | undefined;
      const kept = { ...own, view: view as unknown as Metadata };
      model.setData({ metadata: { ...model.metadata, [MIME_TYPE]: kept } });
    }, REST);
  }

  /** The same program with what was measured, which the notebook keeps; seen as before, by the time it takes. */
  private showMeasured(document: unknown): void {
    const { model, explorer } = this;
    if (model && explorer) {
      clearTimeout(this.saving);
      const own = model.metadata[MIME_TYPE] as Metadata | undefined;
      const view = { ...explorer.view, colour: 'time' } as unknown as Metadata;
      model.setData({
        data: { ...model.data, [MIME_TYPE]: document as Metadata },
        metadata: { ...model.metadata, [MIME_TYPE]: { ...own, view } }
      });
    }
  }

  override dispose(): void {
    if (!this.isDisposed) {
      onChoice.delete(this.drawAgain);
      this.sight.disconnect();
      if (this.explorer && this.layouts && !this.isFile) {
        this.leave(this.explorer, this.layouts);
      } else {
        this.clear();
        this.layouts?.dispose();
      }
      super.dispose();
    }
  }

  private clear(): void {
    clearTimeout(this.saving);
    this.explorer?.dispose();
    this.explorer = null;
    this.node.replaceChildren();
  }
}

const extension: IRenderMime.IExtension = {
  id: 'jupyterlab-jaxviz:document',
  description: 'Shows JAX programs as graphs that can be explored.',
  rendererFactory: {
    safe: true,
    mimeTypes: [MIME_TYPE],
    createRenderer: options => new DocumentOutput(options)
  },
  // Before pictures, and before widgets, whose own rank is -10 and which do not survive reopening.
  rank: -20,
  // A file comes in base64, so that one that is no JSON, or no text, is told here and not by a dialog of the host.
  dataType: 'string',
  fileTypes: [
    {
      name: 'jaxviz',
      displayName: 'JAX program',
      mimeTypes: [MIME_TYPE],
      extensions: ['.jaxviz'],
      fileFormat: 'base64',
      icon: sign
    }
  ],
  documentWidgetFactoryOptions: {
    name: 'jaxviz',
    modelName: 'base64',
    primaryFileType: 'jaxviz',
    fileTypes: ['jaxviz'],
    defaultFor: ['jaxviz']
  }
};

export default extension;
