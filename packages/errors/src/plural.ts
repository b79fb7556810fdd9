/** A number with its noun: `1 contact`, `2,000 contacts`, `0 entries`. */
export const countOf = (value: number, one: string, many = `${one}s`): string =>
  `${value.toLocaleString('en')} ${value === 1 ? one : many}`;
