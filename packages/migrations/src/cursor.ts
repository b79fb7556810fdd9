/** A migration's progress; `{}` at the start. */
export type Cursor = Record<string, string | number>;
