import { config, databaseNow, pool, secretKeysFor } from '@postroom/platform';
import { gatewayOf, request, VOUCHER_VALID_MS } from './peers.ts';

/** What cells must have in common, and which database the gateways of one use. */
interface Facts {
  /** The ids of its secret keys, which reveal nothing about them. */
  keys: string[];
  publicUrl: string;
  /** Milliseconds since 1970. */
  at: number;
  /** Whether the mover's lock of the project is held in its database. */
  hasLock: boolean;
}

/** The lock of the process that moves a project `$1`, held by a session. */
export const MOVER_LOCK_KEY = 'hashtextextended($1, 17)';
export const TAKE_MOVER_LOCK = `SELECT pg_try_advisory_lock(${MOVER_LOCK_KEY}) AS locked`;
const HAS_MOVER_LOCK = `
  SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32 | objid::bigint) = ${MOVER_LOCK_KEY}) AS "hasLock"`;

/** What a cell asks for by this name, followed by the project's id. */
export const FACTS = 'facts';

/** The facts of this cell, for the mover of a project. */
export async function factsFor(projectId: string): Promise<Facts> {
  const { rows } = await pool.query<Pick<Facts, 'hasLock'>>(HAS_MOVER_LOCK, [projectId]);
  return {
    keys: secretKeysFor('which cells share')
      .map(({ id }) => id)
      .toSorted(),
    publicUrl: config.PUBLIC_URL,
    at: databaseNow(),
    hasLock: rows[0]?.hasLock === true,
  };
}

/**
 * Why a project can't be moved between two cells, according to their gateways; undefined if it can. The caller holds the mover's lock in the
 * two databases, which shows the gateways whether these are theirs.
 */
export async function disagreement(from: string, to: string, projectId: string): Promise<string | undefined> {
  const answers = await Promise.all([from, to].map((cell) => askForFacts(cell, projectId)));
  const problem = answers.find((answer) => typeof answer === 'string');
  if (problem !== undefined) return problem;
  const [ours, theirs] = answers as [Facts, Facts];
  if (!ours.hasLock)
    return `The gateways of ${from} use another database than this command: run it with their DATABASE_URL.`;
  if (!theirs.hasLock) return `TARGET_DATABASE_URL is not the database that the gateways of ${to} use.`;
  if (ours.keys.join(' ') !== theirs.keys.join(' '))
    return `The secret keys of the cells differ: ${from} has ${ours.keys.join(', ')}, and ${to} has ${theirs.keys.join(', ')}. Give both the same POSTROOM_SECRET_KEY and POSTROOM_SECRET_KEY_PREVIOUS, or secrets of the project could not be read.`;
  if (ours.publicUrl !== theirs.publicUrl)
    return `PUBLIC_URL is ${ours.publicUrl} in ${from} and ${theirs.publicUrl} in ${to}: it must be the same.`;
  if (Math.abs(ours.at - theirs.at) >= VOUCHER_VALID_MS)
    return `The clocks of ${from} and ${to} differ by ${Math.round(Math.abs(ours.at - theirs.at) / 1000)} seconds: correct them.`;
  return undefined;
}

/** @returns the facts, or why there are none. */
async function askForFacts(cell: string, projectId: string): Promise<Facts | string> {
  const where = `The gateways of ${cell} at ${gatewayOf(cell)}`;
  try {
    const response = await request(cell, `${FACTS}/${projectId}`);
    if (response.ok) return (await response.json()) as Facts;
    if (response.status === 403)
      return `${where} do not accept the signature of this command: they have another POSTROOM_SECRET_KEY, or one of the clocks is wrong.`;
    return `${where} answer ${response.status}. Run the same release with CELL_GATEWAYS in all cells.`;
  } catch (error) {
    return `${where} cannot be reached: ${error instanceof Error ? error.message : String(error)}`;
  }
}
