import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** A message that the sink accepted. */
export interface SunkMail {
  from: string;
  to: string;
  /** As received, one character per octet. */
  raw: string;
  at: number;
}

/** The sink's reply to a message: undefined accepts it, a rejection has a code and text. */
export type SinkAnswer = { code: number; message: string } | undefined;

/** Decides about a message, given how many messages to the address came before. */
export type SinkRule = (to: string, tries: number) => SinkAnswer | Promise<SinkAnswer>;

export interface SmtpSink {
  /** For SMTP_URL. */
  url: string;
  /** Accepted messages, in order. */
  mails: SunkMail[];
  /** The most connections that were open at once. A connection counts once it has been open for a moment. */
  mostConnections: () => number;
  /** Number of messages accepted per address. */
  counts: () => Map<string, number>;
  /** Replaces the rule, from the next message on. */
  answer: (rule: SinkRule) => void;
  /** Forgets all messages and replaces the rule. */
  reset: (rule: SinkRule) => void;
  close: () => Promise<void>;
}

/**
 * A mail server on this machine that records messages. Like any server, it counts a message as accepted before its
 * 250 is sent.
 */
export async function startSmtpSink(rule: SinkRule = () => undefined): Promise<SmtpSink> {
  const mails: SunkMail[] = [];
  const tries = new Map<string, number>();
  let current = rule;
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 50, // a client whose QUIT arrives after `close` is cut, not waited for
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        const { mailFrom, rcptTo } = session.envelope;
        const to = rcptTo[0]?.address ?? '';
        const before = tries.get(to) ?? 0;
        tries.set(to, before + 1);
        const answer = await current(to, before);
        if (answer !== undefined) {
          return callback(Object.assign(new Error(answer.message), { responseCode: answer.code }));
        }
        const from = mailFrom === false ? '' : mailFrom.address;
        mails.push({ from, to, raw: Buffer.concat(chunks).toString('latin1'), at: Date.now() });
        callback(null, 'taken');
      });
    },
  });
  // Killed senders leave their connections open.
  server.on('error', () => {});
  let [open, mostConnections] = [0, 0];
  server.server.on('connection', (socket) => {
    open++;
    // The event loop may see the end of the connection that it replaces a little later.
    setTimeout(() => (mostConnections = Math.max(mostConnections, open)), 20);
    socket.once('close', () => open--);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    mostConnections: () => mostConnections,
    url: `smtp://127.0.0.1:${port}`,
    mails,
    counts: () => {
      const counts = new Map<string, number>();
      for (const { to } of mails) counts.set(to, (counts.get(to) ?? 0) + 1);
      return counts;
    },
    answer: (next) => {
      current = next;
    },
    reset: (next) => {
      current = next;
      mails.length = 0;
      tries.clear();
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
