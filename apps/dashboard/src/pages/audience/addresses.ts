/** Splits pasted text into addresses at line breaks, spaces, commas or semicolons. */
export function addressesIn(text: string): string[] {
  return [...new Set(text.split(/[\s,;<>]+/).filter((word) => word.includes('@')))];
}
