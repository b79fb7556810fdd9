import { addLocalDomain } from '@postroom/domains';
import { pool } from '@postroom/platform';
import { eventually, mailSystem, signedIn, type SystemApi, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

const { sink, system } = await mailSystem();
const KEY = 'ada@xn--bcher-kva.example';
/** Equivalent spellings of one mailbox in several scripts. */
const SPELLINGS = [
  'ada@xn--bcher-kva.example',
  'ADA@XN--BCHER-KVA.EXAMPLE',
  'Ada@Bücher.example',
  'ada@BÜCHER.EXAMPLE',
  'ada@bu\u0308cher.example',
  'ada@ｂücher.example',
  'ada@bücher。example',
  'ａｄａ@bücher.example',
  '  ada@bücher.example ',
];
/** Lookalikes that are rejected. */
const INVISIBLE = [
  'a\u200bda@bücher.example',
  'ada@bü\u00adcher.example',
  'ada\u2060@bücher.example',
  'ada@\ufe0fbücher.example',
];
const EVERY = [...SPELLINGS, ...INVISIBLE];
const FROM = 'news@example.com';

async function upload(api: SystemApi, file: string) {
  const form = new FormData();
  form.set('file', new Blob([file]), 'people.csv');
  const headers = { Authorization: `Bearer ${api.key}` };
  const { body } = {
    body: await (await fetch(`${system.url}/v1/imports`, { method: 'POST', headers, body: form })).json(),
  };
  return eventually(async () => {
    const { data } = (await api.get(`/v1/imports/${(body as { data: { id: string } }).data.id}`)).body;
    expect(data.status).toBe('completed');
    return data;
  });
}

const mailedTo = (mark: string) => sink.mails.filter(({ raw }) => raw.includes(mark)).map(({ to }) => to);

test(
  'an address that complained is never mailed, however it is spelled and wherever it comes in',
  { timeout: 120_000 },
  async () => {
    const api = await system.api();
    const contact = (await api.post('/v1/contacts', { email: 'Ada@Bücher.example' })).body.data;
    const group = (await api.post('/v1/groups', { name: 'All', contact_ids: [contact.id] })).body.data;
    const campaign = (
      await api.post('/v1/campaigns', {
        name: 'News',
        subject: 'never-mailed news',
        from_email: FROM,
        html: '<p>Hello</p>',
        group_ids: [group.id],
      })
    ).body.data;
    expect((await api.post('/v1/suppressions', { email: SPELLINGS[6], reason: 'complained' })).status).toBe(201);
    expect((await api.get(`/v1/contacts/${contact.id}`)).body.data.suppressionStatus).toBe('complained');

    for (const spelling of SPELLINGS) {
      const again = await api.post('/v1/suppressions', { email: spelling, reason: 'complained' });
      expect([spelling, again.status]).toEqual([spelling, 200]);
      for (const field of ['to', 'cc', 'bcc']) {
        const others = field === 'to' ? {} : { to: ['bob@mail.test'] };
        const { status, body } = await api.post('/v1/emails', {
          from: FROM,
          ...others,
          [field]: [spelling],
          subject: 'never-mailed',
          text: 'Hello',
        });
        expect([spelling, field, status]).toEqual([spelling, field, 202]);
        const { status: became } = (await api.get(`/v1/emails/${body.data.id}`)).body.data;
        expect(became === 'suppressed').toBe(field === 'to');
      }
      const tested = await api.post(`/v1/campaigns/${campaign.id}/test`, { emails: [spelling] });
      expect([spelling, tested.status]).toEqual([spelling, 202]);
      const found = (await api.get(`/v1/suppressions?email=${encodeURIComponent(spelling)}`)).body.data;
      expect([spelling, found.length]).toEqual([spelling, 1]);
    }
    for (const spelling of INVISIBLE) {
      const replies = await Promise.all([
        api.post('/v1/contacts', { email: spelling }),
        api.post('/v1/suppressions', { email: spelling, reason: 'manual' }),
        api.post('/v1/emails', { from: FROM, to: [spelling], subject: 'never-mailed', text: 'Hello' }),
        api.post(`/v1/campaigns/${campaign.id}/test`, { emails: [spelling] }),
      ]);
      for (const { status, body } of replies) {
        expect([status, JSON.stringify(body.error.details)]).toEqual([
          400,
          expect.stringContaining('invisible character U+'),
        ]);
      }
    }

    await api.post(`/v1/campaigns/${campaign.id}/send`);
    await eventually(async () =>
      expect((await api.get(`/v1/campaigns/${campaign.id}`)).body.data.status).toBe('completed'),
    );
    await eventually(async () => expect(mailedTo('never-mailed')).toHaveLength(2 * SPELLINGS.length));
    expect(new Set(mailedTo('never-mailed'))).toEqual(new Set(['bob@mail.test']));
  },
);

test(
  'every spelling of an address resolves to one contact, through every entry point',
  { timeout: 120_000 },
  async () => {
    const api = await system.api();
    const first = await api.post('/v1/contacts', { email: ' Ada@Bücher.example ' });
    expect([first.status, first.body.data.email]).toEqual([201, 'Ada@bücher.example']);
    const { id } = first.body.data;
    const other = (await api.post('/v1/contacts', { email: 'bob@mail.test' })).body.data;
    for (const spelling of SPELLINGS) {
      const { status, body } = await api.post('/v1/contacts', { email: spelling });
      expect([spelling, status, body.data.id]).toEqual([spelling, 200, id]);
      const found = (await api.get(`/v1/contacts?email=${encodeURIComponent(spelling)}`)).body.data;
      expect([spelling, found.map((each: { id: string }) => each.id)]).toEqual([spelling, [id]]);
      expect((await api.patch(`/v1/contacts/${other.id}`, { email: spelling })).status).toBe(409);
    }
    const batch = await api.post('/v1/contacts/batch', { contacts: SPELLINGS.map((email) => ({ email })) });
    expect(batch.status).toBeLessThan(300);
    const { counts } = await upload(api, `email,name\n${EVERY.map((email) => `${email},Ada`).join('\n')}\n`);
    expect(counts).toMatchObject({ created: 0, duplicates: expect.any(Number) });
    const group = await api.post('/v1/groups', { name: 'Ada', emails: EVERY });
    expect(group.body.data.contactIds).toEqual([id]);
    for (const [operator, value] of [
      ['is', 'ada@BÜCHER.example'],
      ['endsWith', '@bücher.example'],
      ['contains', 'bücher'],
      ['startsWith', 'ＡＤＡ@'],
    ]) {
      const segment = await api.post('/v1/segments', {
        name: operator,
        filter: { field: 'email', op: operator, value },
      });
      expect([operator, segment.status]).toEqual([operator, 201]);
      const inSegment = (await api.get(`/v1/contacts?segment_id=${segment.body.data.id}`)).body.data;
      expect([operator, inSegment.map((each: { id: string }) => each.id)]).toEqual([operator, [id]]);
    }
    const { rows } = await system.pool.query('SELECT email_key FROM contacts WHERE project_id = $1 ORDER BY 1', [
      api.projectId,
    ]);
    expect(rows).toEqual([{ email_key: KEY }, { email_key: 'bob@mail.test' }]);
  },
);

test(
  'mail to an international domain goes out with its A-label, and is found by every spelling',
  { timeout: 60_000 },
  async () => {
    const api = await system.api();
    const { body } = await api.post('/v1/emails', {
      from: FROM,
      to: ['Grace <grace@Bücher.example>'],
      subject: 'to-an-a-label',
      text: 'Hello',
    });
    // The test server decodes A-labels.
    await eventually(() => expect(mailedTo('to-an-a-label')).toEqual(['grace@bücher.example']));
    const raw = sink.mails.find((mail) => mail.raw.includes('to-an-a-label'))?.raw ?? '';
    expect(raw).toContain('To: Grace <grace@xn--bcher-kva.example>');
    for (const to of ['grace@bücher.example', 'GRACE@xn--bcher-kva.example', 'grace@bücher。example']) {
      const { data } = (await api.get(`/v1/emails?to=${encodeURIComponent(to)}`)).body;
      expect(data.map(({ id }: { id: string }) => id)).toEqual([body.data.id]);
    }
  },
);

test('a person erased under one spelling is erased under all and stays suppressed', async () => {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  const contact = (await api.post('/v1/contacts', { email: 'eve@bücher.example', name: 'Eve' })).body.data;
  await api.post('/v1/emails', { from: FROM, to: ['EVE@xn--bcher-kva.example'], subject: 'Hi', text: 'Hello' });
  await api.post('/v1/emails', { from: FROM, to: ['eve@BÜCHER.example'], subject: 'Hi', text: 'Hello' });
  const owner = await signedIn(api, 'owner');
  const { body } = await owner.graphql('mutation ($id: ID!) { erasePerson(contactId: $id) { messages } }', {
    id: contact.id,
  });
  expect(body.data.erasePerson.messages).toBe(2);
  for (const email of ['eve@bücher.example', 'eve@xn--bcher-kva.example', 'eve@bücher。example']) {
    expect((await api.post('/v1/contacts', { email })).status).toBe(409);
  }
  for (const text of ['eve@bücher', 'eve@xn--']) {
    const { rows } = await pool.query(
      `SELECT 'message' AS of FROM messages WHERE project_id = $1 AND position($2 IN lower(email)) > 0
       UNION ALL SELECT 'event' FROM events WHERE project_id = $1 AND position($2 IN lower(data::text)) > 0
       UNION ALL SELECT 'content' FROM message_contents k JOIN messages m ON m.id = k.message_id
         WHERE m.project_id = $1 AND position($2 IN lower(k::text)) > 0`,
      [api.projectId, text],
    );
    expect([text, rows]).toEqual([text, []]);
  }
});
