/** The URL of a `/v1` download, authorized by the session. */
export function downloadUrl(
  projectId: string,
  path: string,
  query: Record<string, string | null | undefined> = {},
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] != null);
  const search = new URLSearchParams(given).toString();
  return `/app/downloads/${projectId}/${path}${search === '' ? '' : `?${search}`}`;
}
