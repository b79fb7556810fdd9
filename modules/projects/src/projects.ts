import { checkDisplayName, coalesceReads, config, db, invalid, newId, pool, type Prisma } from '@postroom/platform';

/** Creates a project; names need not be unique. @throws DomainError `validation_error` for an invalid name. */
export async function createProject(name: string, tx: Prisma.TransactionClient = db) {
  return tx.project.create({ data: { id: newId('prj'), name: checkDisplayName(name) } });
}

/** In a transaction, which also records the change in the audit log. */
const update = (id: string, data: Prisma.ProjectUpdateInput) =>
  db.$transaction((tx) => tx.project.update({ where: { id }, data }));

/** Renames a project. @throws DomainError `validation_error`. */
export async function renameProject(id: string, name: string): Promise<void> {
  await update(id, { name: checkDisplayName(name) });
}

/** Sets the tracking defaults of campaigns and messages; omitted values stay. */
export async function updateTracking(
  id: string,
  { opens, clicks }: { opens?: boolean | null | undefined; clicks?: boolean | null | undefined },
): Promise<void> {
  if (opens == null && clicks == null)
    throw invalid({ field: 'opens', message: 'is required, unless clicks is given' });
  await update(id, {
    ...(opens == null ? {} : { trackOpens: opens }),
    ...(clicks == null ? {} : { trackClicks: clicks }),
  });
}

/** Minimum retention: bounces arrive for up to two weeks, and complaints mostly within days. */
const MIN_MESSAGE_DAYS = 30;
const MIN_EVENT_DAYS = 1;
/** Custom events may be this late. */
const MIN_CUSTOM_EVENT_DAYS = 30;
const MAX_RETENTION_DAYS = 3650;

/**
 * Sets message retention in days after a message's last change; null uses the installation's setting.
 * @throws DomainError `validation_error` unless it is 30 to 3650.
 */
export async function setMessageRetention(id: string, days: number | null): Promise<void> {
  await update(id, { messageRetentionDays: checkRetention(days, MIN_MESSAGE_DAYS) });
}

/**
 * Sets the retention of events, deliveries and attempts in days; null uses the installation's setting. Deliveries
 * that are still pending are always kept.
 * @throws DomainError `validation_error` unless it is 1 to 3650.
 */
export async function setEventRetention(id: string, days: number | null): Promise<void> {
  await update(id, { eventRetentionDays: checkRetention(days, MIN_EVENT_DAYS) });
}

/**
 * Sets the retention of custom events in days after they occurred; null uses the installation's setting.
 * @throws DomainError `validation_error` unless it is 30 to 3650.
 */
export async function setCustomEventRetention(id: string, days: number | null): Promise<void> {
  await update(id, { customEventRetentionDays: checkRetention(days, MIN_CUSTOM_EVENT_DAYS) });
}

/** How many days a project keeps custom events. */
export async function customEventRetention(projectId: string): Promise<number> {
  const { rows } = await pool.query<{ days: number }>(
    'SELECT coalesce(custom_event_retention_days, $2) AS days FROM projects WHERE id = $1',
    [projectId, config.CUSTOM_EVENT_RETENTION_DAYS],
  );
  return rows[0]?.days ?? config.CUSTOM_EVENT_RETENTION_DAYS;
}

/** How many days each project keeps custom events. */
export async function customEventRetentions(
  days = config.CUSTOM_EVENT_RETENTION_DAYS,
): Promise<{ projectId: string; days: number }[]> {
  const { rows } = await pool.query<{ projectId: string; days: number }>(
    'SELECT id AS "projectId", coalesce(custom_event_retention_days, $1) AS days FROM projects ORDER BY id',
    [days],
  );
  return rows;
}

function checkRetention(days: number | null, min: number): number | null {
  if (days !== null && (days < min || days > MAX_RETENTION_DAYS))
    throw invalid({ field: 'days', message: `must be between ${min} and ${MAX_RETENTION_DAYS}` });
  return days;
}

/** Sets or clears the color of recipient-facing pages. @throws DomainError `validation_error`. */
export async function setBrandColor(id: string, color: string | null): Promise<void> {
  if (color !== null && !/^#[0-9a-f]{6}$/i.test(color))
    throw invalid({ field: 'color', message: 'must be # and six hexadecimal digits, such as #1f5eff' });
  await update(id, { brandColor: color?.toLowerCase() ?? null });
}

/** The postal address has about ten lines at most. */
export const MAX_POSTAL_ADDRESS_LENGTH = 500;

/** Sets or clears the postal address in the footer of campaigns; it may have several lines. @throws DomainError `validation_error`. */
export async function setPostalAddress(id: string, address: string | null): Promise<void> {
  const lines = (address ?? '').split(/\r?\n/).map((line) => line.trim());
  const written = lines.filter((line) => line !== '').join('\n');
  if (written.length > MAX_POSTAL_ADDRESS_LENGTH)
    throw invalid({ field: 'address', message: `must be at most ${MAX_POSTAL_ADDRESS_LENGTH} characters` });
  // oxlint-disable-next-line no-control-regex -- they have no place in an address
  if (/[\u0000-\u0009\u000b-\u001f\u007f]/.test(written))
    throw invalid({ field: 'address', message: 'must not contain control characters' });
  await update(id, { postalAddress: written === '' ? null : written });
}

/** The project's postal address on one line, as mail shows it; null if it has none. */
export const postalAddressOf = async (id: string): Promise<string | null> => (await readPostalAddresses(id)) ?? null;

const readPostalAddresses = coalesceReads<string>(async (ids) => {
  const { rows } = await pool.query<{ id: string; address: string }>({
    name: 'projects-postal-addresses',
    text: 'SELECT id, postal_address AS address FROM projects WHERE id = ANY ($1) AND postal_address IS NOT NULL',
    values: [ids],
  });
  return new Map(rows.map(({ id, address }) => [id, address.replace(/,?\n/g, ', ')]));
});

/** The projects a key can act on, newest first (spec: Projects). */
export async function listProjects(projects: 'all' | readonly string[]) {
  const where = projects === 'all' ? {} : { id: { in: [...projects] } };
  return db.project.findMany({ where, orderBy: { id: 'desc' } });
}

export async function allProjectIds(): Promise<string[]> {
  const projects = await db.project.findMany({ select: { id: true } });
  return projects.map(({ id }) => id);
}
