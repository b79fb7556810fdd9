import type { Tone } from '../../components/badge.tsx';
import { countOf } from '../../components/numbers.ts';
import type { ImportKind, ImportStatus } from '../../generated/graphql.ts';

export const STATUS_LABELS: Record<ImportStatus, [tone: Tone, label: string]> = {
  uploading: ['quiet', 'Uploading'],
  queued: ['busy', 'Waiting'],
  running: ['busy', 'Running'],
  completed: ['good', 'Completed'],
  failed: ['bad', 'Failed'],
  canceled: ['quiet', 'Canceled'],
};

/** What the rows of an import become. */
export const KINDS: Record<ImportKind, string> = { contacts: 'Contacts', suppressions: 'Suppressions' };

export const isUnderWay = (status: ImportStatus) => status === 'queued' || status === 'running';

/** Writes the name of an encoding as people know it, such as `UTF-16` or `Windows-1252`. */
export const encodingLabel = (encoding: string): string =>
  encoding.startsWith('windows')
    ? encoding.replace('windows', 'Windows')
    : encoding.replace(/^(utf-16)[bl]e$/, '$1').toUpperCase();

const bytes = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** Formats a file size. */
export function fileSize(size: number): string {
  if (size < 1024) return countOf(size, 'byte');
  return size < 1024 ** 2 ? `${bytes.format(size / 1024)} kB` : `${bytes.format(size / 1024 ** 2)} MB`;
}
