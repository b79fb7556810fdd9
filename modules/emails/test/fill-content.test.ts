import { expect, test } from 'vitest';
import { fillContent } from '../src/fill-content.ts';

test('a subject is at most 998 characters long after its placeholders are filled in, as before', () => {
  const given = { subject: 'Hello {{name}}', html: null, text: 'Hello' };
  const fill = (name: string) => fillContent({ ...given, values: { name } });
  expect(fill('x'.repeat(992))).toMatchObject({ subject: `Hello ${'x'.repeat(992)}`, problems: [] });
  expect(fill('x'.repeat(993)).problems).toEqual([
    { field: 'subject', message: 'has more than 998 characters with its values filled in' },
  ]);
});
