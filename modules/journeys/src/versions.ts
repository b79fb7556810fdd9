import { type Definition } from '@postroom/journey-definition';
import { LRUCache } from 'lru-cache';
import { pool, sql, type Tx } from '@postroom/platform';

/** Published definitions, which never change. */
const definitions = new LRUCache<string, Definition>({ max: 500 });

/** The definition of a published version. @throws Error if there is none. */
export async function definitionOf(tx: Tx, journeyId: string, number: number): Promise<Definition> {
  const key = `${journeyId} ${number}`;
  const known = definitions.get(key);
  if (known !== undefined) return known;
  const [found] = await sql<{ definition: Definition }>(
    tx,
    'SELECT definition FROM journey_versions WHERE journey_id = $1 AND number = $2',
    [journeyId, number],
  );
  if (found === undefined) throw new Error(`The journey ${journeyId} has no version ${number}.`);
  definitions.set(key, found.definition);
  return found.definition;
}

/** The definitions that contacts enter, by journey. Journeys that were never published have none. */
export async function publishedDefinitions(journeyIds: readonly string[]): Promise<Map<string, Definition>> {
  const { rows } = await pool.query<{ id: string; definition: Definition }>(
    `SELECT j.id, v.definition FROM journeys j JOIN journey_versions v ON v.journey_id = j.id AND v.number = j.published_version
     WHERE j.id = ANY ($1)`,
    [journeyIds],
  );
  return new Map(rows.map(({ id, definition }) => [id, definition]));
}
