/** The program that the person has put aside, to compare another one with. */
import { Signal, type ISignal } from '@lumino/signaling';

export interface Aside {
  readonly kernel: string;
  readonly program: string;
}

export class Comparing {
  private aside: Aside | null = null;
  private readonly change = new Signal<this, void>(this);

  get changed(): ISignal<this, void> {
    return this.change;
  }

  get first(): Aside | null {
    return this.aside;
  }

  put(aside: Aside | null): void {
    this.aside = aside;
    this.change.emit();
  }

  /** Whether a program is the one that was put aside. */
  is(kernel: string, program: string): boolean {
    return this.aside?.kernel === kernel && this.aside.program === program;
  }

  /** Whether a program can be compared with it: both are of one kernel. */
  goesWith(kernel: string, program: string): boolean {
    return this.aside?.kernel === kernel && this.aside.program !== program;
  }
}
