import { eventually, mailSystem, type SystemApi } from '@postroom/testkit';
import PostalMime from 'postal-mime';
import { describe, expect, test } from 'vitest';
import { campaignKit } from './testing.ts';

const { sink, system } = await mailSystem();

const { campaignTo, read, untilStatus, eventsOf, expectCountersToAgree, taken } = campaignKit(() => ({ system, sink }));

describe('a campaign', () => {
  test('goes to each recipient once, with email.sent for each, and emits campaign.started and campaign.completed once', async () => {
    const { api, id, path } = await campaignTo('each', 300);
    expect((await api.post(`${path}/send`)).status).toBe(202);
    const campaign = await untilStatus(api, path, 'completed');
    expect(campaign).toMatchObject({
      recipientCount: 300,
      progress: { accepted: 300, planned: 0 },
      engagement: { sent: 300 },
    });
    expect(taken('each')).toHaveLength(300);
    expect(taken('each').every(([, count]) => count === 1)).toBe(true);
    expect(await eventsOf(api, 'campaign.started')).toEqual([{ campaign_id: id, name: 'each', recipients: 300 }]);
    expect(await eventsOf(api, 'campaign.completed')).toEqual([
      { campaign_id: id, name: 'each', sent: 300, delivered: 0, failed: 0 },
    ]);
    const sent = await eventsOf(api, 'email.sent');
    expect(new Set(sent.map(({ message_id }) => message_id)).size).toBe(300);
    expect(sent[0]).toMatchObject({
      email: expect.stringMatching(/^each/),
      subject: expect.stringMatching(/^News for Reader/),
      campaign_id: id,
    });
    await expectCountersToAgree(api, path);
  });

  test('to overlapping groups goes to each contact once', async () => {
    const { api, group, path } = await campaignTo('once', 20);
    const { rows } = await system.pool.query<{ id: string }>(
      'SELECT contact_id AS id FROM group_members WHERE group_id = $1',
      [group.id],
    );
    const other = (await api.post('/v1/groups', { name: 'Half', contact_ids: rows.slice(10).map(({ id }) => id) })).body
      .data;
    await api.patch(path, { group_ids: [group.id, other.id] });
    await api.post(`${path}/send`);
    expect((await untilStatus(api, path, 'completed')).recipientCount).toBe(20);
    expect(taken('once').map(([, count]) => count)).toEqual(Array(20).fill(1));
  });

  test('skips suppressed contacts and lists them with the reason', async () => {
    const { api, path } = await campaignTo('quiet', 5);
    await api.post('/v1/suppressions', { email: 'quiet3@mail.test' });
    await api.post(`${path}/send`);
    const campaign = await untilStatus(api, path, 'completed');
    expect(campaign.progress).toMatchObject({ accepted: 4, suppressed: 1 });
    expect(taken('quiet').map(([to]) => to)).not.toContain('quiet3@mail.test');
    const suppressed = (await api.get(`${path}/recipients?state=suppressed`)).body.data;
    expect(suppressed).toMatchObject([
      { email: 'quiet3@mail.test', state: 'suppressed', answer: expect.stringContaining('manual') },
    ]);
  });

  test('carries an unsubscribe link, in the one-click header and in the body', async () => {
    const { api, path } = await campaignTo('link', 1);
    await api.post(`${path}/send`);
    await untilStatus(api, path, 'completed');
    const mail = sink.mails.find(({ to }) => to.startsWith('link'))?.raw ?? '';
    const [, url] = /^List-Unsubscribe: <([^>]+)>\r$/m.exec(mail) ?? [];
    expect(url).toMatch(/\/u\/[0-9a-z]{26}-[\w-]{60,}$/);
    expect(mail).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
    const words = mail.slice(mail.indexOf('\r\n\r\n')).replaceAll('=\r\n', '').replaceAll('=3D', '=');
    expect(words.split(url ?? '')).toHaveLength(3); // once in the text, once in the HTML
  });

  test('arrives intact in any script: names, subject and body, read by a third-party parser', async () => {
    const names = ['👩‍👩‍👧‍👦 Ada 👍🏽', 'שלום עולם', 'مرحبا بالعالم', '李小龍', 'Jürgen "Groß", Sales', '"><script>x</script>'];
    const line = 'ein sehr langer Satz über Äpfel und Öfen, '.repeat(60);
    const { api, path } = await campaignTo('script', names.length, {
      subject: '📣 Neues für {{name}} · חדשות',
      from_name: 'Привет, Café 🦊',
      html: `<p>{{name}}</p><p dir="rtl">אני {{city|كان}}</p><p>${line}</p><p>${'x'.repeat(3_000)}</p>`,
    });
    const contacts = (await api.get('/v1/contacts')).body.data as { id: string; email: string }[];
    const nameOf = new Map(contacts.map(({ email }, index) => [email, names[index] ?? '']));
    for (const { id, email } of contacts) await api.patch(`/v1/contacts/${id}`, { name: nameOf.get(email) });
    await api.post(`${path}/send`);
    await untilStatus(api, path, 'completed');
    const mails = sink.mails.filter(({ to }) => to.startsWith('script'));
    expect(mails).toHaveLength(names.length);
    for (const { to, raw } of mails) {
      const name = nameOf.get(to) ?? '';
      expect(Math.max(...raw.split('\r\n').map((text) => text.length))).toBeLessThanOrEqual(998);
      const mail = await PostalMime.parse(Buffer.from(raw, 'latin1'));
      expect(mail.subject).toBe(`📣 Neues für ${name} · חדשות`);
      expect(mail.from).toMatchObject({ name: 'Привет, Café 🦊', address: 'news@example.com' });
      expect(mail.to).toMatchObject([{ name, address: to }]);
      const shown = name
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replaceAll('"', '&quot;');
      expect(mail.html).toContain(`<p>${shown}</p><p dir="rtl">אני كان</p><p>${line}</p><p>${'x'.repeat(3_000)}</p>`);
      expect(mail.text).toContain(name);
      expect(mail.text).toContain('אני كان');
    }
  });

  test('sends each recipient the branch that its contact meets, in the subject, the HTML and the text', async () => {
    const { api, path } = await campaignTo('branch', 3, {
      subject: '{% if plan == "pro" %}Thanks{% else %}Upgrade{% endif %}, {{ name | upcase }}',
      html:
        '{% if plan == "pro" %}<p>You save {{ 1234.5 | currency: "EUR" }}</p>' +
        '{% else %}<p><a href="https://shop.example/{% if plan %}{{ plan }}{% else %}start{% endif %}">Upgrade</a></p>' +
        '{% comment %}{{unsubscribe_url}}{% endcomment %}{% endif %}',
    });
    await api.post('/v1/custom-fields', { key: 'plan', label: 'Plan', type: 'text' });
    const contacts = (await api.get('/v1/contacts')).body.data as { id: string; email: string }[];
    const idOf = (email: string) => contacts.find((contact) => contact.email === email)?.id ?? '';
    await api.patch(`/v1/contacts/${idOf('branch0@mail.test')}`, { custom_fields: { plan: 'pro' } });
    const reply = await api.patch(`/v1/contacts/${idOf('branch1@mail.test')}`, { custom_fields: { plan: 'free' } });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    await api.post(`${path}/send`);
    await untilStatus(api, path, 'completed');
    const mailTo = async (email: string) =>
      PostalMime.parse(Buffer.from(sink.mails.find(({ to }) => to === email)?.raw ?? '', 'latin1'));
    const [pro, free, none] = await Promise.all([0, 1, 2].map((nth) => mailTo(`branch${nth}@mail.test`)));
    expect(pro?.subject).toBe('Thanks, READER 0');
    expect(pro?.html).toContain('<p>You save €1,234.50</p>');
    expect(pro?.text).toMatch(/^You save €1,234\.50\s+Unsubscribe </);
    expect(pro?.html).not.toContain('Upgrade');
    expect(free?.subject).toBe('Upgrade, READER 1');
    expect(free?.text).toMatch(/^Upgrade <https:\/\/shop\.example\/free>\s+Unsubscribe </);
    expect(free?.html).not.toContain('You save');
    expect(none?.text).toMatch(/^Upgrade <https:\/\/shop\.example\/start>\s+Unsubscribe </);
  });

  test('is deferred and retried after a 4xx and fails after a 5xx; neither is sent twice', async () => {
    sink.answer((to, tries) => {
      if (to === 'mixed1@mail.test' && tries === 0) return { code: 451, message: '4.3.0 Something is amiss' };
      if (to === 'mixed2@mail.test') return { code: 550, message: '5.1.1 The mailbox does not exist' };
      return undefined;
    });
    const { api, path } = await campaignTo('mixed', 4);
    await api.post(`${path}/send`);
    const campaign = await untilStatus(api, path, 'completed', 60_000);
    sink.answer(() => undefined);
    expect(campaign.progress).toMatchObject({ accepted: 3, failed: 1 });
    expect(taken('mixed').map(([, count]) => count)).toEqual([1, 1, 1]);
    const [failed] = (await api.get(`${path}/recipients?state=failed`)).body.data;
    expect(failed).toMatchObject({ email: 'mixed2@mail.test', answer: expect.stringContaining('5.1.1') });
    expect(await eventsOf(api, 'email.failed')).toMatchObject([
      { email: 'mixed2@mail.test', reason: expect.stringContaining('550') },
    ]);
    expect((await api.get('/v1/suppressions')).body.data).toMatchObject([
      { email: 'mixed2@mail.test', reason: 'bounced' },
    ]);
    await expectCountersToAgree(api, path);
  }, 90_000);

  test('backs off from a mail server that refuses all mail, and resumes on its own', async () => {
    let closed = true;
    sink.answer(() => (closed ? { code: 421, message: '4.3.2 Going down' } : undefined));
    const { api, path } = await campaignTo('wait', 50);
    await api.post(`${path}/send`);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect((await read(api, path)).progress).toMatchObject({ accepted: 0, failed: 0 });
    closed = false;
    expect((await untilStatus(api, path, 'completed')).progress.accepted).toBe(50);
    sink.answer(() => undefined);
    expect(taken('wait').every(([, count]) => count === 1)).toBe(true);
  }, 90_000);
});

describe('a running campaign', () => {
  test('pauses, resumes and changes its rate within seconds', async () => {
    const { api, path } = await campaignTo('pace', 400, { rate_per_second: 8 });
    await api.post(`${path}/send`);
    await eventually(async () => expect((await read(api, path)).progress.accepted).toBeGreaterThan(10));
    expect((await api.post(`${path}/pause`)).body.data.status).toBe('paused');
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const atPause = taken('pace').length;
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(taken('pace').length).toBe(atPause);
    expect(atPause).toBeLessThan(150);
    expect((await api.post(`${path}/resume`)).body.data.status).toBe('sending');
    await eventually(() => expect(taken('pace').length).toBeGreaterThan(atPause));
    await api.patch(path, { rate_per_second: 2000 });
    // At the previous rate it would take twice as long.
    const campaign = await untilStatus(api, path, 'completed', 20_000);
    expect(campaign.progress.accepted).toBe(400);
    expect(taken('pace').every(([, count]) => count === 1)).toBe(true);
  }, 90_000);

  test('keeps to its rate', async () => {
    const { api, path } = await campaignTo('rate', 60, { rate_per_second: 20 });
    await api.post(`${path}/send`);
    await untilStatus(api, path, 'completed');
    const times = sink.mails.filter(({ to }) => to.startsWith('rate')).map(({ at }) => at);
    const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
    expect(seconds).toBeGreaterThan(2.5);
    // Most are 50 ms apart; a busy machine may delay some.
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(gaps.toSorted((a, b) => a - b)[30]).toBeLessThan(130);
  });

  test('can be canceled: unsent messages are never sent, and every recipient is accounted for', async () => {
    const { api, path } = await campaignTo('stop', 300, { rate_per_second: 20 });
    await api.post(`${path}/send`);
    await eventually(async () => expect((await read(api, path)).progress.accepted).toBeGreaterThan(5));
    expect((await api.post(`${path}/cancel`)).body.data.status).toBe('canceled');
    const campaign = await eventually(async () => {
      const now = await read(api, path);
      expect(now.progress.planned + now.progress.claimed).toBe(0);
      return now;
    });
    expect(campaign.progress.accepted).toBe(taken('stop').length);
    expect(campaign.progress.accepted + campaign.progress.canceled).toBe(300);
    expect((await api.post(`${path}/resume`)).status).toBe(409);
    expect(await eventsOf(api, 'campaign.completed')).toEqual([]);
    await expectCountersToAgree(api, path);
  });

  test('shows its progress live, until it has ended', async () => {
    const { api, id, path } = await campaignTo('live', 100, { rate_per_second: 20 });
    const seen: Seen[] = [];
    const watched = watch(api, id, seen);
    await eventually(() => expect(seen.at(0)?.status).toBe('draft'));
    await api.post(`${path}/send`);
    await watched;
    expect(
      seen.some(({ status, progress }) => status === 'sending' && progress.accepted > 0 && progress.accepted < 100),
    ).toBe(true);
    expect(seen.at(-1)).toMatchObject({ status: 'completed', progress: { accepted: 100 } });
  });
});

interface Seen {
  status: string;
  progress: { accepted: number };
}

/** Appends the states a subscription delivers to `seen`, until the campaign is completed. */
async function watch(api: SystemApi, id: string, seen: Seen[]): Promise<void> {
  const response = await fetch(`${system.url}/graphql/stream`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${api.key}`, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    body: JSON.stringify({
      query: 'subscription ($id: ID!) { campaignProgress(id: $id) { status progress { accepted } } }',
      variables: { id },
    }),
  });
  let text = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString('utf8');
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue;
      const { data, errors } = JSON.parse(line.slice(6));
      expect(errors).toBeUndefined();
      seen.push(data.campaignProgress);
      if (data.campaignProgress.status === 'completed') return;
    }
  }
}

describe('a scheduled campaign', () => {
  test('starts at its scheduled time, not at an earlier one it was rescheduled from', async () => {
    const { api, path } = await campaignTo('timer', 3);
    const [first, second] = [Date.now() + 5_000, Date.now() + 12_000];
    for (const at of [first, second]) await api.post(`${path}/schedule`, { scheduled_at: new Date(at).toISOString() });
    await new Promise((resolve) => setTimeout(resolve, first + 1_500 - Date.now()));
    expect((await read(api, path)).status).toBe('scheduled');
    await untilStatus(api, path, 'completed');
    expect(taken('timer')).toHaveLength(3);
  });

  test('whose sender is no longer verified is paused at its scheduled time, with the reason and one campaign.paused', async () => {
    const { api, id, path } = await campaignTo('stale', 3);
    await api.post(`${path}/schedule`, { scheduled_at: new Date(Date.now() + 5_000).toISOString() });
    await system.pool.query('UPDATE domains SET verified_for_sending = false WHERE project_id = $1', [api.projectId]);
    const campaign = await untilStatus(api, path, 'paused');
    expect(campaign.pauseReason).toContain('example.com');
    expect(await eventsOf(api, 'campaign.paused')).toEqual([
      { campaign_id: id, name: 'stale', reason: campaign.pauseReason },
    ]);
    expect((await api.post(`${path}/resume`)).status).toBe(403);
    await system.pool.query('UPDATE domains SET verified_for_sending = true WHERE project_id = $1', [api.projectId]);
    expect((await api.post(`${path}/resume`)).status).toBe(200);
    await untilStatus(api, path, 'completed');
  });
});
