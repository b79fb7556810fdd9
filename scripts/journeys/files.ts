import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { camelKeys } from '@postroom/journey-definition';

/** A journey as its file has it. The name identifies it in the project. */
export interface JourneyFile {
  name: string;
  definition: Record<string, unknown>;
}

/** Problems with files. Each line names the file. */
export class FileProblems extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

/** Keys that come first in an object, … */
const FIRST = ['name', 'definition', 'id', 'type', 'entry'];
/** … and those that come last. All others are in alphabetical order in between. */
const LAST = ['where', 'next', 'onTimeout', 'yes', 'no', 'branches', 'steps'];

/** The text of a file. It is the same for every order of keys, so that a change of one step is a small diff. */
export const fileText = ({ name, definition }: JourneyFile): string =>
  `${JSON.stringify(sorted({ name, definition: camelKeys(definition) }), null, 2)}\n`;

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
}

function rank(key: string): number {
  if (FIRST.includes(key)) return FIRST.indexOf(key);
  return LAST.includes(key) ? FIRST.length + 1 + LAST.indexOf(key) : FIRST.length;
}

/**
 * The journeys of a folder by filename, in order.
 * @throws FileProblems with every file that is not a journey, or that has the name of another.
 */
export function readFolder(folder: string): Map<string, JourneyFile> {
  const files = new Map<string, JourneyFile>();
  const fileOf = new Map<string, string>();
  const problems: string[] = [];
  for (const file of namesIn(folder)) {
    const journey = parse(readFileSync(join(folder, file), 'utf8'));
    if (typeof journey === 'string') problems.push(`${file}: ${journey}`);
    else if (fileOf.has(journey.name))
      problems.push(`${file}: name "${journey.name}" is also that of ${fileOf.get(journey.name)}`);
    else {
      files.set(file, journey);
      fileOf.set(journey.name, file);
    }
  }
  if (problems.length > 0) throw new FileProblems(problems);
  return files;
}

/** The journey in a file, whatever else its folder has. @throws FileProblems */
export function readJourney(path: string): JourneyFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new FileProblems([code === 'ENOENT' ? `${path}: there is no such file` : `${path}: ${code}`]);
  }
  const journey = parse(text);
  if (typeof journey === 'string') throw new FileProblems([`${basename(path)}: ${journey}`]);
  return journey;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.json'))
      .toSorted();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new FileProblems([code === 'ENOENT' ? `${folder}: there is no such folder` : `${folder}: ${code}`]);
  }
}

/** The journey, or what is wrong with the text. */
function parse(text: string): JourneyFile | string {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    return `is not valid JSON: ${(error as Error).message}`;
  }
  if (!isObject(given)) return 'must be an object with name and definition';
  const { name, definition, ...others } = given;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `${unknown} is not known here`;
  // The API trims names, and the file must find its journey again.
  if (typeof name !== 'string' || name.trim() === '') return 'name must be a non-empty string';
  if (!isObject(definition)) return 'definition must be an object';
  return { name: name.trim(), definition };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function writeJourney(folder: string, file: string, journey: JourneyFile): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, file), fileText(journey));
}

/** The longest part of a name in a filename, in UTF-16 units: 180 bytes in UTF-8. */
const MAX_SLUG_LENGTH = 60;

/** A filename for each name: its letters and digits, and part of a hash if another name has the same ones. */
export function fileNames(names: readonly string[], taken: ReadonlySet<string>): Map<string, string> {
  const slugs = names.map((name) => slugOf(name));
  return new Map(
    names.map((name, index) => {
      const slug = slugs[index] ?? '';
      const isShared = slugs.filter((other) => other === slug).length > 1 || taken.has(`${slug}.json`);
      return [name, `${slug}${isShared ? `-${hashOf(name)}` : ''}.json`];
    }),
  );
}

function slugOf(name: string): string {
  const words =
    name
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words.join('-').slice(0, MAX_SLUG_LENGTH) || 'journey';
}

const hashOf = (name: string) => createHash('sha256').update(name).digest('hex').slice(0, 8);
