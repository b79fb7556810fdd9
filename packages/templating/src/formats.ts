import { isNothing, RenderError, toText, type Work } from './values.ts';

/** Maximum number of formatters kept: their arguments may come from values. */
const MAX_KEPT = 200;
/** The work of making a formatter. */
const FORMATTER_COST = 500;
const numberFormats = new Map<string, Intl.NumberFormat>();
const zoneFormats = new Map<string, Intl.DateTimeFormat>();

/** A formatter from the cache, or a new one. @throws RenderError with the message `problem` for invalid arguments. */
function cachedFormat<Format>(
  formats: Map<string, Format>,
  key: string,
  make: () => Format,
  problem: string,
  work?: Work,
): Format {
  const known = formats.get(key);
  if (known !== undefined) return known;
  work?.spend(FORMATTER_COST);
  if (formats.size >= MAX_KEPT) formats.clear();
  try {
    const made = make();
    formats.set(key, made);
    return made;
  } catch (error) {
    if (error instanceof RangeError) throw new RenderError(problem);
    throw error;
  }
}

/**
 * A number with the separators of a locale, `en` by default. Other values are returned unchanged.
 * @throws RenderError for an unknown locale.
 */
export function formatNumber(value: unknown, options: Intl.NumberFormatOptions, locale: unknown, work?: Work): unknown {
  const language = isNothing(locale) ? 'en' : toText(locale);
  const format = cachedFormat(
    numberFormats,
    JSON.stringify([language, options]),
    () => new Intl.NumberFormat(language, options),
    `"${language.slice(0, 40)}" is not a locale, such as "en" or "de-AT".`,
    work,
  );
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? format.format(number) : value;
}

/** @throws RenderError if it is not a currency code. */
export function currencyOf(code: string): Intl.NumberFormatOptions {
  if (!/^[A-Za-z]{3}$/.test(code))
    throw new RenderError(`"${code.slice(0, 40)}" is not a currency code, such as "EUR".`);
  return { style: 'currency', currency: code.toUpperCase() };
}

/** Why a time zone is invalid; undefined if it is not. */
export function timeZoneProblem(zone: string): string | undefined {
  try {
    zoneFormat(zone);
    return undefined;
  } catch (error) {
    if (error instanceof RenderError) return error.message;
    throw error;
  }
}

const zoneFormat = (zone: string, work?: Work) =>
  cachedFormat(
    zoneFormats,
    zone,
    () =>
      new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      }),
    `"${zone.slice(0, 40)}" is not a time zone, such as "Europe/Berlin".`,
    work,
  );

const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s?(Z|UTC|[+-]\d\d:?\d\d)?)?$/;

/** A time: an ISO 8601 text (UTC unless it has an offset), seconds since 1970, or `now`. */
function readDate(value: unknown): Date | undefined {
  if (value instanceof Date) return value;
  if (typeof value === 'number') return new Date(value * 1000);
  if (typeof value !== 'string' || value.length > 40) return undefined;
  const text = value.trim();
  if (text === 'now' || text === 'today') return new Date();
  if (/^\d+$/.test(text)) return new Date(Number(text) * 1000);
  const [, day, time = '00:00', zone = 'Z'] = ISO.exec(text) ?? [];
  return day === undefined ? undefined : new Date(`${day}T${time}${zone === 'UTC' ? 'Z' : zone}`);
}

/** A date whose UTC fields have the local time of a zone. */
function inZone(date: Date, zone: string, work: Work): Date {
  if (zone === 'UTC') return date;
  const parts: Record<string, number> = {};
  for (const { type, value } of zoneFormat(zone, work).formatToParts(date)) parts[type] = Number(value);
  const { year = 0, month = 1, day, hour, minute, second } = parts;
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second, date.getUTCMilliseconds()));
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/**
 * Formats a time by strftime's directives, in English. Other values are returned unchanged.
 * @throws RenderError for an unknown time zone.
 */
export function formatDate(value: unknown, format: string, zone: string, work: Work): unknown {
  const date = readDate(value);
  if (date === undefined || Number.isNaN(date.getTime())) return value;
  const local = inZone(date, zone, work);
  return strftime({ local, zone, offset: Math.round((local.getTime() - date.getTime()) / 60_000) }, format);
}

interface LocalTime {
  /** Its UTC fields have the local time. */
  local: Date;
  zone: string;
  /** Minutes east of UTC. */
  offset: number;
}

function strftime(time: LocalTime, format: string): string {
  return format.replace(
    /%([-_0^#:]*)(\d{0,2})([A-Za-z%+])/g,
    (whole, flags: string, width: string, directive: string) => {
      const [made, padding, digits] = directiveOf(directive, time, flags, width) ?? [undefined, ' ', 0];
      if (made === undefined) return whole;
      const cased = flags.includes('^') ? made.toUpperCase() : flags.includes('#') ? swapCase(made) : made;
      if (flags.includes('-')) return cased;
      const pad = flags.includes('_') ? ' ' : flags.includes('0') ? '0' : padding;
      return cased.padStart(width === '' ? digits : Number(width), pad);
    },
  );
}

const swapCase = (text: string) => (text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase());

/** The text of a directive, the character that pads it, and the length to pad it to; undefined if it is unknown. */
function directiveOf(
  directive: string,
  time: LocalTime,
  flags: string,
  width: string,
): readonly [string, string, number] | undefined {
  const { local, zone, offset } = time;
  const number = (value: number, digits = 2, padding = '0') => [String(value), padding, digits] as const;
  const plain = (text: string) => [text, ' ', 0] as const;
  const nested = (format: string) => plain(strftime(time, format));
  const [day, month, year, hour] = [
    local.getUTCDate(),
    local.getUTCMonth(),
    local.getUTCFullYear(),
    local.getUTCHours(),
  ];
  const weekday = local.getUTCDay();
  const dayOfYear = Math.floor((Date.UTC(year, month, day) - Date.UTC(year, 0, 1)) / 86_400_000) + 1;
  switch (directive) {
    case 'a':
      return plain(DAYS[weekday]!.slice(0, 3));
    case 'A':
      return plain(DAYS[weekday]!);
    case 'b':
    case 'h':
      return plain(MONTHS[month]!.slice(0, 3));
    case 'B':
      return plain(MONTHS[month]!);
    case 'c':
      return nested('%a %b %e %H:%M:%S %Y');
    case 'C':
      return number(Math.floor(year / 100));
    case 'd':
      return number(day);
    case 'D':
    case 'x':
      return nested('%m/%d/%y');
    case 'e':
      return number(day, 2, ' ');
    case 'F':
      return nested('%Y-%m-%d');
    case 'H':
      return number(hour);
    case 'I':
      return number(hour % 12 || 12);
    case 'j':
      return number(dayOfYear, 3);
    case 'k':
      return number(hour, 2, ' ');
    case 'l':
      return number(hour % 12 || 12, 2, ' ');
    case 'L':
      return number(local.getUTCMilliseconds(), 3);
    case 'm':
      return number(month + 1);
    case 'M':
      return number(local.getUTCMinutes());
    case 'n':
      return plain('\n');
    case 'N': {
      const digits = Number(width) || 9;
      return plain(String(local.getUTCMilliseconds()).padStart(3, '0').slice(0, digits).padEnd(digits, '0'));
    }
    case 'p':
      return plain(hour < 12 ? 'AM' : 'PM');
    case 'P':
      return plain(hour < 12 ? 'am' : 'pm');
    case 'q':
      return plain(ordinalOf(day));
    case 'r':
      return nested('%I:%M:%S %p');
    case 'R':
      return nested('%H:%M');
    case 's':
      return number(Math.floor(local.getTime() / 1000) - offset * 60, 0);
    case 'S':
      return number(local.getUTCSeconds());
    case 't':
      return plain('\t');
    case 'T':
    case 'X':
      return nested('%H:%M:%S');
    case 'u':
      return number(weekday || 7, 1);
    case 'U':
      return number(Math.floor((dayOfYear + 6 - weekday) / 7));
    case 'w':
      return number(weekday, 1);
    case 'W':
      return number(Math.floor((dayOfYear + 6 - ((weekday + 6) % 7)) / 7));
    case 'y':
      return number(year % 100);
    case 'Y':
      return number(year, 4);
    case 'z': {
      const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
      const two = (value: number) => String(value).padStart(2, '0');
      return plain(`${offset < 0 ? '-' : '+'}${two(hours)}${flags.includes(':') ? ':' : ''}${two(minutes)}`);
    }
    case 'Z':
      return plain(zone);
    case '%':
      return plain('%');
    default:
      return undefined;
  }
}

function ordinalOf(day: number): string {
  if (day > 10 && day < 14) return 'th';
  return ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th';
}
