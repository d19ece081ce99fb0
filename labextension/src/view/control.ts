/** Operations that turn round or choose, by any of the names that the stages have for them. */
export const LOOPS: ReadonlySet<string> = new Set(['scan', 'while']);
export const CONDITIONS: ReadonlySet<string> = new Set(['cond', 'conditional', 'case', 'if']);
