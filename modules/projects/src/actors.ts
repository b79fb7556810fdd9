import { db } from '@postroom/platform';

/**
 * What a person or an API key is called now, by its id; undefined when it is gone, null when nobody wrote down who it was.
 * Prisma gathers those of one answer into one query.
 */
export async function actorName(id: string | null): Promise<string | undefined | null> {
  if (id === null) return null;
  const select = { name: true };
  const actor = id.startsWith('usr_')
    ? await db.user.findUnique({ where: { id }, select })
    : await db.apiKey.findUnique({ where: { id }, select });
  return actor?.name;
}

/** The options of the GraphQL fields `editedById` and `editedByName`, which are the same whatever it was that was edited. */
export const EDITED_BY = {
  id: { nullable: true, description: 'Who edited it last, `usr_…` or `key_…`; null if unknown.' },
  name: {
    nullable: true,
    description: 'What the person or the key is called now; null when they are gone.',
    resolve: ({ editedById }: { editedById: string | null }) => actorName(editedById),
  },
} as const;
