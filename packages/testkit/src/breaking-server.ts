import { type AddressInfo, createServer, type Socket } from 'node:net';

/** Where a mail server drops the connection: at connect, or during a message's SMTP session. */
export const SESSION_BREAKS = [
  'greeting',
  'EHLO',
  'MAIL',
  'RCPT',
  'DATA',
  'body',
  'dot',
  'half a reply',
  'reply',
] as const;
export type SessionBreak = (typeof SESSION_BREAKS)[number];

/** Where to drop a connection: up to MAIL in any session, later in the first message to an address that starts with `to`. */
interface Break {
  at: SessionBreak;
  pipelining: boolean;
  to: string;
}

export interface BreakingServer {
  /** For SMTP_URL. */
  url: string;
  /** Resets the counts, closes all sessions, and drops one connection at this point. */
  breakAt: (next: Break) => void;
  /** Number of messages received by each address. */
  counts: () => Map<string, number>;
  isBroken: () => boolean;
  close: () => void;
}

/** Steps before the recipient is known. */
const ANYWHERE: ReadonlySet<SessionBreak> = new Set(['greeting', 'EHLO', 'MAIL']);

/** A mail server that drops a connection. A message whose final dot arrived counts as accepted. */
export async function startBreakingServer(): Promise<BreakingServer> {
  const sockets = new Set<Socket>();
  let received: string[] = [];
  let isBroken = false;
  let current: Break | undefined;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    if (current === undefined) return void socket.destroy();
    const { at, pipelining, to: target } = current;
    let [text, to, inBody, isTarget, isOver] = ['', '', false, false, false];
    const breaks = (step: SessionBreak) => {
      if (isBroken || at !== step || !(ANYWHERE.has(step) || isTarget)) return false;
      isBroken = true;
      isOver = true;
      // A reset would also discard earlier replies that the client has not read yet.
      if (step === 'body' || step === 'dot') socket.destroy();
      else socket.end();
      return true;
    };
    if (breaks('greeting')) return;
    socket.write('220 mail.test ESMTP\r\n');
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      while (!isOver) {
        if (inBody) {
          if (text !== '' && breaks('body')) return;
          const end = text.indexOf('\r\n.\r\n');
          if (end === -1) return;
          text = text.slice(end + 5);
          inBody = false;
          received.push(to);
          if (breaks('dot')) return;
          if (at === 'half a reply' && isTarget && !isBroken) {
            isBroken = true;
            isOver = true;
            socket.end('25');
            return;
          }
          socket.write('250 2.0.0 queued\r\n');
          if (breaks('reply')) return;
          continue;
        }
        const end = text.indexOf('\r\n');
        if (end === -1) return;
        const line = text.slice(0, end);
        text = text.slice(end + 2);
        if (line.startsWith('EHLO')) {
          if (breaks('EHLO')) return;
          socket.write(pipelining ? '250-mail.test\r\n250 PIPELINING\r\n' : '250 mail.test\r\n');
        } else if (line.startsWith('MAIL')) {
          if (breaks('MAIL')) return;
          socket.write('250 ok\r\n');
        } else if (line.startsWith('RCPT')) {
          to = /<([^>]*)>/.exec(line)?.[1] ?? '';
          isTarget = to.startsWith(target);
          if (breaks('RCPT')) return;
          socket.write('250 ok\r\n');
        } else if (line === 'DATA') {
          if (breaks('DATA')) return;
          inBody = true;
          socket.write('354 go on\r\n');
        } else if (line === 'QUIT') socket.end('221 bye\r\n');
        else socket.write('250 ok\r\n');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts: () => new Map([...Map.groupBy(received, (to) => to)].map(([to, times]) => [to, times.length])),
    isBroken: () => isBroken,
    breakAt: (next) => {
      [current, received, isBroken] = [next, [], false];
      for (const socket of sockets) socket.destroy();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
