import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { diff as diffLines } from 'node:util';
import { countOf } from '@postroom/errors';
import { type Journey, type Postroom, PostroomError } from '../../sdk/typescript/src/index.ts';
import { fileNames, FileProblems, fileText, type JourneyFile, readFolder, writeJourney } from './files.ts';

type Say = (line: string) => void;

const byName = async (postroom: Postroom): Promise<Map<string, Journey>> =>
  new Map((await postroom.journeys.list({ limit: 100 }).toArray()).map((journey) => [journey.name, journey]));

/** Writes each journey to its file: the one with its name, or a new one. Leaves files that are up to date untouched. */
export async function pull(
  postroom: Postroom,
  folder: string,
  { prune, say }: { prune: boolean; say: Say },
): Promise<void> {
  const journeys = await byName(postroom);
  const files = existsSync(folder) ? readFolder(folder) : new Map<string, JourneyFile>();
  const fileOf = new Map([...files].map(([file, { name }]) => [name, file]));
  const added = fileNames([...journeys.keys()].filter((name) => !fileOf.has(name)).toSorted(), new Set(files.keys()));
  for (const [name, file] of [...fileOf, ...added]) {
    const journey = journeys.get(name);
    const before = files.get(file);
    if (journey === undefined) {
      if (prune) rmSync(join(folder, file));
      say(prune ? `${file}: deleted, the project has no "${name}"` : `${file}: kept, the project has no "${name}"`);
    } else if (before === undefined || fileText(before) !== fileText(journey)) {
      writeJourney(folder, file, journey);
      say(`${file}: ${before === undefined ? 'created' : 'updated'}`);
    }
  }
  say(`${countOf(journeys.size, 'journey')} in ${folder}`);
}

/** Prints the differences between the files and the drafts, as lines that a push removes and adds. @returns whether there are any. */
export async function diff(postroom: Postroom, folder: string, { say }: { say: Say }): Promise<boolean> {
  const files = readFolder(folder);
  const journeys = await byName(postroom);
  let differs = false;
  for (const [file, journey] of files) {
    const theirs = journeys.get(journey.name);
    journeys.delete(journey.name);
    const lines = theirs === undefined ? [] : changedLines(fileText(theirs), fileText(journey));
    if (theirs !== undefined && lines.length === 0) continue;
    differs = true;
    say(theirs === undefined ? `${file}: not in the project` : `${file}: differs from the draft\n${lines.join('\n')}`);
  }
  for (const name of [...journeys.keys()].toSorted()) say(`no file: the project has "${name}"`);
  return differs || journeys.size > 0;
}

/** Unchanged lines around a change. */
const CONTEXT = 2;

function changedLines(theirs: string, ours: string): string[] {
  // `util.diff` lists what it adds to its first argument as 1.
  const changes = diffLines(ours.trimEnd().split('\n'), theirs.trimEnd().split('\n'));
  const isNear = (at: number) =>
    changes.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(([kind]) => kind !== 0);
  if (changes.every(([kind]) => kind === 0)) return [];
  return changes.flatMap(([kind, line], at) => {
    if (isNear(at)) return [`  ${kind === 0 ? ' ' : kind === 1 ? '+' : '-'} ${line}`];
    return isNear(at - 1) ? ['  …'] : [];
  });
}

interface PushOptions {
  /** What happens to contacts in progress; undefined saves drafts without publishing them. */
  inProgress: 'finish' | 'move' | 'exit' | undefined;
  say: Say;
}

/**
 * Saves each file as the draft of its journey, creates those that the project lacks, and publishes what is not published. Nothing is
 * saved if a file is wrong, and nothing published if a draft has problems.
 * @throws FileProblems
 */
export async function push(postroom: Postroom, folder: string, { inProgress, say }: PushOptions): Promise<void> {
  const files = readFolder(folder);
  const journeys = await byName(postroom);
  const saved = new Map<string, Journey>();
  const errors: string[] = [];
  for (const [file, journey] of files) {
    try {
      const theirs = journeys.get(journey.name);
      const isCurrent = theirs !== undefined && fileText(theirs) === fileText(journey);
      saved.set(file, isCurrent ? theirs : await save(postroom, journey, theirs));
      say(`${file}: ${isCurrent ? 'no changes' : theirs === undefined ? 'created' : 'updated'}`);
    } catch (error) {
      errors.push(linesOf(file, error));
    }
  }
  const problems = await problemsOf(postroom, saved);
  if (inProgress === undefined) for (const problem of problems) say(problem);
  else errors.push(...problems);
  if (errors.length > 0)
    throw new FileProblems([...errors, ...(inProgress === undefined ? [] : ['Nothing was published.'])]);
  if (inProgress !== undefined) await publish(postroom, saved, { inProgress, say });
}

function save(postroom: Postroom, { name, definition }: JourneyFile, theirs: Journey | undefined): Promise<Journey> {
  if (theirs === undefined) return postroom.journeys.create({ name, definition });
  return postroom.journeys.update(theirs.id, { definition, version: theirs.version });
}

/** What keeps the drafts from being published. Drafts may be incomplete. */
async function problemsOf(postroom: Postroom, saved: ReadonlyMap<string, Journey>): Promise<string[]> {
  const lines: string[] = [];
  for (const [file, { id }] of saved) {
    const { problems } = await postroom.journeys.get(id);
    for (const { field, message, stepId } of problems) {
      // Some messages name the step themselves.
      const isNamed = stepId === null || message.includes(`"${stepId}"`);
      lines.push(`${file}: ${field} ${message}${isNamed ? '' : ` (step "${stepId}")`}`);
    }
  }
  return lines;
}

async function publish(
  postroom: Postroom,
  saved: ReadonlyMap<string, Journey>,
  { inProgress, say }: PushOptions & { inProgress: NonNullable<PushOptions['inProgress']> },
): Promise<void> {
  const errors: string[] = [];
  for (const [file, { id, status, version, publishedAt, updatedAt }] of saved) {
    if (publishedAt !== null && publishedAt >= updatedAt) continue;
    if (status === 'paused') {
      // Publishing would start it again, and the user who paused it had a reason.
      say(`${file}: not published, because the journey is paused`);
      continue;
    }
    try {
      const { publishedVersion } = await postroom.journeys.publish(id, { in_progress: inProgress, version });
      say(`${file}: published as version ${publishedVersion}`);
    } catch (error) {
      errors.push(linesOf(file, error));
    }
  }
  if (errors.length > 0) throw new FileProblems(errors);
}

/** An error of the API as lines that name the file and the field. Anything else than a rejection ends the push. */
function linesOf(file: string, error: unknown): string {
  if (!(error instanceof PostroomError) || error.status === undefined || error.status >= 500) throw error;
  const { code, message, details } = error;
  if (details.length === 0) return `${file}: ${code}: ${message}`;
  return details.map(({ field, message: problem }) => `${file}: ${field} ${problem}`).join('\n');
}
