/** The bar of the program that is shown: for another program it is made anew, and stands as the one before. */
import { makeBar, type Bar, type BarParts } from './bar.ts';

type State = 'setBeside' | 'setSource' | 'setExpanded' | 'setWorking';

export class ProgramBar {
  private bar: Bar;
  private program = 0;
  private readonly state = new Map<State, boolean>();

  constructor(private readonly parts: Omit<BarParts, 'program'>) {
    this.bar = makeBar({ ...parts, program: 0 });
  }

  get root(): HTMLElement {
    return this.bar.root;
  }

  show(program: number): void {
    if (program !== this.program) {
      this.program = program;
      const before = this.bar;
      this.bar = makeBar({ ...this.parts, program });
      before.root.replaceWith(this.bar.root);
      this.state.forEach((on, name) => this.bar[name](on));
    }
  }

  setRegions(any: boolean): void {
    this.bar.setRegions(any);
  }

  setStage(index: number): void {
    this.bar.setStage(index);
  }

  setKernels(shown: boolean): void {
    this.bar.setKernels(shown);
  }

  setBeside(shown: boolean): void {
    this.set('setBeside', shown);
  }

  setSource(shown: boolean): void {
    this.set('setSource', shown);
  }

  setExpanded(expanded: boolean): void {
    this.set('setExpanded', expanded);
  }

  setWorking(busy: boolean): void {
    this.set('setWorking', busy);
  }

  private set(name: State, on: boolean): void {
    this.state.set(name, on);
    this.bar[name](on);
  }
}
