/** `['mail.example.com', 'example.com', 'com']`: the name, and everything above it but the root. */
export function ancestors(name: string): string[] {
  const labels = name.split('.');
  return labels.map((_, index) => labels.slice(index).join('.'));
}

/** Whether a name is that domain or below it. */
export function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}
