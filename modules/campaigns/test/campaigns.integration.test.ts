import { pool } from '@postroom/platform';
import { type Api, eventually, signedIn, testApi } from '@postroom/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readyCampaign } from './ready-campaign.ts';

const send = (api: Api, id: string) => api.post(`/v1/campaigns/${id}/send`);

describe('send', () => {
  test('sending a draft with subject, sender, body and recipients returns 202 and status sending', async () => {
    const { api, campaign } = await readyCampaign();
    const reply = await send(api, campaign.id);
    expect(reply.status).toBe(202);
    expect(reply.body).toEqual({ data: { id: campaign.id, status: 'sending' } });
    expect((await api.get(`/v1/campaigns/${campaign.id}`)).body.data.status).toBe('sending');
  });

  test('a scheduled campaign can be sent now, with the same response', async () => {
    const { api, campaign } = await readyCampaign();
    const later = new Date(Date.now() + 3_600_000).toISOString();
    expect((await api.post(`/v1/campaigns/${campaign.id}/schedule`, { scheduled_at: later })).status).toBe(200);
    expect((await send(api, campaign.id)).status).toBe(202);
  });

  test('of two concurrent sends, one always gets 202 and the other 409', async () => {
    for (let round = 0; round < 5; round++) {
      const { api, campaign } = await readyCampaign();
      const replies = await Promise.all([send(api, campaign.id), send(api, campaign.id), send(api, campaign.id)]);
      expect(replies.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
    }
  });

  test('a campaign that does not exist or belongs to another project is not_found', async () => {
    const { campaign } = await readyCampaign();
    const other = await testApi();
    for (const id of [campaign.id, 'cmp_01h455vb4pex5vsknk084sn02q', 'grp_01h455vb4pex5vsknk084sn02q', 'x']) {
      const reply = await send(other, id);
      expect(reply.status).toBe(404);
      expect(reply.body.error.code).toBe('not_found');
    }
  });

  test('sending an incomplete campaign is a validation_error that names every missing field', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/campaigns', { name: 'Empty' })).body.data;
    const reply = await send(api, id);
    expect(reply.status).toBe(400);
    expect(reply.body.error.code).toBe('validation_error');
    const fields = reply.body.error.details.map(({ field }: { field: string }) => field);
    expect(fields).toEqual(['subject', 'from_email', 'html', 'recipients']);
  });

  test('a group whose contacts have all been deleted has no recipients', async () => {
    const { api, ada, campaign } = await readyCampaign();
    await api.delete(`/v1/contacts/${ada.id}`);
    const reply = await send(api, campaign.id);
    expect(reply.status).toBe(400);
    expect(reply.body.error.details.map(({ field }: { field: string }) => field)).toEqual(['recipients']);
  });

  test.each([
    ['stale', { verifiedForSending: false }, 'verified_for_sending = false'],
    ['blocked', { blockedAt: true }, 'blocked_at = now()'],
  ])('a sender that is %s is forbidden', async (_name, _change, assignment) => {
    const { api, campaign } = await readyCampaign();
    await pool.query(`UPDATE domains SET ${assignment} WHERE project_id = $1`, [api.projectId]);
    const reply = await send(api, campaign.id);
    expect(reply.status).toBe(403);
    expect(reply.body.error.code).toBe('forbidden');
  });

  test('an incomplete campaign from an unverified sender is a validation_error: 400 comes before 403', async () => {
    const { api, campaign } = await readyCampaign({ subject: null });
    await pool.query('UPDATE domains SET verified_for_sending = false WHERE project_id = $1', [api.projectId]);
    expect((await send(api, campaign.id)).status).toBe(400);
  });

  test.each([
    ['sending', `status = 'sending'`, /already being sent/],
    ['paused by a person', `status = 'paused'`, /paused: resume it/],
    ['paused automatically', `status = 'paused', pause_reason = '6 % bounced'`, /paused \(6 % bounced\): resume it/],
    ['completed', `status = 'completed'`, /is completed and cannot be sent again/],
    ['canceled', `status = 'canceled'`, /was canceled and cannot be sent/],
  ])(
    'sending a campaign that is %s returns 409 conflict, whatever else is wrong with it',
    async (_name, assignment, words) => {
      const { api, ada, campaign } = await readyCampaign();
      await pool.query(`UPDATE campaigns SET ${assignment} WHERE id = $1`, [campaign.id]);
      const refuses = async () => {
        const reply = await send(api, campaign.id);
        expect([reply.status, reply.body.error.code]).toEqual([409, 'conflict']);
        expect(reply.body.error.message).toMatch(words);
      };
      await refuses();
      await pool.query('UPDATE domains SET verified_for_sending = false WHERE project_id = $1', [api.projectId]);
      await refuses();
      await pool.query('UPDATE campaigns SET subject = NULL, html = NULL, from_email = NULL WHERE id = $1', [
        campaign.id,
      ]);
      await api.delete(`/v1/contacts/${ada.id}`);
      await refuses();
      const later = { scheduled_at: '2020-01-01T00:00:00Z' };
      expect((await api.post(`/v1/campaigns/${campaign.id}/schedule`, later)).status).toBe(409);
    },
  );

  test.each<[string, { body?: unknown; headers?: Record<string, string> }, string]>([
    ['a body that is not JSON', { body: '{' }, ''],
    ['a body that is no object', { body: '[1]' }, ''],
    ['a body with members', { body: { at: 'noon' } }, ''],
    ['a body of another type', { body: 'a=b', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }, ''],
    ['a body over the limit', { body: `"${'x'.repeat(1_100_000)}"` }, ''],
    ['an unknown query parameter', {}, '?at=noon'],
    ['an invalid Idempotency-Key', { headers: { 'Idempotency-Key': 'x'.repeat(300) } }, ''],
  ])('sending a completed campaign with %s returns 409 conflict, a draft 4xx', async (_name, request, query) => {
    const { api, campaign } = await readyCampaign();
    const path = `/v1/campaigns/${campaign.id}/send${query}`;
    const draft = await api.send('POST', path, request);
    expect([400, 413, 415]).toContain(draft.status);
    await pool.query(`UPDATE campaigns SET status = 'completed' WHERE id = $1`, [campaign.id]);
    const { status, body } = await api.send('POST', path, request);
    expect([status, body.error.code, body.error.message]).toEqual([
      409,
      'conflict',
      'This campaign is completed and cannot be sent again.',
    ]);
    const schedule = await api.send('POST', `/v1/campaigns/${campaign.id}/schedule${query}`, request);
    expect([schedule.status, schedule.body.error.code]).toEqual([409, 'conflict']);
    const absent = await api.send('POST', '/v1/campaigns/cmp_01h455vb4pex5vsknk084sn02q/send', request);
    expect(absent.status).toBe(404);
  });

  test('the body of a published template is fixed when the campaign starts', async () => {
    const { api, campaign } = await readyCampaign();
    const template = (await api.post('/v1/templates', { name: 'Letter', body: '<p>From a template</p>' })).body.data;
    expect((await api.patch(`/v1/campaigns/${campaign.id}`, { template_id: template.id })).status).toBe(200);
    expect((await send(api, campaign.id)).body.error.details).toMatchObject([{ field: 'template_id' }]);
    await api.post(`/v1/templates/${template.id}/publish`);
    expect((await send(api, campaign.id)).status).toBe(202);
    await api.patch(`/v1/templates/${template.id}`, { body: '<p>Changed</p>' });
    expect((await api.get(`/v1/campaigns/${campaign.id}`)).body.data.html).toBe('<p>From a template</p>');
  });

  test('of concurrent edits that name the same version, exactly one succeeds', async () => {
    const { api, campaign } = await readyCampaign();
    const edit = (subject: string, version?: number) =>
      api.patch(`/v1/campaigns/${campaign.id}`, { subject, ...(version === undefined ? {} : { version }) });
    const replies = await Promise.all(['One', 'Two', 'Three'].map((subject) => edit(subject, campaign.version)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(replies.find(({ status }) => status === 409)?.body.error).toMatchObject({
      code: 'conflict',
      details: [{ field: 'version' }],
    });
    const taken = replies.find(({ status }) => status === 200)?.body.data;
    expect((await api.get(`/v1/campaigns/${campaign.id}`)).body.data).toEqual(taken);
    expect(taken.version).toBe(campaign.version + 1);
    expect((await edit('Four', taken.version)).status).toBe(200);
    expect((await edit('Five')).body.data).toMatchObject({ subject: 'Five', version: taken.version + 2 });
    expect((await api.patch(`/v1/campaigns/${campaign.id}`, { version: taken.version + 2 })).status).toBe(400);
  });

  test('an edit that waits for another one fails if that commits and succeeds if it rolls back', async () => {
    const { api, campaign } = await readyCampaign();
    const path = `/v1/campaigns/${campaign.id}`;
    const other = await pool.connect();
    onTestFinished(() => other.release(true));
    const editBehind = async (end: 'COMMIT' | 'ROLLBACK') => {
      await other.query('BEGIN');
      await other.query("UPDATE campaigns SET subject = 'Theirs', version = version + 1 WHERE id = $1", [campaign.id]);
      const edit = api.patch(path, { subject: 'Mine', version: campaign.version });
      await eventually(async () => {
        const { rowCount } = await pool.query(
          `SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND $1 = ANY (pg_blocking_pids(a.pid))`,
          [(other as unknown as { processID: number }).processID],
        );
        expect(rowCount).toBe(1);
      });
      await other.query(end);
      return edit;
    };
    expect((await editBehind('COMMIT')).status).toBe(409);
    expect((await api.get(path)).body.data.subject).toBe('Theirs');
    campaign.version += 1;
    expect((await editBehind('ROLLBACK')).body.data).toMatchObject({ subject: 'Mine', version: campaign.version + 1 });
  });

  test('a campaign names its last editor', async () => {
    const { api, campaign } = await readyCampaign();
    expect(campaign.editedById).toMatch(/^key_/);
    const person = await signedIn(api);
    const update =
      'mutation ($id: ID!) { updateCampaign(id: $id, input: { name: "Other" }) { editedById editedByName } }';
    const { updateCampaign } = (await person.graphql(update, { id: campaign.id })).body.data;
    expect(updateCampaign).toEqual({ editedById: person.id, editedByName: 'A Person' });
  });

  test('a campaign records the version of its template that was sent', async () => {
    const { api, campaign } = await readyCampaign();
    const template = (await api.post('/v1/templates', { name: 'Letter', body: '<p>One</p>' })).body.data;
    await api.patch(`/v1/templates/${template.id}`, { body: '<p>Two</p>' });
    await api.post(`/v1/templates/${template.id}/publish`);
    const { data } = (await api.patch(`/v1/campaigns/${campaign.id}`, { template_id: template.id })).body;
    expect(data).toMatchObject({ templateId: template.id, templateVersion: null });
    await send(api, campaign.id);
    await api.patch(`/v1/templates/${template.id}`, { body: '<p>Four</p>' });
    const sent = (await api.get(`/v1/campaigns/${campaign.id}`)).body.data;
    expect(sent).toMatchObject({ templateVersion: 3, html: '<p>Two</p>' });
    const versions = (await api.get(`/v1/templates/${template.id}/versions`)).body.data;
    expect(versions.find(({ number }: { number: number }) => number === 3).body).toBe('<p>Two</p>');
    await api.delete(`/v1/templates/${template.id}`);
    const { templateId, templateVersion, html } = sent;
    const later = (await api.get(`/v1/campaigns/${campaign.id}`)).body.data;
    expect(later).toMatchObject({ templateId, templateVersion, html });
  });

  test("tracking is fixed at the start: the campaign's setting, or else the project's", async () => {
    const { api, campaign, group } = await readyCampaign({ track_clicks: true });
    const manager = await signedIn(api);
    const track = (opens: boolean, clicks: boolean) =>
      manager.graphql(`mutation { updateTracking(opens: ${opens}, clicks: ${clicks}) { id } }`);
    await track(false, false);
    const preflight = async () => (await api.post(`/v1/campaigns/${campaign.id}/preflight`)).body.data;
    expect(campaign).toMatchObject({ trackOpens: null, trackClicks: true });
    expect(await preflight()).toMatchObject({ tracksOpens: false, tracksClicks: true });
    await track(true, false);
    expect(await preflight()).toMatchObject({ tracksOpens: true, tracksClicks: true });
    await send(api, campaign.id);
    await track(false, false);
    const read = async (id: string) => (await api.get(`/v1/campaigns/${id}`)).body.data;
    expect(await read(campaign.id)).toMatchObject({ trackOpens: true, trackClicks: true });

    const off = {
      name: 'Off',
      subject: 'Off',
      from_email: campaign.fromEmail,
      html: '<p>Off</p>',
      group_ids: [group.id],
    };
    const other = (await api.post('/v1/campaigns', { ...off, track_opens: false })).body.data;
    await track(true, true);
    await send(api, other.id);
    expect(await read(other.id)).toMatchObject({ trackOpens: false, trackClicks: true });
    expect((await api.patch(`/v1/campaigns/${other.id}`, { track_opens: true })).status).toBe(409);
  });
});

describe('create and edit', () => {
  test('a new campaign is a draft with an engagement summary and progress of zeros', async () => {
    const { campaign, group } = await readyCampaign({
      from_name: 'Acme',
      reply_to: 'Help <help@example.com>',
      rate_per_second: 50,
    });
    expect(campaign).toMatchObject({
      name: 'News',
      status: 'draft',
      scheduledAt: null,
      recipientCount: 0,
      engagement: {
        sent: 0,
        delivered: 0,
        opened: 0,
        clicked: 0,
        bounced: 0,
        rejected: 0,
        complained: 0,
        unsubscribed: 0,
      },
      progress: { planned: 0, claimed: 0, accepted: 0, failed: 0, suppressed: 0, unknown: 0, canceled: 0 },
      fromName: 'Acme',
      fromEmail: 'news@example.com',
      replyTo: 'Help <help@example.com>',
      groupIds: [group.id],
      segmentIds: [],
      templateId: null,
      ratePerSecond: 50,
      pauseReason: null,
    });
  });

  test('a sender or reply address beyond ASCII is refused before the campaign is sent', async () => {
    const api = await testApi();
    const reply = await api.post('/v1/campaigns', {
      name: 'x',
      from_email: 'jörg@example.com',
      reply_to: 'jörg@example.com',
    });
    expect(reply.body.error.details).toMatchObject([{ field: 'from_email' }, { field: 'reply_to' }]);
    expect((await api.post('/v1/campaigns', { name: 'x', from_email: 'info@bücher.example' })).status).toBe(201);
  });

  test('each bad field is named', async () => {
    const api = await testApi();
    const reply = await api.post('/v1/campaigns', {
      name: ' ',
      subject: '{{first name}}',
      from_email: 'nobody',
      reply_to: 'no one',
      html: '<a href="javascript:{{x}}">x</a>',
      template_id: 'tpl_01h455vb4pex5vsknk084sn02q',
      group_ids: ['grp_01h455vb4pex5vsknk084sn02q'],
      segment_ids: ['seg_01h455vb4pex5vsknk084sn02q'],
      rate_per_second: 0,
    });
    expect(reply.status).toBe(400);
    const fields = new Set(reply.body.error.details.map(({ field }: { field: string }) => field));
    expect(fields).toEqual(
      new Set([
        'name',
        'subject',
        'from_email',
        'reply_to',
        'html',
        'template_id',
        'group_ids.0',
        'segment_ids.0',
        'rate_per_second',
      ]),
    );
  });

  test('an empty update is a validation_error, and so is an unknown field', async () => {
    const { api, campaign } = await readyCampaign();
    expect((await api.patch(`/v1/campaigns/${campaign.id}`, {})).status).toBe(400);
    expect((await api.patch(`/v1/campaigns/${campaign.id}`, { sub: 'x' })).body.error.details).toMatchObject([
      { field: 'sub' },
    ]);
  });

  test('null clears a field, and an omitted field is unchanged', async () => {
    const { api, campaign } = await readyCampaign({ from_name: 'Acme' });
    const { data } = (await api.patch(`/v1/campaigns/${campaign.id}`, { from_name: null })).body;
    expect(data).toMatchObject({ fromName: null, subject: 'News for {{name|you}}' });
  });

  test('only the rate of a sending campaign can be changed', async () => {
    const { api, campaign } = await readyCampaign();
    await send(api, campaign.id);
    expect((await api.patch(`/v1/campaigns/${campaign.id}`, { subject: 'Too late' })).status).toBe(409);
    expect((await api.patch(`/v1/campaigns/${campaign.id}`, { rate_per_second: 5 })).body.data.ratePerSecond).toBe(5);
  });

  test('a draft can be deleted; a campaign that was sent cannot', async () => {
    const { api, campaign } = await readyCampaign();
    const sent = await readyCampaign();
    await send(sent.api, sent.campaign.id);
    expect((await api.delete(`/v1/campaigns/${campaign.id}`)).body).toEqual({ deleted: true });
    expect((await api.get(`/v1/campaigns/${campaign.id}`)).status).toBe(404);
    expect((await sent.api.delete(`/v1/campaigns/${sent.campaign.id}`)).status).toBe(409);
  });

  test('never more messages are delivered than sent, though a delivery may be counted first', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/campaigns', { name: 'Racing' })).body.data;
    await pool.query('UPDATE campaigns SET accepted_count = 19, delivered_count = 20 WHERE id = $1', [id]);
    const { engagement } = (await api.get(`/v1/campaigns/${id}`)).body.data;
    expect(engagement).toMatchObject({ sent: 20, delivered: 20 });
  });

  test('the list shows campaigns newest first, with status and engagement, and filters by status', async () => {
    const { api, campaign } = await readyCampaign();
    const second = (await api.post('/v1/campaigns', { name: 'Second' })).body.data;
    await send(api, campaign.id);
    const all = (await api.get('/v1/campaigns')).body;
    expect(all.data.map(({ id }: { id: string }) => id)).toEqual([second.id, campaign.id]);
    expect(all.data[1]).toMatchObject({ status: 'sending', engagement: { sent: 0 } });
    expect((await api.get('/v1/campaigns?status=draft')).body.data).toHaveLength(1);
    expect((await api.get('/v1/campaigns?limit=1')).body).toMatchObject({ has_more: true });
  });
});

describe('schedule', () => {
  test('a campaign can be scheduled, rescheduled and turned back into a draft', async () => {
    const { api, campaign } = await readyCampaign();
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
    const path = `/v1/campaigns/${campaign.id}`;
    const [first, second] = [at(1), at(2)];
    expect((await api.post(`${path}/schedule`, { scheduled_at: first })).body.data).toMatchObject({
      status: 'scheduled',
      scheduledAt: first,
    });
    expect((await api.post(`${path}/schedule`, { scheduled_at: second })).body.data.scheduledAt).toBe(second);
    expect((await api.post(`${path}/unschedule`)).body.data).toMatchObject({ status: 'draft', scheduledAt: null });
    expect((await api.post(`${path}/unschedule`)).status).toBe(409);
  });

  test('a schedule that names a version is a conflict if the campaign was edited since', async () => {
    const { api, campaign } = await readyCampaign();
    const path = `/v1/campaigns/${campaign.id}`;
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
    const { version } = (await api.get(path)).body.data;
    await api.patch(path, { subject: 'Unseen' });
    const refused = await api.post(`${path}/schedule`, { scheduled_at, version });
    expect(refused).toMatchObject({ status: 409, body: { error: { details: [{ field: 'version' }] } } });
    expect((await api.get(path)).body.data.status).toBe('draft');
    expect((await api.post(`${path}/schedule`, { scheduled_at, version: version + 1 })).status).toBe(200);
  });

  test('a time with an offset means that instant on either side of a daylight-saving change', async () => {
    const { api, campaign } = await readyCampaign();
    const path = `/v1/campaigns/${campaign.id}`;
    // Clocks in Berlin go from 02:00 to 03:00 on 28 March 2027, and from 03:00 back to 02:00 on 31 October.
    for (const [given, instant] of [
      ['2027-03-28T01:59:59+01:00', '2027-03-28T00:59:59.000Z'],
      ['2027-03-28T03:00:00+02:00', '2027-03-28T01:00:00.000Z'],
      ['2027-10-31T02:30:00+02:00', '2027-10-31T00:30:00.000Z'],
      ['2027-10-31T02:30:00+01:00', '2027-10-31T01:30:00.000Z'],
    ]) {
      const { data } = (await api.post(`${path}/schedule`, { scheduled_at: given })).body;
      expect(data.scheduledAt).toBe(instant);
    }
    for (const local of ['2027-03-28T09:00:00', '2027-03-28', 'tomorrow']) {
      const reply = await api.post(`${path}/schedule`, { scheduled_at: local });
      expect([reply.status, reply.body.error.details[0].field]).toEqual([400, 'scheduled_at']);
      expect(reply.body.error.details[0].message).toContain('with an offset');
    }
  });

  test('scheduling in the past, or an incomplete campaign, is a validation_error', async () => {
    const { api, campaign } = await readyCampaign();
    const past = await api.post(`/v1/campaigns/${campaign.id}/schedule`, { scheduled_at: '2020-01-01T00:00:00Z' });
    expect(past.body.error.details).toMatchObject([{ field: 'scheduled_at' }]);
    const empty = (await api.post('/v1/campaigns', { name: 'Empty' })).body.data;
    const later = new Date(Date.now() + 3_600_000).toISOString();
    expect((await api.post(`/v1/campaigns/${empty.id}/schedule`, { scheduled_at: later })).status).toBe(400);
  });
});

describe('test', () => {
  test('a test is a transactional email rendered for one contact', async () => {
    const { api, ada, campaign } = await readyCampaign();
    const reply = await api.post(`/v1/campaigns/${campaign.id}/test`, {
      emails: ['me@example.org'],
      contact_id: ada.id,
    });
    expect(reply.status).toBe(202);
    const email = (await api.get(`/v1/emails/${reply.body.data[0].id}`)).body.data;
    expect(email).toMatchObject({ subject: '[Test] News for Ada', to: ['me@example.org'], campaignId: null });
    expect(email.html).toContain('Hello Ada');
    expect((await api.get(`/v1/campaigns/${campaign.id}`)).body.data.status).toBe('draft');
  });

  test('a campaign with the longest subject can be tested: the subject of the test is cut', async () => {
    const { api, campaign } = await readyCampaign();
    await api.patch(`/v1/campaigns/${campaign.id}`, { subject: 'x'.repeat(998) });
    const reply = await api.post(`/v1/campaigns/${campaign.id}/test`, { emails: ['me@example.org'] });
    expect(reply.status).toBe(202);
    const email = (await api.get(`/v1/emails/${reply.body.data[0].id}`)).body.data;
    expect(email.subject).toBe(`[Test] ${'x'.repeat(991)}`);
  });
});

test('outcomes of a campaign that has not started cannot be resolved', async () => {
  const { api, campaign } = await readyCampaign();
  const path = `/v1/campaigns/${campaign.id}`;
  const resolve = async () => {
    const { status, body } = await api.post(`${path}/recipients/resolve`, { outcome: 'accepted' });
    return [status, body.error?.message];
  };
  const refused = (state: string) => [
    409,
    `Only a campaign that has started has outcomes to resolve; this one is ${state}.`,
  ];
  expect(await resolve()).toEqual(refused('draft'));
  await api.post(`${path}/schedule`, { scheduled_at: new Date(Date.now() + 3_600_000).toISOString() });
  expect(await resolve()).toEqual(refused('scheduled'));
  await pool.query("UPDATE campaigns SET status = 'canceled' WHERE id = $1", [campaign.id]);
  expect(await resolve()).toEqual([200, undefined]);
});
