/**
 * Where a text stops being JSON, and what should stand there. Each browser has words of its own for it, and few say the
 * line; a file may also be too deep for a parser that calls itself.
 */

export interface JsonFault {
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
  /** What should stand there, and what stands there instead. */
  readonly words: string;
}

/** What may come next: a value, the end of an empty list or object instead, or what is between values. */
type Next = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'more';
type Closing = ']' | '}';

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[\w.+-]+|[^]/uy;
/** What ends a text in quotes, or may not stand in it as it is. */
// eslint-disable-next-line no-control-regex
const IN_QUOTES = /["\\\u0000-\u001f]/g;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
/** Characters of what was found that are told. */
const MOST_FOUND = 24;

/** The first fault of a text; null where it is JSON. */
export function jsonFault(text: string): JsonFault | null {
  const fault = new Scan(text).fault();
  return fault && { ...positionOf(text, fault.at), words: fault.words };
}

function positionOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at);
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n') };
}

interface Fault {
  readonly at: number;
  readonly words: string;
}

class Scan {
  private at = 0;
  /** What closes the lists and objects that are open, the outermost first. */
  private readonly open: Closing[] = [];
  private next: Next = 'value';

  constructor(private readonly text: string) {}

  fault(): Fault | null {
    for (;;) {
      this.take(SPACE);
      if (this.next === 'more' && !this.open.length) {
        return this.at < this.text.length ? this.expected('the end of the file') : null;
      }
      const fault = this.step();
      if (fault) {
        return fault;
      }
    }
  }

  /** Goes past one thing; gives the fault where it is not what may come next. */
  private step(): Fault | null {
    const { text, next, open } = this;
    const closing = open[open.length - 1];
    const character = text[this.at];
    if (character === closing && (next === 'more' || next.startsWith('first'))) {
      open.pop();
      return this.go('more');
    }
    switch (next) {
      case 'more':
        return character === ',' ? this.go(closing === '}' ? 'name' : 'value') : this.expected(`a comma or ${closing}`);
      case 'colon':
        return character === ':' ? this.go('value') : this.expected('a colon');
      case 'name':
      case 'first name':
        return character === '"' ? this.quoted('colon') : this.expected(`a name in quotes${this.orClosing()}`);
      default:
        return this.value(character);
    }
  }

  private value(character: string | undefined): Fault | null {
    if (character === '{' || character === '[') {
      this.open.push(character === '{' ? '}' : ']');
      return this.go(character === '{' ? 'first name' : 'first value');
    }
    if (character === '"') {
      return this.quoted('more');
    }
    if (this.take(SCALAR)) {
      this.next = 'more';
      return null;
    }
    return this.expected(this.open.length ? `a value${this.orClosing()}` : 'a jaxviz document');
  }

  /** Goes past a text in quotes. */
  private quoted(then: Next): Fault | null {
    const { text, at: begin } = this;
    for (this.at++; ;) {
      IN_QUOTES.lastIndex = this.at;
      const found = IN_QUOTES.exec(text);
      this.at = found?.index ?? text.length;
      if (found?.[0] === '"') {
        return this.go(then);
      }
      if (found?.[0] !== '\\') {
        const { line, column } = positionOf(text, begin);
        return this.expected(`the quote that ends the text begun at line ${line}, column ${column}`);
      }
      if (!this.take(ESCAPE)) {
        return this.expected('\\ and what it stands for');
      }
    }
  }

  /** Past one character. */
  private go(next: Next): null {
    this.at++;
    this.next = next;
    return null;
  }

  private take(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.text) ?? [''];
    this.at += found.length;
    return found !== '';
  }

  private orClosing(): string {
    return this.next.startsWith('first') ? ` or ${this.open[this.open.length - 1]}` : '';
  }

  private expected(what: string): Fault {
    return { at: this.at, words: `expected ${what}, but ${this.found()}` };
  }

  private found(): string {
    const { text, at } = this;
    if (at >= text.length) {
      return text.trim() ? 'the file ends there' : 'the file is empty';
    }
    if (text[at] === '\n' || text[at] === '\r') {
      return 'the line ends there';
    }
    WORD.lastIndex = at;
    const [word] = WORD.exec(text) ?? [''];
    return `found ${word.length > MOST_FOUND ? `${word.slice(0, MOST_FOUND)}…` : word}`;
  }
}
