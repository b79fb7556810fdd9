import { type Definition } from '@postroom/journey-definition';
import { LRUCache } from 'lru-cache';
import { countUpTo, invalid, MAX_TOTAL, type Page, type PageArgs, pool, sql, type Tx } from '@postroom/platform';
import { getJourney } from './journeys.ts';
import { numberedPage } from './numbered-page.ts';

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

/** A definition that contacts entered, or enter. */
export interface JourneyVersion {
  number: number;
  definition: Definition;
  publishedById: string;
  publishedAt: Date;
}

/**
 * The published versions of a journey, or the one of this number, the newest first.
 * @throws DomainError `not_found`, `validation_error` for a number without a version, a page size out of range or an invalid cursor.
 */
export async function listVersions(
  projectId: string,
  id: string,
  { number = null, ...page }: PageArgs & { number?: number | null | undefined },
): Promise<Page<JourneyVersion>> {
  const { publishedVersion } = await getJourney(projectId, id);
  if (number !== null && !(number >= 1 && number <= (publishedVersion ?? 0)))
    throw invalid({ field: 'number', message: 'is not a published version' });
  const matching = 'FROM journey_versions WHERE journey_id = $1 AND ($2::int IS NULL OR number = $2)';
  return numberedPage(page, {
    numberOf: (version) => version.number,
    read: (before, limit) =>
      sql<JourneyVersion>(
        pool,
        `SELECT number, definition, published_by_id AS "publishedById", published_at AS "publishedAt" ${matching}
           AND ($3::int IS NULL OR number < $3) ORDER BY number DESC LIMIT $4`,
        [id, number, before, limit],
      ),
    totalCount: () => countUpTo(MAX_TOTAL, `SELECT ${matching}`, [id, number]),
  });
}
