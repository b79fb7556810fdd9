import { randomFillSync } from 'node:crypto';
import { databaseNow } from '@postroom/clock';

/** The prefix of each kind of id. An id with another prefix is `not_found`. */
export const ID_PREFIXES = {
  prj: 'project',
  key: 'API key',
  usr: 'user',
  ctc: 'contact',
  fld: 'custom field',
  grp: 'group',
  seg: 'segment',
  sup: 'suppression',
  tpl: 'template',
  tpv: 'version of a template',
  cmp: 'campaign',
  eml: 'message',
  dom: 'domain',
  mbx: 'mailbox account',
  prv: 'mail provider',
  whe: 'webhook endpoint',
  evt: 'event',
  dlv: 'delivery',
  imp: 'import',
  req: 'request',
  mai: 'mail in the inbox',
  inv: 'invitation',
  ses: 'session',
  aud: 'audit entry',
} as const;

declare const defined: unique symbol;

export type IdPrefix = keyof typeof ID_PREFIXES | (string & { readonly [defined]: true });

/** A module's own prefix, for `newId`. @throws Error if another kind of id has it. */
export function defineIdPrefix(prefix: string, kind: string): IdPrefix {
  const kinds: Record<string, string> = ID_PREFIXES;
  if ((kinds[prefix] ?? kind) !== kind) throw new Error(`Ids of a ${kinds[prefix]} already begin with ${prefix}_.`);
  kinds[prefix] = kind;
  return prefix as IdPrefix;
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** Random bytes are drawn in bulk: one draw costs more than encoding an id. */
const entropy = Buffer.alloc(10 * 512);
let entropyUsed = entropy.length;
let lastMs = 0;
let sequence = 0;
/** Maximum difference between the time in an id and the `created_at` of its row, in milliseconds. */
const SLACK_MS = 60_000;

/**
 * A TypeID: the prefix, `_`, and a UUIDv7 in 26 characters of base32, with PostgreSQL's time. Ids from one process sort by creation: the
 * 12 bits after the milliseconds are a counter. Only if the clock goes back by more than `SLACK_MS` do new ids sort before older ones.
 */
export function newId(prefix: IdPrefix): string {
  const now = databaseNow();
  if (now > lastMs || lastMs - now > SLACK_MS) {
    lastMs = now;
    sequence = 0;
  } else if (++sequence > 0xfff) {
    lastMs++;
    sequence = 0;
  }
  return `${prefix}_${encode(lastMs, sequence)}`;
}

let sequenceAt = 0;

/** A TypeID with another time than now. Those of one process and one millisecond sort by creation, 4,096 at a time. */
export function newIdAt(prefix: IdPrefix, date: Date): string {
  sequenceAt = (sequenceAt + 1) & 0xfff;
  return `${prefix}_${encode(date.getTime(), sequenceAt)}`;
}

/** 128 bits, most significant first: 48 of time, version 7, 12 of sequence, variant 2, 62 random. */
function encode(ms: number, counter: number): string {
  if (entropyUsed + 8 > entropy.length) {
    randomFillSync(entropy);
    entropyUsed = 0;
  }
  const randomHigh = entropy.readUInt32BE(entropyUsed);
  const randomLow = entropy.readUInt32BE(entropyUsed + 4);
  entropyUsed += 8;
  const words = [
    Math.floor(ms / 0x10000),
    (((ms % 0x10000) << 16) | 0x7000 | counter) >>> 0,
    ((randomHigh & 0x3fffffff) | 0x80000000) >>> 0,
    randomLow,
  ];
  return base32(words);
}

/** Encodes four 32-bit words as 26 base32 digits; the first digit holds only the top three bits. */
function base32(words: readonly number[]): string {
  let text = ALPHABET.charAt((words[0] as number) >>> 29);
  for (let start = 3; start < 128; start += 5) {
    const high = words[start >> 5] as number;
    const after = 27 - (start & 31); // bits of this word below the digit; negative if the digit continues in the next word
    const value =
      after >= 0 ? high >>> after : (high << -after) | ((words[(start >> 5) + 1] as number) >>> (32 + after));
    text += ALPHABET.charAt(value & 31);
  }
  return text;
}

/** The latest time that an id can hold, in milliseconds since the epoch. */
const MAX_MS = 2 ** 48 - 1;

/** The lower bound of ids created at or after this time. Times that no id can hold count as the nearest that one can. */
export function idsFrom(prefix: IdPrefix, date: Date): string {
  const ms = Math.min(Math.max(date.getTime(), 0), MAX_MS);
  return `${prefix}_${base32([Math.floor(ms / 0x10000), ((ms % 0x10000) << 16) >>> 0, 0, 0])}`;
}

/** A lower bound of the ids of rows whose `created_at` is this time or later. */
export const idsCreatedFrom = (prefix: IdPrefix, date: Date): string =>
  idsFrom(prefix, new Date(date.getTime() - SLACK_MS));

/** An upper bound of the ids of rows whose `created_at` is this time or earlier. */
export const idsCreatedUntil = (prefix: IdPrefix, date: Date): string =>
  idsFrom(prefix, new Date(date.getTime() + SLACK_MS));

/** The time in an id: its first ten digits are the 48 bits of milliseconds. */
export function timeOfId(id: string): Date {
  const suffix = id.slice(id.indexOf('_') + 1);
  let ms = 0;
  for (const digit of suffix.slice(0, 10)) ms = ms * 32 + ALPHABET.indexOf(digit);
  return new Date(ms);
}

/** Whether the text has the form of such an id. It may still name nothing. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && SUFFIX.test(text.slice(prefix.length + 1));
}
