import { addLocalDomain } from '@postroom/domains';
import { testApi } from '@postroom/testkit';
import { expect } from 'vitest';

/** A project with a verified domain, a contact in a group, and a campaign that is ready to send. */
export async function readyCampaign(more: Record<string, unknown> = {}) {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  const ada = await api.contact('ada@example.net', { name: 'Ada' });
  const group = (await api.post('/v1/groups', { name: 'Readers', contact_ids: [ada.id] })).body.data;
  const reply = await api.post('/v1/campaigns', {
    name: 'News',
    subject: 'News for {{name|you}}',
    from_email: 'news@example.com',
    html: '<p>Hello {{name|there}}</p>',
    group_ids: [group.id],
    ...more,
  });
  expect(reply.status, JSON.stringify(reply.body)).toBe(201);
  return { api, ada, group, campaign: reply.body.data };
}
