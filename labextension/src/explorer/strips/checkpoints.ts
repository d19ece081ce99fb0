/**
 * The strip that tells what is kept for the way back: in one line, opened for the lines of Python that cause it, and for
 * what `jax.checkpoint` would keep and compute again with each of its policies, as a switch that colours the picture.
 */
import type { CheckpointPolicy, Document, Residuals } from '../../document/graph.ts';
import { programName, programOf } from '../../document/programs.ts';
import { AS_IT_IS, checkpointKey } from '../../view/checkpoints.ts';
import { flopsText } from '../../view/measures.ts';
import { ownSpot } from '../../view/spots.ts';
import { bytesText, numberText } from '../../view/words.ts';
import { copied } from '../copied.ts';
import { button, element } from '../elements.ts';
import { fold } from './fold.ts';

export interface CheckpointActions {
  /** Shows nodes of a graph. */
  show(graph: number, nodes: readonly number[]): void;
  /** Colours the picture; by the kinds of operations where the key is empty. */
  colour(key: string): void;
}

/** So many lines of the source are listed, those that cause most. */
const LISTED = 6;

export class CheckpointStrip {
  readonly root = element('section', 'jv-checkpoints');
  private readonly switches = new Map<HTMLElement, string>();

  constructor(
    private readonly source: Document,
    private readonly actions: CheckpointActions
  ) {
    const residuals = source.residuals.filter(({ node }) => node.length > 0);
    this.root.hidden = residuals.length === 0;
    this.root.setAttribute('aria-label', 'kept for the backward pass');
    this.root.append(...residuals.map(one => this.program(one)));
  }

  /** Marks the policy that the picture is coloured by now. */
  mark(key: string): void {
    this.switches.forEach((own, row) => row.setAttribute('aria-pressed', String(own === key)));
  }

  private program(residuals: Residuals): HTMLElement {
    const { node, size, order, policies } = residuals;
    const whole = sum(size);
    const second = sum(size.filter((_, row) => order[row] > 1));
    const many = `${numberText(node.length)} value${node.length === 1 ? '' : 's'}`;
    const words = `${this.whose(residuals.graph)}kept for the backward pass: ${many}, ${bytesText(whole)}`;
    const { parts, head, more } = fold(words, 'Which lines cause it, and what jax.checkpoint would keep');
    if (second > 0) {
      more.append(
        element(
          'p',
          'jv-memory-words',
          `${bytesText(second)} of it for the second backward pass: the derivative of a derivative`
        )
      );
    }
    more.append(this.lines(residuals, whole));
    if (policies.length) {
      more.append(
        element(
          'p',
          'jv-memory-words',
          'jax.checkpoint around all of the forward pass would keep less, and compute again:'
        )
      );
      const choice = element('div', 'jv-run-lines jv-checkpoints-choice');
      const code = element('div', 'jv-checkpoints-code');
      choice.setAttribute('role', 'group');
      choice.setAttribute('aria-label', 'policies of jax.checkpoint');
      const most = Math.max(1, whole, ...policies.map(({ bytes }) => bytes));
      choice.append(...policies.map(policy => this.policy(policy, whole, most, code)));
      more.append(choice, code);
    }
    head.append(button('jv-link', 'show', 'Show what is kept', () => this.actions.show(residuals.graph, node)));
    const part = element('div', 'jv-checkpoints-program');
    part.append(...parts);
    return part;
  }

  /** The name of the program, where there are several. */
  private whose(graph: number): string {
    const { source } = this;
    return source.programs.length > 1 ? `${programName(source, programOf(source, graph))}: ` : '';
  }

  /** The lines of Python that cause most of it. */
  private lines({ graph: at, node, size }: Residuals, whole: number): HTMLElement {
    const graph = this.source.graphs[at];
    const found = new Map<string, { text: string; bytes: number; nodes: number[] }>();
    node.forEach((one, row) => {
      const spot = ownSpot(this.source, graph.stack[one]);
      const key = spot ? `${spot.file}:${spot.line}` : '';
      const line = found.get(key) ?? {
        text: spot ? this.text(spot.file, spot.line) : 'elsewhere',
        bytes: 0,
        nodes: []
      };
      line.bytes += size[row];
      line.nodes.push(one);
      found.set(key, line);
    });
    const lines = [...found.values()].sort((a, b) => b.bytes - a.bytes);
    const table = element('div', 'jv-run-lines');
    for (const { text, bytes, nodes } of lines.slice(0, LISTED)) {
      const count = nodes.length === 1 ? '1 value' : `${numberText(nodes.length)} values`;
      const row = button('jv-run-line', '', `Show ${text}`, () => this.actions.show(at, nodes));
      row.replaceChildren(...cells(text, bytes / Math.max(1, whole), bytesText(bytes), count));
      table.append(row);
    }
    if (lines.length > LISTED) {
      const rest = sum(lines.slice(LISTED).map(({ bytes }) => bytes));
      table.append(element('div', 'jv-memory-words', `and ${lines.length - LISTED} more lines, ${bytesText(rest)}`));
    }
    return table;
  }

  private text(file: number, line: number): string {
    const { files, strings } = this.source;
    const text = strings[files.text[file]].split('\n')[line - files.start[file]] ?? '';
    return `${line}  ${text.trim()}`;
  }

  /** One policy: pressed, the picture shows it; pressed again, it does not. */
  private policy(policy: CheckpointPolicy, whole: number, most: number, code: HTMLElement): HTMLElement {
    const { name, bytes, equations, flops, host } = policy;
    // In loops even a checkpoint that saves everything keeps less: what one turn hands to the next is kept once.
    const asItIs = name === AS_IT_IS && bytes >= whole;
    const key = checkpointKey(policy);
    const again = equations ? `${numberText(equations)} again${flops ? `, ${flopsText(flops)}` : ''}` : 'nothing again';
    const row = button('jv-run-line', '', `${name}: ${bytesText(bytes)} kept, ${again}`, () => {
      const on = row.getAttribute('aria-pressed') === 'true';
      this.actions.colour(on ? '' : key);
      this.mark(on ? '' : key);
      code.replaceChildren(...(on || asItIs ? [] : copied('To have it, write ', codeOf(name))));
    });
    const note = host ? `${again}; ${bytesText(host)} to the host` : again;
    row.replaceChildren(...cells(asItIs ? 'as it is' : name, bytes / most, bytesText(bytes), note));
    row.setAttribute('aria-pressed', 'false');
    this.switches.set(row, key);
    return row;
  }
}

/** How a policy is written. */
function codeOf(name: string): string {
  const policy = name.startsWith('offload') ? `${name}('device', 'pinned_host')` : name;
  return `jax.checkpoint(f, policy=jax.checkpoint_policies.${policy})`;
}

function cells(text: string, share: number, amount: string, note: string): HTMLElement[] {
  const filled = element('span', 'jv-run-bar');
  filled.style.width = `${share > 0 ? Math.max(1, 100 * share) : 0}%`;
  const track = element('span', 'jv-run-track');
  track.append(filled);
  return [
    element('code', '', text),
    track,
    element('span', 'jv-run-time', amount),
    element('span', 'jv-run-share', note)
  ];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
