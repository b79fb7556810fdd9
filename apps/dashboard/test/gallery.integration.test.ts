import { expect, test } from 'vitest';
import { exitsOf } from '../src/pages/journeys/definition.ts';
import type { Step } from '../src/pages/journeys/definition-types.ts';
import { GALLERY } from '../src/pages/journeys/gallery.ts';
import { readyProject } from './ready-project.ts';

test('the gallery has ten journeys with distinct names', () => {
  expect(new Set(GALLERY.map(({ name }) => name)).size).toBe(10);
});

test.each(GALLERY.map((journey) => [journey.name, journey] as const))(
  '%s can be published once its templates, senders, groups, segments and dates are chosen',
  async (name, { definition }) => {
    const api = await readyProject();
    const template = { name: 'Hello', subject: 'Hello', body: '<p>Hello</p>' };
    const templateId = (await api.post('/v1/templates', template)).body.data.id;
    await api.post(`/v1/templates/${templateId}/publish`);
    await api.post('/v1/custom-fields', { key: 'day', label: 'Day', type: 'date' });
    const filter = { field: 'name', op: 'contains', value: 'a' };
    const segmentId = (await api.post('/v1/segments', { name: 'Inactive', filter })).body.data.id;
    const groupId = (await api.get('/v1/groups')).body.data[0].id;
    const choose = (step: Step): Step => {
      if (step.type === 'send') return { ...step, templateId, from: 'hello@example.com' };
      return step.type === 'join_group' ? { ...step, groupId } : step;
    };
    const { entry } = definition;
    const journey = await api.post('/v1/journeys', {
      name,
      definition: {
        ...definition,
        entry: {
          ...entry,
          ...(entry.groupId === '' && { groupId }),
          ...(entry.segmentId === '' && { segmentId }),
          ...(entry.field === '' && { field: 'customFields.day' }),
        },
        steps: definition.steps.map(choose),
      },
    });
    expect(journey.status).toBe(201);
    const { id } = journey.body.data;
    const { problems } = (await api.get(`/v1/journeys/${id}`)).body.data;
    expect(problems).toEqual([]);
    expect((await api.post(`/v1/journeys/${id}/publish`, {})).status).toBe(200);
    // What the editor shows as exits are those that the server follows.
    const reached = new Set([definition.steps[0]?.id, ...definition.steps.flatMap(exitsOf).map(({ to }) => to)]);
    expect(definition.steps.filter((step) => !reached.has(step.id))).toEqual([]);
  },
);
