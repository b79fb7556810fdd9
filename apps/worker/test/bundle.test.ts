import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { compact } from '../src/bundle.ts';

const MAP = { version: 3, sources: ['one.ts'], mappings: 'AAAA', sourcesContent: ['const long = true;'] };
const bundle = (code: string, map: object) =>
  `${code}\n//# sourceMappingURL=data:application/json;charset=utf-8;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`;

test('the bundle that each workflow thread keeps is ASCII and has positions, but no sources', () => {
  const code = "var text = 'é – 😀'; /* — */ var isMatch = /^é – 😀$/u.test(text); var raw = `–`;";
  const small = compact(bundle(code, MAP));
  expect(small).toMatch(/^[\0-\x7f]+$/); // oxlint-disable-line no-control-regex
  const { sourcesContent: _, ...map } = MAP;
  expect(JSON.parse(Buffer.from(small.split('base64,')[1] ?? '', 'base64').toString())).toEqual(map);
  const context: Record<string, unknown> = {};
  runInNewContext(small, context);
  expect(context).toMatchObject({ text: 'é – 😀', isMatch: true, raw: '–' });
});

test('a bundle without a source map is refused, since the worker would not start with it', () => {
  expect(() => compact('var text = 1;')).toThrow('The bundle of the workflows has no source map.');
});
