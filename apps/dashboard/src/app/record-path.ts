/** Pages by id prefix. */
const PAGES: Record<string, string> = {
  abt: 'ab-tests',
  bkt: 'backtests',
  ced: 'events',
  cmp: 'campaigns',
  ctc: 'contacts',
  eml: 'emails',
  enr: 'enrollments',
  frm: 'forms',
  grp: 'groups',
  imp: 'imports',
  jrn: 'journeys',
  seg: 'segments',
  tpl: 'templates',
  whe: 'webhooks',
};

/** Pages that show many records, by id prefix. */
const LISTS: Record<string, string> = {
  blk: 'contacts',
  cvw: 'contacts',
  dlv: 'webhooks',
  dom: 'domains',
  fld: 'fields',
  inv: 'members',
  key: 'keys',
  mbx: 'mailboxes',
  prj: 'settings',
  prv: 'sending',
  sup: 'suppressions',
  usr: 'members',
};

/** The path of the page that shows a record among others, or by itself; undefined if there is none. */
export function pathOf(projectId: string, id: string): string | undefined {
  const list = LISTS[id.slice(0, id.indexOf('_'))];
  return list === undefined ? recordPath(projectId, id) : `/p/${projectId}/${list}`;
}

/** The path of the page that shows a record; undefined if there is none. The page says so if the record is deleted. */
export function recordPath(projectId: string, id: string): string | undefined {
  const page = PAGES[id.slice(0, id.indexOf('_'))];
  return page === undefined ? undefined : `/p/${projectId}/${page}/${id}`;
}
