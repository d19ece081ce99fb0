/** A program in a tab of the main area: the explorer with all the room there is. */
import '../../style/lab.css';
import { Widget } from '@lumino/widgets';
import { decode } from '../document/decode.ts';
import { element } from '../explorer/elements.ts';
import { Explorer } from '../explorer/explorer.ts';
import type { SourceSpot } from '../explorer/source.ts';
import { LayoutClient } from '../layout/client.ts';
import { preferences } from './preferences.ts';

export class ProgramTab extends Widget {
  /** The document as it came, for saving. */
  data: unknown = null;
  private explorer: Explorer | null = null;
  private readonly layouts = new LayoutClient();

  /** `wait` says what is shown until the document is there. */
  constructor(
    document: Promise<unknown>,
    wait: string,
    private readonly goToLine: (spot: SourceSpot) => void
  ) {
    super();
    this.addClass('jv-tab');
    this.node.append(element('p', 'jv-tab-note', wait));
    void this.fill(document);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.explorer?.dispose();
      this.layouts.dispose();
      super.dispose();
    }
  }

  private async fill(coming: Promise<unknown>): Promise<void> {
    try {
      this.data = await coming;
      const shown = await decode(this.data);
      if (!this.isDisposed) {
        this.node.replaceChildren();
        this.explorer = new Explorer(this.node, {
          document: shown,
          layouts: this.layouts,
          fill: true,
          goToLine: this.goToLine,
          ...(preferences.stage ? { stage: preferences.stage } : {}),
          ...(preferences.colour ? { colour: preferences.colour } : {})
        });
      }
    } catch (error) {
      const line = element('p', 'jv-tab-note jv-tab-error', error instanceof Error ? error.message : String(error));
      line.setAttribute('role', 'alert');
      this.node.replaceChildren(line);
    }
  }
}
