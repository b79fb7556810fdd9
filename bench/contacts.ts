/**
 * Compares the cost of a page of contacts in a project of 1,000,000 with one of 10,000: every filter, search, the cursor of page
 * 5,000, segments. Run: npm run bench -- contacts [contacts in the large project]. DATABASE_URL names a migrated database. Both
 * projects stay in it for the next run until you delete them.
 */
import { createContact, createCustomField, createSegment, listContacts, suppress } from '@postroom/contacts';
import { closeDatabase, newId, pool } from '@postroom/platform';
import { createProject } from '@postroom/projects';

const SMALL = 10_000;
const LARGE = Number(process.argv[2] ?? 1_000_000);
const PAGE = 100;
const RUNS = 40;
/** Age of the first contact; the others are spread evenly since then. */
const SPAN_MS = 365 * 86_400_000;

interface Sample {
  projectId: string;
  size: number;
  groupId: string;
  segments: Record<string, string>;
}

/** The project of this size, created when missing. */
async function sample(size: number): Promise<Sample> {
  const name = `Bench: ${size} contacts`;
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM projects WHERE name = $1', [name]);
  const projectId = rows[0]?.id ?? (await makeProject(name, size));
  const [group, segments] = await Promise.all([
    pool.query<{ id: string }>('SELECT id FROM groups WHERE project_id = $1', [projectId]),
    pool.query<{ id: string; name: string }>('SELECT id, name FROM segments WHERE project_id = $1', [projectId]),
  ]);
  return {
    projectId,
    size,
    groupId: group.rows[0]?.id ?? '',
    segments: Object.fromEntries(segments.rows.map((row) => [row.name, row.id])),
  };
}

async function makeProject(name: string, size: number): Promise<string> {
  console.log(`Creating a project of ${size} contacts …`);
  const { id: projectId } = await createProject(`${name} (in the making)`);
  await createCustomField(projectId, { key: 'plan', type: 'select', options: ['free', 'pro', 'enterprise'] });
  await createCustomField(projectId, { key: 'score', type: 'number' });
  await createCustomField(projectId, { key: 'tier', type: 'text' });
  const ids = await insertContacts(projectId, size);
  const groupId = newId('grp');
  await pool.query('INSERT INTO groups (id, project_id, name) VALUES ($1, $2, $3)', [
    groupId,
    projectId,
    'Every tenth',
  ]);
  await pool.query('INSERT INTO group_members SELECT $1, unnest($2::text[])', [
    groupId,
    ids.filter((_id, n) => n % 10 === 0),
  ]);
  await suppressSome(projectId, size);
  await mailSome(projectId, ids);
  await createSegment(projectId, 'key_bench', {
    name: 'pro',
    filter: { field: 'customFields.plan', op: 'is', value: 'pro' },
  });
  await createSegment(projectId, 'key_bench', {
    name: 'one in a thousand',
    filter: { field: 'customFields.tier', op: 'is', value: 'gold' },
  });
  await createSegment(projectId, 'key_bench', {
    name: 'high score',
    filter: { field: 'customFields.score', op: 'moreThan', value: 900 },
  });
  await createSegment(projectId, 'key_bench', { name: 'opened', filter: { field: 'opened', op: 'inLast', value: 30 } });
  await createSegment(projectId, 'key_bench', {
    name: 'quiet',
    filter: { field: 'opened', op: 'notInLast', value: 30 },
  });
  await createSegment(projectId, 'key_bench', { name: 'group', filter: { field: 'group', op: 'is', value: groupId } });
  await createSegment(projectId, 'key_bench', {
    name: 'mixed',
    filter: {
      and: [
        { field: 'email', op: 'endsWith', value: '@example.org' },
        {
          or: [
            { field: 'suppressionStatus', op: 'is', value: 'none' },
            { not: { field: 'name', op: 'contains', value: 'ada' } },
          ],
        },
      ],
    },
  });
  await pool.query('VACUUM ANALYZE');
  await pool.query('UPDATE projects SET name = $2 WHERE id = $1', [projectId, name]);
  return projectId;
}

const FIRST_NAMES = ['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Frances', 'Ken', 'Radia', 'Tim'];
const LAST_NAMES = [
  'Lovelace',
  'Hopper',
  'Turing',
  'Dijkstra',
  'Liskov',
  'Knuth',
  'Allen',
  'Thompson',
  'Perlman',
  'Lee',
];
const DOMAINS = ['example.com', 'example.org', 'example.net', 'mail.example'];

async function insertContacts(projectId: string, size: number): Promise<string[]> {
  const ids: string[] = [];
  const start = Date.now() - SPAN_MS;
  for (let done = 0; done < size; done += 10_000) {
    const numbers = Array.from({ length: Math.min(10_000, size - done) }, (_each, n) => done + n);
    const times = numbers.map((n) => new Date(start + (n / size) * SPAN_MS));
    const batch = times.map((time) => idAt(time));
    const names = numbers.map((n) => `${FIRST_NAMES[n % 10]} ${LAST_NAMES[Math.trunc(n / 10) % 10]}`);
    await pool.query(
      `INSERT INTO contacts (id, project_id, email, email_key, name, source, custom_fields, created_at, updated_at)
       SELECT id, $1, email, email, name, source::contact_source, fields::jsonb, at, at
         FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[]) AS n(id, email, name, source, fields, at)`,
      [
        projectId,
        batch,
        numbers.map((n) => `${names[n - done]?.replace(' ', '.').toLowerCase()}.${n}@${DOMAINS[n % 4]}`),
        names,
        numbers.map((n) => ['import', 'import', 'import', 'import', 'import', 'api', 'api', 'dashboard'][n % 8]),
        numbers.map((n) =>
          JSON.stringify({
            plan: ['free', 'pro', 'enterprise'][n % 3],
            score: n % 1000,
            ...(n % 1000 === 7 && { tier: 'gold' }),
          }),
        ),
        times,
      ],
    );
    ids.push(...batch);
  }
  return ids;
}

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** A contact id as generated at this time. */
function idAt(time: Date): string {
  const digits = [...time.getTime().toString(32).padStart(10, '0')].map((digit) => BASE32[Number.parseInt(digit, 32)]);
  return `ctc_${digits.join('')}${newId('ctc').slice(14)}`;
}

async function suppressSome(projectId: string, size: number): Promise<void> {
  const { rows } = await pool.query<{ email: string }>(
    'SELECT email FROM contacts WHERE project_id = $1 AND right(id, 2) < $2',
    [projectId, '0k'],
  );
  for (let done = 0; done < rows.length; done += 5000) {
    await suppress(
      pool,
      projectId,
      rows.slice(done, done + 5000).map(({ email }, n) => ({ email, reason: n % 2 ? 'bounced' : 'complained' })),
    );
  }
  console.log(`  ${rows.length} of ${size} are suppressed`);
}

/** One campaign to everyone two months ago, and one to everyone a week ago that a fifth opened. */
async function mailSome(projectId: string, ids: string[]): Promise<void> {
  for (const days of [60, 7]) {
    const campaignId = newId('cmp');
    await pool.query('INSERT INTO campaigns (id, project_id, name) VALUES ($1, $2, $3)', [
      campaignId,
      projectId,
      `${days} days ago`,
    ]);
    await pool.query(
      `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, accepted_at, opened_at)
       SELECT postroom_id('eml'), $1, $2, id, '', 'accepted', now() - $4 * interval '1 day',
              CASE WHEN n % 5 = 0 THEN now() - $4 * interval '1 day' END
         FROM unnest($3::text[]) WITH ORDINALITY AS c(id, n)`,
      [projectId, campaignId, ids, days],
    );
  }
}

/** Each kind of page request. `after` starts in the middle of the list. */
async function pagesOf({
  projectId,
  size,
  groupId,
  segments,
}: Sample): Promise<Record<string, () => Promise<unknown>>> {
  const list = (filter: Parameters<typeof listContacts>[1], after?: string) => () =>
    listContacts(projectId, filter, { first: PAGE, after });
  const contactAt = async (offset: number) => {
    const { rows } = await pool.query<{ id: string; email: string }>(
      'SELECT id, email FROM contacts WHERE project_id = $1 ORDER BY id DESC OFFSET $2 LIMIT 1',
      [projectId, offset],
    );
    return rows[0] ?? { id: '', email: '' };
  };
  const middle = await contactAt(size / 2);
  const cursor = Buffer.from(middle.id, 'latin1').toString('base64url');
  const halfway = new Date(Date.now() - SPAN_MS / 2);
  return {
    'first page': list({}),
    [`a page in the middle (5,000th of ${LARGE})`]: list({}, cursor),
    email: list({ email: middle.email }),
    'search, a common word': list({ search: 'ada' }),
    'search, one contact': list({ search: middle.email.slice(0, -4) }),
    'search, no match': list({ search: 'zzyzx' }),
    'search, two letters without a match': list({ search: 'qx' }),
    group_id: list({ groupId }),
    'suppressed=true': list({ suppressed: true }),
    'suppressed=false': list({ suppressed: false }),
    'source=dashboard': list({ source: 'dashboard' }),
    'source=form (no match)': list({ source: 'form' }),
    'created_after, the last day': list({ createdAfter: new Date(Date.now() - 86_400_000) }),
    'created_before, half a year ago': list({ createdBefore: halfway }),
    ...Object.fromEntries(
      Object.entries(segments).map(([name, segmentId]) => [`segment: ${name}`, list({ segmentId })]),
    ),
    'POST, new': () => createContact(projectId, { email: `bench.${newId('ctc')}@example.com` }),
    'POST, existing': () => createContact(projectId, { email: middle.email }),
  };
}

/** The median of several runs, in milliseconds. */
async function measure(run: () => Promise<unknown>): Promise<number> {
  for (let n = 0; n < 3; n++) await run();
  const times: number[] = [];
  for (let n = 0; n < RUNS; n++) {
    const start = performance.now();
    await run();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[RUNS / 2] ?? 0;
}

const [small, large] = [await pagesOf(await sample(SMALL)), await pagesOf(await sample(LARGE))];
console.log(`${'page of 100'.padEnd(44)} ${`${SMALL}`.padStart(9)} ${`${LARGE}`.padStart(9)}   ratio`);
for (const [name, run] of Object.entries(large)) {
  const [before, after] = [await measure(small[name] ?? run), await measure(run)];
  const ratio = after / before;
  console.log(
    `${name.padEnd(44)} ${before.toFixed(2).padStart(6)} ms ${after.toFixed(2).padStart(6)} ms ${ratio.toFixed(2).padStart(7)}`,
  );
}
await closeDatabase();
