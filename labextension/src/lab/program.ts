/** A program of a kernel, as `Entry.summary` gives it; its document is asked for when it is wanted. */
export interface Program {
  readonly id: string;
  readonly origin: 'explored' | 'watched' | 'recorded' | 'compiled';
  readonly function: string;
  /** What specializations of one function have in common. */
  readonly group: string;
  readonly defined: string;
  readonly call: string;
  readonly signature: string;
  /** Seconds since 1970. */
  readonly when: number;
  readonly seconds: Readonly<Record<string, number>>;
  readonly kinds: readonly string[];
  readonly why: string;
  readonly remedy: string;
  readonly place: string;
  readonly label: string;
  readonly pinned: boolean;
  /** Whether it could not be traced; not told by an earlier jaxviz. */
  readonly failed?: boolean;
}
