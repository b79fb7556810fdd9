import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Forms that are left without a question, and why, by their files below `src`. */
const UNGUARDED: Record<string, string> = {
  'components/confirm-dialog.tsx': 'a word that confirms',
  'pages/account/ask-password.tsx': 'a password that confirms',
  'pages/home/period-choice.tsx': 'a filter of the page',
  'pages/journeys/enrollment.tsx': 'one choice',
  'pages/journeys/import.tsx': 'a chosen file',
  'pages/sign-in/invitation.tsx': 'no page can be opened before',
  'pages/sign-in/reset-password.tsx': 'no page can be opened before',
  'pages/sign-in/sign-in.tsx': 'no page can be opened before',
};

const SRC = join(import.meta.dirname, '..', 'src');

test('every dialog asks before Escape or a click outside drops unsaved input', () => {
  const own = globSync('**/*.tsx', { cwd: SRC }).filter((path) =>
    /<(?:Modal|Drawer)\b/.test(readFileSync(join(SRC, path), 'utf8')),
  );
  expect(own).toEqual(['components/dialog.tsx']);
});

test('every form asks before its page is left with unsaved input, or is listed', () => {
  const unguarded = globSync('**/*.tsx', { cwd: SRC }).filter((path) => {
    const text = readFileSync(join(SRC, path), 'utf8');
    return /<form(?: on|$)/m.test(text) && !/\buse(?:Unsaved(?:Changes|Form)|FileImport)\(/.test(text);
  });
  expect(unguarded.sort()).toEqual(Object.keys(UNGUARDED));
});
