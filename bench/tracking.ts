/**
 * Measures the cost of tracking, with its own PostgreSQL and gateway. It renders a message without and with tracking. It sends
 * hits at a fixed rate, measures their response times and checks that each is stored and classified. It runs the ledger's
 * statements for sent messages, alone and during those hits.
 * Run: npm run bench -- tracking [--rate 2000] [--seconds 10]. It exits after five minutes at the latest.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePorts } from '@postroom/embedded';
import { startChild } from './child.ts';
import { startDatabase } from './database.ts';
import type { Hits } from './tracking-hits.ts';

const { values } = parseArgs({
  options: { rate: { type: 'string', default: '2000' }, seconds: { type: 'string', default: '10' } },
});
const [RATE, SECONDS] = [Number(values.rate), Number(values.seconds)];
const MESSAGES = 20_000;
/** Rows claimed and settled per statement, as the sender does. */
const PAGE = 200;
setTimeout(() => process.exit(1), 5 * 60_000).unref();

const database = await startDatabase();
const [gatewayPort = 0] = await freePorts(1);
Object.assign(process.env, {
  ...database.env,
  GATEWAY_PORT: String(gatewayPort),
  PUBLIC_URL: `http://127.0.0.1:${gatewayPort}`,
  SMTP_URL: 'none',
  SYSTEM_MAIL_FROM: 'postroom@example.com',
});
const { closeDatabase, newId, pool } = await import('@postroom/platform');
const { compileMessage } = await import('@postroom/mime');
const { ledgerPool, newClaim, settle } = await import('@postroom/ledger');
const { parseTemplate } = await import('@postroom/templating');
const { storeLinks, trackHtml, trackingToken } = await import('@postroom/tracking');

measureRender();
const gateway = await startGateway();
const [project, campaign] = [newId('prj'), newId('cmp')];
const ids = await insertMessages();
const before = await sendRate();
const [hits, during] = await Promise.all([hitAtPace(), sendRate()]);
const after = await sendRate();
await untilJudged(hits.count);
const alone = (before + after) / 2;
console.log(
  `hits: ${hits.count} in ${SECONDS} s, p50 ${hits.p50.toFixed(1)} ms, p99 ${hits.p99.toFixed(1)} ms, all stored and classified`,
);
console.log(
  `ledger: ${alone.toFixed(0)} messages/s alone, ${during.toFixed(0)} during the hits: ${(during / alone).toFixed(2)}`,
);
gateway.kill('SIGTERM');
await new Promise((ended) => gateway.once('exit', ended));
await ledgerPool.end();
await closeDatabase();
await database.stop();
process.exit(0);

/** Thirty paragraphs and eight links, for a contact with a name. */
function measureRender(): void {
  const body = Array.from({ length: 30 }, (_, n) => `<p>Paragraph ${n} of the news, for {{name|you}}.</p>`).join('');
  const links = Array.from({ length: 8 }, (_, n) => `<a href="https://example.com/news/${n}?from=mail">More</a>`).join(
    '',
  );
  const html = parseTemplate(`<html><body>${body}${links}</body></html>`, 'html');
  const subject = parseTemplate('News', 'subject');
  const rates = [false, true].map((on) => {
    const tracked = trackHtml(html, { opens: on, clicks: on }, 'https://mail.example.com');
    const frame = compileMessage({
      from: { email: 'a@example.com' },
      subject,
      html: tracked.html,
      text: html,
    });
    const id = newId('eml');
    const one = () =>
      frame.render({
        to: { email: 'ada@example.com' },
        messageId: `${id}@example.com`,
        date: new Date(),
        values: on ? tracked.valuesFor(id, { name: 'Ada' }) : { name: 'Ada' },
      });
    for (let n = 0; n < 20_000; n++) one();
    const from = performance.now();
    for (let n = 0; n < 40_000; n++) one();
    return ((performance.now() - from) / 40_000) * 1000;
  });
  const [without = 0, tracked = 0] = rates;
  console.log(
    `render: ${without.toFixed(1)} µs a message, ${tracked.toFixed(1)} µs with eight links and a pixel tracked`,
  );
}

async function startGateway(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../apps/gateway/src/main.ts')], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: process.env,
  });
  await new Promise((ready) => child.once('message', ready));
  return child;
}

async function insertMessages(): Promise<string[]> {
  await pool.query('INSERT INTO projects (id, name) VALUES ($1, $1)', [project]);
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, subject, status, recipient_count) VALUES ($1, $2, $1, 'News', 'sending', $3)`,
    [campaign, project, MESSAGES],
  );
  const made = Array.from({ length: MESSAGES }, () => newId('eml'));
  await pool.query(
    `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, accepted_at)
     SELECT id, $2, $3, 'ctc_' || right(id, 26), id || '@mail.test', 'accepted', now() - interval '1 day' FROM unnest($1::text[]) AS id`,
    [made, project, campaign],
  );
  await storeLinks([{ id: campaign, links: Array.from({ length: 8 }, (_, n) => `https://example.com/news/${n}`) }]);
  return made;
}

/** Messages claimed and settled per second, with their events and counters, as the sender does. */
async function sendRate(): Promise<number> {
  const own = newId('cmp');
  await pool.query(`INSERT INTO campaigns (id, project_id, name, status) VALUES ($1, $2, $1, 'sending')`, [
    own,
    project,
  ]);
  const until = performance.now() + SECONDS * 1000;
  let count = 0;
  const from = performance.now();
  while (performance.now() < until) {
    const claim = newClaim();
    const page = Array.from({ length: PAGE }, () => newId('eml'));
    await pool.query(
      `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, claim, claimed_at)
       SELECT id, $2, $3, 'ctc_' || right(id, 26), id || '@mail.test', 'claimed', $4, now() FROM unnest($1::text[]) AS id`,
      [page, project, own, claim],
    );
    await settle(
      claim,
      page.map((id) => ({ id, state: 'accepted', answer: '250 ok' })),
    );
    count += PAGE;
  }
  return count / ((performance.now() - from) / 1000);
}

/** In a separate process, so that the load generator does not slow down what is measured. */
async function hitAtPace(): Promise<Hits> {
  const child = await startChild('tracking-hits.ts');
  return child.ask<Hits>({
    origin: `http://127.0.0.1:${gatewayPort}`,
    tokens: ids.map(trackingToken),
    rate: RATE,
    seconds: SECONDS,
  });
}

async function untilJudged(count: number): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ classified: number }>(
      'SELECT count(*)::int AS classified FROM tracking_hits WHERE verdict IS NOT NULL',
    );
    if (rows[0]?.classified === count) return;
    await new Promise((again) => setTimeout(again, 250));
  }
}
