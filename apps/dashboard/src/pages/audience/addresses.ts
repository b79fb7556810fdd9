/** The addresses in a text that people pasted: separated by lines, spaces, commas or semicolons. */
export function addressesIn(text: string): string[] {
  return [...new Set(text.split(/[\s,;<>]+/).filter((word) => word.includes('@')))];
}
