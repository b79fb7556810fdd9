import { newId, pool } from '@postroom/platform';
import { expect, test } from 'vitest';
import { settle } from '../src/ledger.ts';

const CAMPAIGN_SUBJECT = 'News of the "campaign"';

test.each([
  ['of a campaign', { campaign: true, subject: 'Plain' }],
  ['of a campaign, with the subject of the campaign', { campaign: true, subject: null }],
  ['whose subject must be escaped', { campaign: true, subject: 'A "quote", a \\ and\tmore: é 漢 🙂 \u007f' }],
  ['transactional, without a contact', { campaign: false, subject: 'Hello' }],
  [
    'with tags and metadata',
    { campaign: false, subject: '', tags: [{ name: 'a "b"', value: '\\' }], metadata: { order: 'x"y', n: null } },
  ],
])('the event of an accepted message %s contains every member unchanged', async (_, { campaign, subject, ...more }) => {
  const [projectId, id, campaignId, contactId] = [newId('prj'), newId('eml'), newId('cmp'), newId('ctc')];
  const email = '"odd \\" one"@mail.test';
  await pool.query('INSERT INTO projects (id, name) VALUES ($1, $1)', [projectId]);
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, subject, status, updated_at) VALUES ($1, $2, 'Events', $3, 'sending', now())`,
    [campaignId, projectId, CAMPAIGN_SUBJECT],
  );
  await pool.query(
    `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, claim, tags, metadata)
     VALUES ($1, $2, $3, $4, $5, 'claimed', 'one', $6, $7)`,
    [
      id,
      projectId,
      campaign ? campaignId : null,
      campaign ? contactId : null,
      email,
      'tags' in more ? JSON.stringify(more.tags) : null,
      'metadata' in more ? JSON.stringify(more.metadata) : null,
    ],
  );
  const settlement = { id, state: 'accepted' as const, answer: '250 2.0.0 Ok', subject: subject ?? undefined };
  expect(await settle('one', [settlement])).toBe(1);
  expect(await settle('one', [settlement])).toBe(0);

  const { rows } = await pool.query('SELECT type, data, xact > 0 AS numbered FROM events WHERE project_id = $1', [
    projectId,
  ]);
  expect(rows).toEqual([
    {
      type: 'email.sent',
      numbered: true,
      data: {
        email,
        message_id: id,
        subject: subject ?? CAMPAIGN_SUBJECT,
        campaign_id: campaign ? campaignId : null,
        contact_id: campaign ? contactId : null,
        tags: [],
        metadata: {},
        ...more,
      },
    },
  ]);
  expect(Object.keys(rows[0].data)).toEqual([
    'email',
    'message_id',
    'subject',
    'campaign_id',
    'contact_id',
    'tags',
    'metadata',
  ]);
});
