/** A URL without the values of its query and its password, which may be secrets. */
export function withoutSecrets(url: string): string {
  const shown = new URL(url);
  for (const name of new Set(shown.searchParams.keys())) shown.searchParams.set(name, '…');
  if (shown.password !== '') shown.password = '…';
  return decodeURI(shown.href);
}
