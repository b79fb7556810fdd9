import { db, atMost, MAX_NAME_LENGTH } from '@postroom/platform';

/**
 * The current name of a user or API key by id; undefined if deleted, null if no actor was recorded. Prisma batches
 * the lookups of one response into one query.
 */
export async function actorName(id: string | null): Promise<string | undefined | null> {
  if (id === null) return null;
  const select = { name: true };
  const actor = id.startsWith('usr_')
    ? await db.user.findUnique({ where: { id }, select })
    : await db.apiKey.findUnique({ where: { id }, select });
  return actor?.name;
}

/** Options shared by the GraphQL fields `editedById` and `editedByName`. */
export const EDITED_BY = {
  id: { nullable: true, description: 'Who edited it last, `usr_…` or `key_…`; null if unknown.' },
  name: {
    nullable: true,
    description: 'What the person or the key is called now; null when they are gone.',
    ...atMost(MAX_NAME_LENGTH),
    resolve: ({ editedById }: { editedById: string | null }) => actorName(editedById),
  },
} as const;
