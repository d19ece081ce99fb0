/** A program in a tab of the main area: the explorer with all the room there is. */
import '../../style/lab.css';
import { Widget } from '@lumino/widgets';
import type { Explorer } from '../explorer/explorer.ts';
import { opening, refusal } from '../explorer/picture/inPlace.ts';
import type { KernelLine, Told } from '../explorer/kernelLine.ts';
import type { SavedView } from '../explorer/versions/saved.ts';
import type { SourceSpot } from '../explorer/source/source.ts';
import type { LayoutClient } from '../layout/client.ts';
import { loaded } from './later.ts';
import { application, preferences } from './preferences.ts';

export class ProgramTab extends Widget {
  /** The document as it came, for saving. */
  data: unknown = null;
  /** True once it says why there is no picture. */
  failed = false;
  private explorer: Explorer | null = null;
  private layouts: LayoutClient | null = null;
  /** True where the program was made anew while nobody saw this. */
  private isOld = false;

  /**
   * `ask` asks for the document, and may say why it does not come yet; else `wait` is said. `lineFor` gives the line to
   * the kernel that made it.
   */
  constructor(
    private readonly ask: (waits: Told) => Promise<unknown>,
    wait: string,
    private readonly goToLine: (spot: SourceSpot) => void,
    private readonly lineFor?: (show: (document: unknown) => void) => KernelLine
  ) {
    super();
    this.addClass('jv-tab');
    const { root, words } = opening(wait);
    this.node.append(root);
    void this.fill(ask(why => (words.textContent = why || wait)));
  }

  /** Keys are meant for the picture. */
  protected override onActivateRequest(): void {
    this.explorer?.focus();
  }

  protected override onAfterShow(): void {
    if (this.isOld) {
      this.renew();
    }
  }

  /** The program was made anew: it is shown as it is now, once somebody sees it, as the one before was seen. */
  renew(): void {
    this.isOld = !this.isVisible;
    if (!this.isOld) {
      // Without an answer, what was there stays.
      void this.ask(() => undefined).then(
        document => this.fill(Promise.resolve(document), view => view),
        () => undefined
      );
    }
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.explorer?.dispose();
      this.layouts?.dispose();
      super.dispose();
    }
  }

  /** The same program with what was measured, as it was seen before. */
  private readonly showAgain = (document: unknown): void => {
    void this.fill(Promise.resolve(document));
  };

  /** `change` says what is seen otherwise than in the picture before. */
  private async fill(coming: Promise<unknown>, change = inTime): Promise<void> {
    try {
      this.data = await coming;
      const { decode, Explorer, LayoutClient, takePlace } = await loaded();
      const shown = await decode(this.data);
      if (!this.isDisposed) {
        const before = this.explorer;
        this.layouts ??= new LayoutClient();
        if (!before) {
          this.node.replaceChildren();
        }
        this.explorer = new Explorer(this.node, {
          document: shown,
          data: this.data,
          layouts: this.layouts,
          fill: true,
          goToLine: this.goToLine,
          ...(this.lineFor ? { kernel: this.lineFor(this.showAgain) } : {}),
          ...(preferences.stage ? { stage: preferences.stage } : {}),
          ...(preferences.colour ? { colour: preferences.colour } : {})
        });
        if (document.activeElement === this.node) {
          this.explorer.focus();
        }
        if (before) {
          await takePlace(before, this.explorer, change);
        }
      }
    } catch (error) {
      this.failed = true;
      this.node.replaceChildren(refusal(application.trans.__('There is no picture of this'), error));
    }
  }
}

/** What was measured is seen at once. */
function inTime(view: SavedView): SavedView {
  return { ...view, colour: 'time' };
}
