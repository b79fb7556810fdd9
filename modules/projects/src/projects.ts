import { db, invalid, newId } from '@postroom/platform';

/** Creates a project. A name is 1 to 200 characters; two projects may share one. */
export async function createProject(name: string) {
  const trimmed = name.trim();
  if (trimmed === '' || trimmed.length > 200) throw invalid({ field: 'name', message: 'must be 1 to 200 characters' });
  return db.project.create({ data: { id: newId('prj'), name: trimmed } });
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
