import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileNames, fileText, readFolder, readJourney } from './files.ts';

const folderWith = (files: Record<string, string>) => {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-journeys-'));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return folder;
};

test('the text of a file depends neither on the order of keys nor on their spelling', () => {
  const steps = [{ id: 'hello', type: 'send', templateId: 'tpl_1', from: 'a@example.com', next: null }];
  const text = fileText({ name: 'Welcome', definition: { entry: { type: 'manual' }, steps } });
  const other = [{ next: null, from: 'a@example.com', template_id: 'tpl_1', type: 'send', id: 'hello' }];
  expect(fileText({ definition: { steps: other, entry: { type: 'manual' } }, name: 'Welcome' })).toBe(text);
  expect(text.split('\n').map((line) => line.trim().split('"')[1])).toEqual(
    [undefined, 'name', 'definition', 'entry', 'type', undefined, 'steps', undefined]
      .concat(['id', 'type', 'from', 'templateId', 'next'])
      .concat(Array.from({ length: 5 })),
  );
});

test('files are named after their journeys, differently if names have the same letters', () => {
  const names = fileNames(['Willkommen, schöne Welt!', 'A b', 'a-B', '***', 'Taken'], new Set(['taken.json']));
  expect(names.get('Willkommen, schöne Welt!')).toBe('willkommen-schöne-welt.json');
  expect(names.get('***')).toBe('journey.json');
  expect(names.get('A b')).toMatch(/^a-b-[0-9a-f]{8}\.json$/);
  expect(names.get('Taken')).toMatch(/^taken-[0-9a-f]{8}\.json$/);
  expect(new Set(names.values()).size).toBe(5);
});

test('what is wrong with files is said for each file and field', () => {
  const folder = folderWith({
    'a.json': '{"name": "A", "definition": {}}',
    'again.json': '{"name": " A ", "definition": {}}',
    'broken.json': '{"name": "B",\n}',
    'list.json': '[]',
    'more.json': '{"name": "C", "definition": {}, "status": "active"}',
    'nameless.json': '{"definition": {}}',
    'steps.json': '{"name": "D", "definition": []}',
    'notes.txt': 'no journey',
  });
  let message = '';
  try {
    readFolder(folder);
  } catch (error) {
    ({ message } = error as Error);
  }
  expect(message.split('\n')).toEqual([
    'again.json: name "A" is also that of a.json',
    expect.stringMatching(/^broken\.json: is not valid JSON: .*line 2 column 1/),
    'list.json: must be an object with name and definition',
    'more.json: status is not known here',
    'nameless.json: name must be a non-empty string',
    'steps.json: definition must be an object',
  ]);
});

test('a folder that does not exist is named', () => {
  expect(() => readFolder('/nonexistent/journeys')).toThrow('/nonexistent/journeys: there is no such folder');
});

test('a file is read whatever else its folder has: an older copy of the journey, or other JSON', () => {
  const folder = folderWith({
    'new.json': '{"name": "A", "definition": {"steps": []}}',
    'old.json': '{"name": "A", "definition": {}}',
    'package.json': '{"private": true}',
  });
  expect(readJourney(join(folder, 'new.json'))).toEqual({ name: 'A', definition: { steps: [] } });
  expect(readJourney(join(folder, 'old.json'))).toEqual({ name: 'A', definition: {} });
  expect(() => readJourney(join(folder, 'package.json'))).toThrow('package.json: private is not known here');
  expect(() => readJourney(join(folder, 'none.json'))).toThrow(`${join(folder, 'none.json')}: there is no such file`);
});
