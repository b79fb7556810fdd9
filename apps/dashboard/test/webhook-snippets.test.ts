import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SNIPPETS } from '../src/pages/webhooks/snippets.ts';

const page = readFileSync(new URL('../../../docs/reference/webhooks.md', import.meta.url), 'utf8');

test.each(SNIPPETS)(
  'the verification shown for $language is part of a program that the tests of webhooks.md run',
  ({ text }) => {
    expect(page).toContain(text.replace(/^import .*\n\n/, ''));
  },
);
