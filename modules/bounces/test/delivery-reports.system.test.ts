import { eventually, startSystem, type System } from '@postroom/testkit';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ScriptedServer } from '@postroom/smtp/testing';

/** How the relay handles mail, by the local part of the address. */
const ACTIONS: Record<string, { action: string; status: string; reply: string }> = {
  delivered: { action: 'delivered', status: '2.0.0', reply: '250 2.0.0 Ok: delivered to mailbox' },
  relayed: { action: 'relayed', status: '2.0.0', reply: '250 2.0.0 Ok: queued as 4F2B81A0C3' },
  failed: { action: 'failed', status: '5.1.1', reply: '550 5.1.1 <failed@mail.test>: Recipient address rejected' },
};

let server: ScriptedServer;
let system: System;
let bouncePort: number;

beforeAll(async () => {
  server = await ScriptedServer.start({ offers: ['PIPELINING', 'CHUNKING', '8BITMIME', 'SIZE 50000000', 'DSN'] });
  system = await startSystem({ smtpUrl: server.url });
  await system.startWorker();
  bouncePort = await system.startBounces();
}, 120_000);

afterAll(async () => {
  await system.stop();
  await server[Symbol.asyncDispose]();
});

/** A message as the relay received it, with the requested notifications. */
async function relayed(id: string) {
  const mail = await eventually(() => {
    const found = server.mails.find(({ data }) => data.includes(id));
    expect(found).toBeDefined();
    return found!;
  }, 30_000);
  const asked = server.commands.find((line) => line.startsWith(`MAIL FROM:<${mail.from}>`)) ?? '';
  const recipient = server.commands.filter((line) => line.startsWith(`RCPT TO:<${mail.to[0]}>`)).at(-1) ?? '';
  return { mail, asked, recipient };
}

/** Reports as RFC 3461 requires: to the return path, and only what was requested. */
async function report(id: string): Promise<void> {
  const { mail, asked, recipient } = await relayed(id);
  const to = mail.to[0] ?? '';
  const { action, status, reply } = ACTIONS[to.split('@')[0] ?? ''] ?? ACTIONS.delivered!;
  const wanted = /NOTIFY=(\S+)/.exec(recipient)?.[1]?.split(',') ?? ['FAILURE'];
  if (!wanted.includes(action === 'failed' ? 'FAILURE' : 'SUCCESS')) return;
  const raw = [
    'From: MAILER-DAEMON@relay.test (Mail Delivery System)',
    `To: ${mail.from}`,
    'Subject: Mail Delivery Report',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b1"',
    '',
    '--b1',
    'Content-Type: text/plain',
    '',
    'This is the mail system at host relay.test.',
    '--b1',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; relay.test',
    `Original-Envelope-Id: ${/ENVID=(\S+)/.exec(asked)?.[1]}`,
    '',
    `Original-Recipient: ${/ORCPT=(\S+)/.exec(recipient)?.[1]}`,
    `Final-Recipient: rfc822; ${to}`,
    `Action: ${action}`,
    `Status: ${status}`,
    'Remote-MTA: dns; mx.mail.test',
    `Diagnostic-Code: smtp; ${reply}`,
    '--b1',
    'Content-Type: text/rfc822-headers',
    '',
    mail.data.split('\r\n\r\n')[0] ?? '',
    '--b1--',
    '',
  ].join('\r\n');
  const transport = createTransport({ host: '127.0.0.1', port: bouncePort, ignoreTLS: true });
  await transport.sendMail({ envelope: { from: '', to: [mail.from] }, raw });
  transport.close();
}

test(
  'through a plain SMTP relay that offers DSN, email.delivered fires when the relay reports delivery',
  { timeout: 90_000 },
  async () => {
    const api = await system.api();
    const send = async (to: string): Promise<string> => {
      const reply = await api.post('/v1/emails', {
        from: 'hello@example.com',
        to: [to],
        subject: 'Hi',
        html: '<p>Hi</p>',
      });
      expect(reply.status, JSON.stringify(reply.body)).toBe(202);
      return reply.body.data.id;
    };
    // Without our return path, a report would go to a human.
    const plain = await relayed(await send('plain@mail.test'));
    expect(plain.mail.from).toBe('hello@example.com');
    expect(`${plain.asked} ${plain.recipient}`).not.toMatch(/RET|ENVID|NOTIFY/);

    await system.pool.query(`UPDATE domains SET mail_from_domain = 'bounce.example.com' WHERE project_id = $1`, [
      api.projectId,
    ]);
    await eventually(async () => {
      const { mail } = await relayed(await send('probe@mail.test'));
      expect(mail.from).toMatch(/@bounce\.example\.com$/);
    }, 30_000);

    const ids = await Promise.all(Object.keys(ACTIONS).map((name) => send(`${name}@mail.test`)));
    const [delivered = ''] = ids;
    const { asked, recipient } = await relayed(delivered);
    expect(asked).toMatch(new RegExp(` RET=HDRS ENVID=${delivered}$`));
    expect(recipient).toMatch(/ NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;delivered@mail\.test$/);
    for (const id of ids) await report(id);
    await report(delivered); // a relay may say it twice
    const status = async (id: string) => (await api.get(`/v1/emails/${id}`)).body.data.status;
    expect(await Promise.all(ids.map(status))).toEqual(['delivered', 'sent', 'bounced']);
    const { rows } = await system.pool.query(
      `SELECT type, data->>'message_id' AS id FROM events WHERE project_id = $1 AND type IN ('email.delivered', 'email.bounced')
     AND data->>'message_id' = ANY ($2) ORDER BY type`,
      [api.projectId, ids],
    );
    expect(rows).toEqual([
      { type: 'email.bounced', id: ids[2] },
      { type: 'email.delivered', id: delivered },
    ]);
  },
);
