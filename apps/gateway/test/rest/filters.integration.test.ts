import { type IdPrefix, newId } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

test('a list filtered by an id that does not exist is an error, not empty', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const journey = { name: 'Journey', definition: { entry: { type: 'manual' }, steps: [{ id: 'end', type: 'exit' }] } };
  const { id } = (await api.post('/v1/journeys', journey)).body.data;
  expect((await api.post(`/v1/journeys/${id}/publish`, {})).status).toBe(200);
  for (const [path, known] of [
    ['/v1/contacts?group_id=', 'grp'],
    ['/v1/contacts?segment_id=', 'seg'],
    ['/v1/emails?campaign_id=', 'cmp'],
    ['/v1/events?contact_id=', 'ctc'],
    ['/v1/deliveries?event_id=', 'evt'],
    ['/v1/backtests?journey_id=', 'jrn'],
  ] as const)
    for (const unknown of [newId(known as IdPrefix), 'nonsense'])
      expect([path, unknown, (await api.get(path + unknown)).body.error?.code]).toEqual([path, unknown, 'not_found']);

  const runs = `/v1/journeys/${id}/enrollments`;
  expect((await api.get(`${runs}?contact_id=nonsense`)).status).toBe(404);
  // The runs of a contact stay when it has been deleted.
  expect((await api.get(`${runs}?contact_id=${newId('ctc')}`)).body.data).toEqual([]);
  expect((await api.get(`${runs}?step_id=end&contact_id=${ada.id}`)).body.data).toEqual([]);
  expect((await api.get(`${runs}?step_id=nope`)).body.error.details).toEqual([
    { field: 'step_id', message: 'is not a step of a published version' },
  ]);
});
