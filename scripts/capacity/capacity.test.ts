import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { capacity } from './command.ts';
import { PAGES, withTable } from './page.ts';

test.each(PAGES)('$file is current: `npm run generate` writes its table', ({ file, title, table }) => {
  const page = readFileSync(file, 'utf8');
  expect(page).toContain(`<!-- ${title}, by`);
  expect(page).toBe(withTable(page, title, table));
});

test('the prediction is printed as text, or as JSON with all of its parts', () => {
  const given = ['--emails-per-day', '2000000', '--largest-campaign', '1000000'];
  const text = capacity(given);
  expect(text).toMatch(/^Emails +2,000,000 a day/);
  expect(text).toMatch(/^First limit +\S+/m);
  const { workload, prediction } = JSON.parse(capacity(['--json', ...given]));
  expect(workload.emailsPerDay).toBe(2_000_000);
  expect(text).toContain(`${prediction.shards} shards`);
});

test('a settings file replaces prices, and is rejected by name where it is wrong', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'postroom-capacity-')), 'settings.json');
  const priceWith = (settings: object): number => {
    writeFileSync(file, JSON.stringify(settings));
    return JSON.parse(capacity(['--json', '--settings', file])).prediction.pricePerMonth.cores;
  };
  expect(priceWith({ corePricePerHour: 0.02 })).toBeCloseTo(priceWith({ corePricePerHour: 0.01 }) * 2, 9);
  expect(() => priceWith({ corePrice: 1 })).toThrow('corePrice is unknown; the names are coreSpeed');
  expect(() => priceWith({ targetUtilization: 1 })).toThrow(
    'targetUtilization must be a number from 0.05 to 0.95, not 1.',
  );
  expect(() => priceWith([])).toThrow('must contain a JSON object');
});

test('a machine is calibrated: its speed replaces that of a standard core', () => {
  const { settings } = JSON.parse(capacity(['--json', '--calibrate']));
  expect(settings.coreSpeed).not.toBe(1);
});

test.each([
  [['--emails-per-day', '1x'], '--emails-per-day must be a number, not "1x".'],
  [['--transactional-share', '2'], '--transactional-share must be a number from 0 to 1, not 2.'],
  [['--settings', '/nonexistent'], '--settings: ENOENT'],
  [['--mails', '3'], "Unknown option '--mails'"],
])('bad input is rejected by name: %j', (args, message) => {
  expect(() => capacity(args)).toThrow(message);
});
