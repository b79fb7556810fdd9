import {
  conflictIfTaken,
  db,
  defineIdPrefix,
  DomainError,
  isId,
  newId,
  notFound,
  type Prisma,
  checkDisplayName,
  checkJsonObject,
  checkLimit,
} from '@postroom/platform';

export type ContactView = Prisma.ContactViewModel;

export const VIEW_ID = defineIdPrefix('cvw', 'saved view');

/** Maximum number of views that a user saves in a project. */
const MAX_VIEWS = 50;
/** Maximum length of a view's search parameters as JSON, in characters. */
const MAX_SEARCH_LENGTH = 8_000;

/** The user's views of the project's contacts, by name. */
export const listViews = (projectId: string, userId: string): Promise<ContactView[]> =>
  db.contactView.findMany({ where: { projectId, userId }, orderBy: [{ name: 'asc' }, { id: 'asc' }] });

/**
 * Saves the search parameters of the contact list under a name. They are the list's own, so they are not interpreted.
 * @throws DomainError `validation_error`; `conflict` when the user has a view of that name, or too many.
 */
export async function createView(
  projectId: string,
  userId: string,
  input: { name: string; search?: unknown },
): Promise<ContactView> {
  if (!userId.startsWith('usr_')) throw new DomainError('forbidden', 'Views belong to users. Sign in to save one.');
  const name = checkDisplayName(input.name);
  const search = checkJsonObject('search', input.search, MAX_SEARCH_LENGTH) as Prisma.InputJsonObject;
  return db.$transaction(async (tx) => {
    const created = await tx.contactView
      .create({ data: { id: newId(VIEW_ID), projectId, userId, name, search } })
      .catch(conflictIfTaken('name', `A view named "${name}" already exists.`));
    const limit = { of: `${projectId} ${userId}`, rows: 'views in a project', max: MAX_VIEWS, whose: 'A user' };
    await checkLimit(tx, limit, () => tx.contactView.count({ where: { projectId, userId } }));
    return created;
  });
}

/** Deletes a view of the user. */
export async function deleteView(projectId: string, userId: string, id: string): Promise<void> {
  const { count } = isId(VIEW_ID, id)
    ? await db.contactView.deleteMany({ where: { id, projectId, userId } })
    : { count: 0 };
  if (count === 0) throw notFound('saved view');
}
