import { addLocalDomain } from '@postroom/domains';
import { checkOptions, createImport } from '@postroom/imports';
import { inTransaction, newId, pool } from '@postroom/platform';
import { type Api, testApi } from '@postroom/testkit';

/** A project with one of everything that `/v1` can address, for tests over all routes. */
export interface Everything {
  api: Api;
  /** A route's path with this project's ids. */
  fill: (path: string) => string;
  /** Ids by collection. */
  ids: Record<string, string>;
  /** Ids that bodies and queries may refer to, by member name. */
  references: Record<string, string>;
}

const DOMAIN = 'example.com';

/** A failed test delivery, closed before a worker of other tests can attempt it. */
async function failedDelivery(projectId: string, endpointId: string): Promise<{ delivery: string; event: string }> {
  const event = newId('evt');
  const delivery = await inTransaction(async (client) => {
    await client.query(`INSERT INTO events (id, project_id, type, data) VALUES ($1, $2, 'webhook.test', $3)`, [
      event,
      projectId,
      { endpoint_id: endpointId },
    ]);
    const { rows } = await client.query<{ id: string }>(
      `UPDATE deliveries SET state = 'failed', closed_at = now() WHERE event_id = $1 RETURNING id`,
      [event],
    );
    return rows[0]?.id ?? '';
  });
  return { delivery, event };
}

/** A running bulk operation that no workflow processes, so a worker of other tests can't change it. */
async function runningBulkOperation(projectId: string, groupId: string): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO bulk_operations (id, project_id, action, group_id, filter, actor_id, total, cursor)
     VALUES (postroom_id('blk'), $1, 'add_to_group', $2, '{"search":"grace"}', $3, 1, 'ctc_z') RETURNING id`,
    [projectId, groupId, newId('usr')],
  );
  return rows[0]?.id ?? '';
}

/** A backtest with a contact that ended. */
async function completedBacktest(projectId: string, contactId: string, definition: object): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    `WITH b AS (
       INSERT INTO backtests (id, project_id, days, until_at, candidate, assumptions, actor_id, status, finished_at)
       VALUES (postroom_id('bkt'), $1, 7, now(), $5, $3, $2, 'completed', now()) RETURNING id
     ), c AS (
       INSERT INTO backtest_contacts (id, backtest_id, contact_id, difference, candidate, baseline, marks)
       SELECT postroom_id('bkc'), id, $4, 'none', '[]', '[]', '{}' FROM b
     ) SELECT id FROM b`,
    [
      projectId,
      newId('usr'),
      JSON.stringify({ delivered: 100, opened: 0, clicked: 0, bounced: 0, complained: 0, unsubscribed: 0 }),
      contactId,
      JSON.stringify(definition),
    ],
  );
  return rows[0]?.id ?? '';
}

export async function everything(): Promise<Everything> {
  const api = await testApi();
  await addLocalDomain(api.projectId, DOMAIN);
  const make = async (path: string, body: object): Promise<string> => {
    const reply = await api.post(path, body);
    if (reply.status > 202) throw new Error(`POST ${path} answered ${reply.status}: ${JSON.stringify(reply.body)}`);
    return reply.body.data.id;
  };
  const customField = await make('/v1/custom-fields', {
    key: 'plan',
    label: 'Plan',
    type: 'select',
    options: ['free', 'pro'],
  });
  const contact = await make('/v1/contacts', { email: 'ada@example.com', name: 'Ada Lovelace' });
  const suppression = await make('/v1/suppressions', { email: 'nobody@example.com' });
  const segment = await make('/v1/segments', { name: 'All', filter: { field: 'email', op: 'contains', value: '@' } });
  const other = await make('/v1/contacts', { email: 'grace@example.com', name: 'Grace Hopper' });
  const group = await make('/v1/groups', { name: 'Everybody', contact_ids: [contact, other] });
  const template = await make('/v1/templates', {
    name: 'Hello',
    subject: 'Hello',
    body: '<p>Hello {{name|there}}</p>',
  });
  await api.post(`/v1/templates/${template}/publish`);
  const version = (await api.get(`/v1/templates/${template}/versions`)).body.data.at(-1).id;
  const email = await make('/v1/emails', {
    from: `hello@${DOMAIN}`,
    to: 'ada@example.com',
    subject: 'Hello',
    text: 'Hello',
    scheduled_at: new Date(Date.now() + 86_400_000).toISOString(),
  });
  // Before the endpoint, which would get a delivery of it that a worker of other tests attempts.
  await api.post('/v1/events', { name: 'order placed', contact_id: contact, properties: { total: 9.5 } });
  const webhook = await make('/v1/webhooks', { url: 'https://example.com/hook', events: ['*'] });
  const { delivery, event } = await failedDelivery(api.projectId, webhook);
  const campaign = await make('/v1/campaigns', {
    name: 'November news',
    subject: 'News',
    from_name: 'Acme',
    from_email: `news@${DOMAIN}`,
    html: '<p>News</p>',
    group_ids: [group],
  });
  const tested = {
    name: 'Tested',
    subject: 'News',
    from_email: `news@${DOMAIN}`,
    html: '<p>News</p>',
    group_ids: [group],
  };
  const abTest = await make('/v1/ab-tests', { campaign_id: await make('/v1/campaigns', tested) });
  const definition = (await api.get('/v1/event-definitions')).body.data[0].id;
  const bulkOperation = await runningBulkOperation(api.projectId, group);
  const upload = await createImport(api.projectId, await checkOptions(api.projectId, {}));
  const steps = [{ id: 'welcome', type: 'wait', for: { days: 30 }, next: null }];
  const longWait = { entry: { type: 'manual' }, steps };
  const journey = await make('/v1/journeys', { name: 'A long wait', definition: longWait });
  await api.post(`/v1/journeys/${journey}/publish`, {});
  await api.post(`/v1/journeys/${journey}/enrollments`, { contact_ids: [other] });
  await api.post(`/v1/journeys/${journey}/pause`); // so that no worker of other tests changes what is compared
  const enrollment = (await api.get(`/v1/journeys/${journey}/enrollments`)).body.data[0].id;
  const form = await make('/v1/forms', { name: 'Footer', from: `hello@${DOMAIN}`, reminder_after_hours: 24 });
  const backtest = await completedBacktest(api.projectId, contact, longWait);
  const ids: Record<string, string> = {
    '/v1/projects': api.projectId,
    '/v1/contacts': contact,
    '/v1/custom-fields': customField,
    '/v1/suppressions': suppression,
    '/v1/segments': segment,
    '/v1/groups': group,
    '/v1/templates': template,
    '/v1/templates/{id}/versions': version,
    '/v1/emails': email,
    '/v1/webhooks': webhook,
    '/v1/deliveries': delivery,
    '/v1/campaigns': campaign,
    '/v1/ab-tests': abTest,
    '/v1/bulk-operations': bulkOperation,
    '/v1/event-definitions': definition,
    '/v1/imports': upload.id,
    '/v1/journeys': journey,
    '/v1/enrollments': enrollment,
    '/v1/backtests': backtest,
    '/v1/forms': form,
    '/v1/projects/{id}/domains': DOMAIN,
  };
  const fill = (path: string) =>
    path.replaceAll(/\{\w+\}/g, (parameter, at: number) => {
      const collection = path.slice(0, at - 1);
      const id = ids[collection] ?? references[parameter.slice(1, -1)];
      if (id === undefined)
        throw new Error(`Nothing is made for ${path}: add what ${collection} lists to fixtures.ts.`);
      return id;
    });
  const references: Record<string, string> = {
    contact_id: contact,
    contact_ids: contact,
    group_id: group,
    group_ids: group,
    segment_id: segment,
    segment_ids: segment,
    excluded_group_ids: group,
    excluded_segment_ids: segment,
    template_id: template,
    campaign_id: campaign,
    variant_ids: campaign,
    journey_id: journey,
    event_id: event,
    recipient_ids: email,
  };
  return { api, fill, ids, references };
}
