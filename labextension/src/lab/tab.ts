/** A program in a tab of the main area: the explorer with all the room there is. */
import '../../style/lab.css';
import { Widget } from '@lumino/widgets';
import type { Explorer } from '../explorer/explorer.ts';
import { opening, refusal } from '../explorer/inPlace.ts';
import type { KernelLine, Told } from '../explorer/kernelLine.ts';
import type { SourceSpot } from '../explorer/source.ts';
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

  /**
   * `ask` asks for the document, and may say why it does not come yet; else `wait` is said. `lineFor` gives the line to
   * the kernel that made it.
   */
  constructor(
    ask: (waits: Told) => Promise<unknown>,
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

  private async fill(coming: Promise<unknown>): Promise<void> {
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
          await takePlace(before, this.explorer, view => ({ ...view, colour: 'time' }));
        }
      }
    } catch (error) {
      this.failed = true;
      this.node.replaceChildren(refusal(application.trans.__('There is no picture of this'), error));
    }
  }
}
