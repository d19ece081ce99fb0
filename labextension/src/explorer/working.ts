/** What the kernel does for the picture now: how far it is, the button that stops it, and what came of it. */
import { button, element } from './elements.ts';
import { wheel } from './picture/inPlace.ts';
import { Stopped, type Asked, type KernelLine, type Told } from './kernelLine.ts';
import type { Compared } from './strips/rebuilding.ts';

export class Working {
  readonly root = element('div', 'jv-working');
  private readonly words = element('span', 'jv-working-words');
  private asked: Asked<unknown> | null = null;
  /** Hears the same words as the line. */
  private heard: Told = () => undefined;

  /** `changed` hears when something begins or ends; where a run is `known`, it is told below the picture. */
  constructor(
    private readonly line: KernelLine,
    private changed: (busy: boolean) => void,
    private readonly known = false
  ) {
    this.root.hidden = true;
    this.words.setAttribute('role', 'status');
  }

  get busy(): boolean {
    return this.asked !== null;
  }

  /** Runs the program; while it is run, stops it. */
  run(): void {
    if (this.busy) {
      this.stop();
    } else {
      const missing = this.line.missing();
      if (missing && this.known) {
        this.say(`${missing} What was measured before is below the picture.`);
      } else {
        void this.do('running', told => this.line.run(told));
      }
    }
  }

  /**
   * What a loop of JAX in place of the unrolled one costs; nothing where that was stopped or failed. `heard` hears all
   * that is said of it, too.
   */
  async rebuild(loop: number, heard?: Told): Promise<Compared | undefined> {
    const rebuilt = await this.do('comparing', told => this.line.rebuild(loop, told), heard);
    const beside = rebuilt?.beside;
    return beside ? { ...rebuilt, open: also => this.do('comparing', beside, also) } : rebuilt;
  }

  /** Another picture of the program waits for it from now on. */
  moveTo(changed: (busy: boolean) => void): void {
    this.changed = changed;
    changed(this.busy);
  }

  /** Nobody waits any more. */
  dispose(): void {
    this.asked?.stop();
  }

  private async do<Answer>(
    what: string,
    ask: (told: Told) => Asked<Answer>,
    heard: Told = () => undefined
  ): Promise<Answer | undefined> {
    const missing = this.busy ? 'The kernel does one thing at a time: stop that first.' : this.line.missing();
    if (missing) {
      heard(missing);
      this.say(missing, !this.busy);
      return undefined;
    }
    this.heard = heard;
    this.show(`${what}: waiting for the kernel`);
    try {
      const asked = ask(words => this.tell(`${what}: ${words}`));
      this.asked = asked;
      this.changed(true);
      const answer = await asked.answer;
      this.heard('');
      this.root.hidden = true;
      return answer;
    } catch (error) {
      const stopped = error instanceof Stopped;
      this.say(stopped ? 'Stopped: the picture is as it was.' : error instanceof Error ? error.message : String(error));
      return undefined;
    } finally {
      this.asked = null;
      this.heard = () => undefined;
      this.changed(false);
    }
  }

  /** Stops what the kernel does for this picture. */
  stop(): void {
    this.tell('stopping');
    this.asked?.stop();
  }

  private tell(words: string): void {
    this.words.textContent = words;
    this.heard(words);
  }

  private show(words: string): void {
    this.tell(words);
    const stop = button('jv-link', 'stop', 'Stop, and keep the picture', () => this.stop());
    this.root.replaceChildren(wheel(), this.words, stop);
    this.root.hidden = false;
  }

  /** Says something that stays until it is read. */
  private say(words: string, alone = true): void {
    this.tell(words);
    if (alone) {
      const close = button('jv-link', 'close', 'Close this line', () => (this.root.hidden = true));
      this.root.replaceChildren(this.words, close);
      this.root.hidden = false;
    }
  }
}
