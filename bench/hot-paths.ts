/**
 * Compares our own code on hot paths with the library that would replace it, as CPU time of this process per message:
 * - sending: `createSmtpPool` of @postroom/smtp, with and without a journal, and nodemailer's pooled transport, each over ten connections
 *   to the same mail server;
 * - composing: `render` of @postroom/mime, and nodemailer's MailComposer, for the same text and HTML;
 * - posting webhooks, 32 at a time: `createGuardedClient` of @postroom/guarded-client, and undici;
 * - reading contacts, 50 at a time as a gateway does: our SQL, which reads those of concurrent requests together, and Prisma.
 * Rounds alternate between them; the medians are printed.
 * Run: npm run bench -- hot-paths [--messages 5000] [--rounds 3]
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compileMessage } from '@postroom/mime';
import { createSmtpPool } from '@postroom/smtp';
import { parseTemplate } from '@postroom/templating';
import nodemailer from 'nodemailer';
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import { Agent } from 'undici';
import { startChild } from './child.ts';
import { startDatabase } from './database.ts';
import { median } from './median.ts';
import { SENT } from './post.ts';

const { values: options } = parseArgs({
  options: { messages: { type: 'string', default: '5000' }, rounds: { type: 'string', default: '3' } },
});
const MESSAGES = Number(options.messages);
const ROUNDS = Number(options.rounds);
const CONNECTIONS = 10;

const TEXT = Array.from({ length: 30 }, (_, line) => `Line ${line} for {{name}}, with an umlaut: ü.`).join('\n');
const HTML = Array.from({ length: 30 }, (_, line) => `<p>Paragraph ${line} for {{name}}, with an umlaut: ü.</p>`).join(
  '\n',
);
const SUBJECT = 'Hello {{name}}';
const FROM = 'news@example.com';

const compiled = compileMessage({
  from: { email: FROM },
  subject: parseTemplate(SUBJECT, 'subject'),
  html: parseTemplate(HTML, 'html'),
  text: parseTemplate(TEXT, 'text'),
});
const ours = (nth: number) =>
  compiled.render({
    to: { email: `r${nth}@mail.test` },
    messageId: `m${nth}@example.com`,
    date: new Date(),
    values: { name: `Ada ${nth}` },
  });

/** The same message with a condition and a filter in every paragraph; half of the recipients get each branch. */
const LOGIC = (template: string) =>
  template.replaceAll('for {{name}}', 'for {% if plan == "pro" %}{{ name | upcase }}{% else %}{{name|you}}{% endif %}');
const compiledLogic = compileMessage({
  from: { email: FROM },
  subject: parseTemplate(SUBJECT, 'subject'),
  html: parseTemplate(LOGIC(HTML), 'html'),
  text: parseTemplate(LOGIC(TEXT), 'text'),
});
const withLogic = (nth: number) =>
  compiledLogic.render({
    to: { email: `r${nth}@mail.test` },
    messageId: `m${nth}@example.com`,
    date: new Date(),
    values: { name: `Ada ${nth}`, plan: nth % 2 === 0 ? 'pro' : 'free' },
  });

const filled = (template: string, nth: number) => template.replaceAll('{{name}}', `Ada ${nth}`);
const theirs = (nth: number): Promise<Buffer> =>
  new MailComposer({
    from: FROM,
    to: `r${nth}@mail.test`,
    subject: filled(SUBJECT, nth),
    text: filled(TEXT, nth),
    html: filled(HTML, nth),
  })
    .compile()
    .build();

const database = await startDatabase();
Object.assign(process.env, database.env);
const { closeDatabase, db, newId } = await import('@postroom/platform');
const { closeInFlightJournals, openInFlightJournal, openInFlightJournals } = await import('@postroom/ledger');
const { createContact, getContact } = await import('@postroom/contacts');
const { createGuardedClient } = await import('@postroom/guarded-client');
const projectId = newId('prj');
await db.project.create({ data: { id: projectId, name: 'Bench' } });
const contacts: string[] = [];
for (let nth = 0; nth < 100; nth++)
  contacts.push((await createContact(projectId, { email: `c${nth}@mail.test`, name: `Ada ${nth}` })).contact.id);
/** Calls a function with each number of a message, a given number at a time. */
const forEach = (concurrency: number, call: (nth: number) => Promise<unknown>) =>
  Promise.all(
    Array.from({ length: concurrency }, async (_, worker) => {
      for (let nth = worker; nth < MESSAGES; nth += concurrency) await call(nth);
    }),
  );
const readAll = (read: (id: string) => Promise<unknown>) =>
  forEach(50, (nth) => read(contacts[nth % contacts.length] as string));

const sink = await startChild('smtp-sink.ts');
const { port } = sink.ready as { port: number };
const data = ours(0);
await openInFlightJournals(join(database.folder, 'in-flight'));
const ids = Array.from({ length: MESSAGES }, () => newId('eml'));
const numbers = Array.from({ length: MESSAGES }, (_, nth) => nth);

const pool = createSmtpPool(`smtp://127.0.0.1:${port}`, { connections: CONNECTIONS });
const transport = nodemailer.createTransport({
  host: '127.0.0.1',
  port,
  pool: true,
  maxConnections: CONNECTIONS,
  maxMessages: Infinity,
  ignoreTLS: true,
});

const receiver = await startChild('webhooks-receiver.ts');
const origin = `http://127.0.0.1:${(receiver.ready as { port: number }).port}`;
const client = createGuardedClient({ scope: 'loopback', deadlineMs: 10_000, bodyGraceMs: 1_000, responseBytes: 4_096 });
const agent = new Agent();
const event = `{"id":"${newId('evt')}","type":"email.sent","created":"${new Date().toISOString()}","data":${SENT}}`;
const headers = () => ({
  'Content-Type': 'application/json',
  'User-Agent': 'Postroom-Webhooks/1',
  'X-Webhook-Signature': `t=1700000000,v1=${'0'.repeat(64)}`,
});

const variants: Record<string, () => Promise<unknown>> = {
  'send, @postroom/smtp': () =>
    Promise.all(numbers.map((nth) => pool.send({ from: FROM, to: `r${nth}@mail.test`, data, stuffed: true }))),
  'send with a journal': async () => {
    const journal = openInFlightJournal({ claim: newId('cmp'), scope: { campaignId: newId('cmp') }, epoch: 1 });
    await Promise.all(
      numbers.map(async (nth) => {
        const id = ids[nth] as string;
        const { answer } = await pool.send({ id, journal, from: FROM, to: `r${nth}@mail.test`, data, stuffed: true });
        journal.answered({ id, state: 'accepted', answer });
      }),
    );
    journal.close({ isRecorded: true });
  },
  'send, nodemailer': () =>
    Promise.all(
      numbers.map((nth) => transport.sendMail({ envelope: { from: FROM, to: `r${nth}@mail.test` }, raw: data })),
    ),
  'compose, @postroom/mime': () => Promise.resolve(numbers.map((nth) => ours(nth).length)),
  'compose, with logic': () => Promise.resolve(numbers.map((nth) => withLogic(nth).length)),
  'compose, nodemailer': async () => {
    for (const nth of numbers) await theirs(nth);
  },
  'post, our client': () => forEach(32, () => client.post({ url: `${origin}/hook`, headers, body: event })),
  'post, undici': () =>
    forEach(32, async () => {
      const { body } = await agent.request({ origin, path: '/hook', method: 'POST', headers: headers(), body: event });
      await body.dump();
    }),
  'read a contact, our SQL': () => readAll((id) => getContact(projectId, id)),
  'read a contact, Prisma': () => readAll((id) => db.contact.findFirst({ where: { id, projectId } })),
};

const results = new Map<string, { cpuUs: number; perSecond: number }[]>();
for (let round = 0; round <= ROUNDS; round++) {
  for (const [name, measured] of Object.entries(variants)) {
    const [began, before] = [performance.now(), process.cpuUsage()];
    await measured();
    const { user, system } = process.cpuUsage(before);
    // The first round warms up.
    if (round === 0) continue;
    const perSecond = (MESSAGES / (performance.now() - began)) * 1000;
    results.set(name, [...(results.get(name) ?? []), { cpuUs: (user + system) / MESSAGES, perSecond }]);
  }
}
for (const [name, rounds] of results) {
  const cpuUs = median(rounds.map((each) => each.cpuUs));
  const perSecond = median(rounds.map((each) => each.perSecond));
  console.log(`${name.padEnd(24)} ${cpuUs.toFixed(1).padStart(7)} µs CPU each, ${Math.round(perSecond)} per second`);
}
await pool.close();
await closeInFlightJournals();
transport.close();
await sink.stop();
await client.close();
await agent.close();
await receiver.stop();
await closeDatabase();
await database.stop();
