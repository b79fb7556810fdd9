import { addLocalDomain } from '@postroom/domains';
import { pool, record } from '@postroom/platform';
import { type Api, signedIn, type SignedIn, testApi } from '@postroom/testkit';
import { beforeAll, test } from 'vitest';
import { expectAccessible, inBrowser } from './browser.ts';

interface Ids {
  contact: string;
  import: string;
  group: string;
  segment: string;
  event: string;
  template: string;
  draft: string;
  sending: string;
  email: string;
}

inBrowser('pages for marketers', () => {
  let api: Api;
  let owner: SignedIn;
  let ids: Ids;

  beforeAll(async () => {
    api = await testApi();
    owner = await signedIn(api, 'owner');
    ids = await seedProject(api);
  });

  test.each<[string, () => string]>([
    ['Needs attention', () => '?period=24h'],
    ['Ada Lovelace', () => '/contacts'],
    ['Source: API', () => `/contacts/${ids.contact}`],
    ['people.csv', () => '/imports'],
    ['Row errors', () => `/imports/${ids.import}`],
    ['Drop a CSV file here', () => '/imports/new'],
    ['Readers', () => '/groups'],
    ['ada@example.net', () => `/groups/${ids.group}`],
    ['Londoners', () => '/segments'],
    ['1 contact now', () => `/segments/${ids.segment}`],
    ['Complete the conditions', () => '/segments/new'],
    ['City', () => '/fields'],
    ['order placed', () => '/events'],
    ['Show as a table', () => `/events/${ids.event}`],
    ['Unsubscribed', () => '/suppressions?reason=unsubscribed'],
    ['Letter', () => '/templates'],
    ['Insert a placeholder', () => `/templates/${ids.template}`],
    ['Draft', () => `/templates/${ids.template}/versions`],
    ['Under way', () => '/campaigns'],
    ['Review and send', () => `/campaigns/${ids.draft}`],
    ['Setup', () => `/campaigns/${ids.sending}`],
    ['550 no such user', () => `/campaigns/${ids.sending}/recipients?state=failed`],
    ['ada@example.net', () => '/emails'],
    ['Activity', () => `/emails/${ids.email}`],
    ['Not found', () => '/contacts/ctc_00000000000000000000000000'],
  ])('the page with "%s" is accessible in both schemes and sizes, and contacts no other host', (text, path) =>
    expectAccessible(api, owner, path(), text),
  );
});

/** A project with data on every page, and a campaign with recipients in several states. */
async function seedProject(api: Api): Promise<Ids> {
  const created = async (path: string, body: unknown) => (await api.post(path, body)).body.data.id as string;
  await addLocalDomain(api.projectId, 'example.com');
  await created('/v1/custom-fields', { key: 'city', label: 'City', type: 'text' });
  const ada = await api.contact('ada@example.net', { name: 'Ada Lovelace', custom_fields: { city: 'London' } });
  const bob = await api.contact('bob@example.net');
  const eve = await api.contact('eve@example.net');
  await api.patch(`/v1/contacts/${eve.id}`, { subscribed: false });
  await api.post('/v1/events', { name: 'order placed', contact_id: ada.id, properties: { total: 49.9 } });
  const group = await created('/v1/groups', { name: 'Readers', contact_ids: [ada.id, bob.id, eve.id] });
  const template = await created('/v1/templates', { name: 'Letter', body: '<h1>Hello {{name|there}}</h1>' });
  const campaign = { from_email: 'news@example.com', subject: 'News', html: '<p>News</p>', group_ids: [group] };
  const sending = await created('/v1/campaigns', { name: 'Under way', ...campaign });
  await putUnderWay(api, sending, [ada, bob]);
  await pool.query("UPDATE campaigns SET status = 'paused' WHERE id = $1", [sending]);
  await record(pool, api.projectId, [
    { type: 'email.sent', data: {} },
    { type: 'email.bounced', data: {} },
  ]);
  return {
    contact: ada.id,
    import: await putImported(api),
    group,
    segment: await created('/v1/segments', {
      name: 'Londoners',
      filter: { field: 'customFields.city', op: 'is', value: 'London' },
    }),
    event: (await api.get('/v1/event-definitions')).body.data[0].id,
    template,
    draft: await created('/v1/campaigns', { name: 'Next one', ...campaign }),
    sending,
    email: await created('/v1/emails', {
      from: 'shop@example.com',
      to: 'ada@example.net',
      subject: 'Your order',
      html: '<p>Thank you.</p>',
      tags: ['order'],
    }),
  };
}

/** Writes the rows of an import with one good and one bad row. */
async function putImported(api: Api): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO imports (id, project_id, status, file_name, size, on_conflict, dry_run, create_fields, rows, created, invalid, finished_at)
     VALUES (postroom_id('imp'), $1, 'completed', 'people.csv', 60, 'skip', false, false, 2, 1, 1, now()) RETURNING id`,
    [api.projectId],
  );
  const id = rows[0]?.id ?? '';
  await pool.query(
    "INSERT INTO import_errors (import_id, line, field, message) VALUES ($1, 3, 'email', 'is not an email address')",
    [id],
  );
  return id;
}

/** Writes the rows of a campaign in progress: one message accepted, one rejected. */
async function putUnderWay(api: Api, campaignId: string, [one, other]: { id: string; email: string }[]): Promise<void> {
  await pool.query(
    `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, accepted_at, delivered_at, unsent_at, answer)
     VALUES (postroom_id('eml'), $1, $2, $3, $4, 'accepted', now(), now(), NULL, '250 ok'),
            (postroom_id('eml'), $1, $2, $5, $6, 'failed', NULL, NULL, now(), '550 no such user')`,
    [api.projectId, campaignId, one?.id, one?.email, other?.id, other?.email],
  );
  await pool.query(
    `UPDATE campaigns SET started_at = now(), frozen_at = now(), recipient_count = 2, accepted_count = 1, failed_count = 1,
       delivered_count = 1 WHERE id = $1`,
    [campaignId],
  );
}
