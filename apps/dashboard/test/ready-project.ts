import { addLocalDomain } from '@postroom/domains';
import { type Api, testApi } from '@postroom/testkit';

/** A project that may send from example.com, with a group of two, one of whom is not mailed. */
export async function readyProject(): Promise<Api> {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  const [ada, bob] = [
    await api.contact('ada@example.net', { name: 'Ada' }),
    await api.contact('bob@example.net', { name: 'Bob' }),
  ];
  await api.patch(`/v1/contacts/${bob.id}`, { subscribed: false });
  await api.post('/v1/groups', { name: 'Readers', contact_ids: [ada.id, bob.id] });
  return api;
}
