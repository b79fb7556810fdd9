import { expect, test } from 'vitest';
import { likeBeginnings, pageByProject, redactionValues, searchedByPage, searchedByProject } from '../src/index.ts';

/** Whether a text mentions an address, by PostgreSQL's two conditions in JavaScript. */
function isMentioned(text: string, spelling: string): { like: boolean; pattern: boolean } {
  const [like = ''] = likeBeginnings([spelling]);
  const [, pattern] = redactionValues({ projectId: 'prj_1', spellings: [spelling], alias: 'erased@erased.invalid' });
  const literal = like.slice(1, -1).replaceAll(/\\(.)/g, '$1');
  return { like: text.toLowerCase().includes(literal), pattern: new RegExp(pattern, 'i').test(text) };
}

test('what the pattern finds, the beginning finds too: in any case, and encoded in URLs', () => {
  for (const spelling of ['ada@example.com', 'a_d%a@example.com', "o'neil+news@example.com", 'jörg@example.com'])
    for (const text of [
      spelling,
      spelling.toUpperCase(),
      `https://example.com/?of=${spelling.replace('@', '%40')}&x=1`,
    ])
      expect([text, isMentioned(`To ${text}.`, spelling)]).toEqual([text, { like: true, pattern: true }]);
});

test('percent signs, underscores and backslashes of an address are literal', () => {
  expect(likeBeginnings([String.raw`a_b%c\d@example.com`])).toEqual([String.raw`%a\_b\%c\\d%`]);
});

test('a key that customers choose is searched in its project alone, an id of another table by itself', () => {
  expect(searchedByProject('keys', { body: 'text' }, 'key').isOfPage).toBe('t.project_id = $1 AND t.key = ANY ($2)');
  expect(searchedByPage('contents', { html: 'text' }, pageByProject('messages'), 'message_id').isOfPage).toBe(
    't.message_id = ANY ($2)',
  );
});
