/** The name and its ancestors except the root: `['mail.example.com', 'example.com', 'com']`. */
export function ancestors(name: string): string[] {
  const labels = name.split('.');
  return labels.map((_, index) => labels.slice(index).join('.'));
}

/** Whether a name is a domain or below it. */
export function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}
