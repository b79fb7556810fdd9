/** Pages by id prefix. */
const PAGES: Record<string, string> = {
  cmp: 'campaigns',
  ctc: 'contacts',
  eml: 'emails',
  grp: 'groups',
  imp: 'imports',
  seg: 'segments',
  tpl: 'templates',
  whe: 'webhooks',
};

/** The path of the page that shows a record; undefined if there is none. The page says so if the record is deleted. */
export function recordPath(projectId: string, id: string): string | undefined {
  const page = PAGES[id.slice(0, id.indexOf('_'))];
  return page === undefined ? undefined : `/p/${projectId}/${page}/${id}`;
}
