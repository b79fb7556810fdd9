import { db, invalid, newId } from '@postroom/platform';

/** Creates a project; two may share a name. @throws DomainError `validation_error` for a name out of bounds. */
export async function createProject(name: string) {
  return db.project.create({ data: { id: newId('prj'), name: projectName(name) } });
}

/** Gives a project another name. @throws DomainError `validation_error`. */
export async function renameProject(id: string, name: string): Promise<void> {
  await db.project.update({ where: { id }, data: { name: projectName(name) } });
}

/** Whether opens and clicks are tracked where a campaign or message does not say; what is not given stays. */
export async function updateTracking(
  id: string,
  { opens, clicks }: { opens?: boolean | null | undefined; clicks?: boolean | null | undefined },
): Promise<void> {
  if (opens == null && clicks == null) throw invalid({ field: 'opens', message: 'or clicks must be given' });
  await db.project.update({
    where: { id },
    data: { ...(opens == null ? {} : { trackOpens: opens }), ...(clicks == null ? {} : { trackClicks: clicks }) },
  });
}

/** Bounces come back for two weeks, and reports of complaints mostly within days: so long rows are there to find. */
const MIN_MESSAGE_DAYS = 30;
const MIN_EVENT_DAYS = 1;
const MAX_RETENTION_DAYS = 3650;

/**
 * Sets how many days messages are kept after the last thing was done with them; null is as the installation has it.
 * @throws DomainError `validation_error` unless it is 30 to 3650.
 */
export async function setMessageRetention(id: string, days: number | null): Promise<void> {
  await db.project.update({ where: { id }, data: { messageRetentionDays: retention(days, MIN_MESSAGE_DAYS) } });
}

/**
 * Sets how many days events are kept, and their deliveries and attempts; null is as the installation has it. What may still be
 * delivered is kept however old it is.
 * @throws DomainError `validation_error` unless it is 1 to 3650.
 */
export async function setEventRetention(id: string, days: number | null): Promise<void> {
  await db.project.update({ where: { id }, data: { eventRetentionDays: retention(days, MIN_EVENT_DAYS) } });
}

function retention(days: number | null, least: number): number | null {
  if (days !== null && (days < least || days > MAX_RETENTION_DAYS))
    throw invalid({ field: 'days', message: `must be ${least} to ${MAX_RETENTION_DAYS}` });
  return days;
}

/** Sets the colour of pages that recipients see, or takes it away. @throws DomainError `validation_error`. */
export async function setBrandColor(id: string, color: string | null): Promise<void> {
  if (color !== null && !/^#[0-9a-f]{6}$/i.test(color))
    throw invalid({ field: 'color', message: 'must be a colour such as #1f5eff' });
  await db.project.update({ where: { id }, data: { brandColor: color?.toLowerCase() ?? null } });
}

/** A name without the space around it: 1 to 200 characters. @throws DomainError `validation_error`. */
export function projectName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '' || trimmed.length > 200) throw invalid({ field: 'name', message: 'must be 1 to 200 characters' });
  return trimmed;
}

/** The projects a key can act on, newest first (spec: Projects). */
export async function listProjects(projects: 'all' | readonly string[]) {
  const where = projects === 'all' ? {} : { id: { in: [...projects] } };
  return db.project.findMany({ where, orderBy: { id: 'desc' } });
}

export async function allProjectIds(): Promise<string[]> {
  const projects = await db.project.findMany({ select: { id: true } });
  return projects.map(({ id }) => id);
}
