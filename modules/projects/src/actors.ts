import { db } from '@postroom/platform';

/** What a person or an API key is called now, by its id; undefined when it is gone. Prisma gathers those of one answer into one query. */
export async function actorName(id: string): Promise<string | undefined> {
  const select = { name: true };
  const actor = id.startsWith('usr_')
    ? await db.user.findUnique({ where: { id }, select })
    : await db.apiKey.findUnique({ where: { id }, select });
  return actor?.name;
}
