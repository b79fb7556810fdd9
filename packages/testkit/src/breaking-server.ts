import { type AddressInfo, createServer, type Socket } from 'node:net';

/** Where a mail server drops the connection: at connect, or during a message's SMTP session. */
export const DIALOGUE_BREAKS = [
  'greeting',
  'EHLO',
  'MAIL',
  'RCPT',
  'DATA',
  'body',
  'dot',
  'half an answer',
  'answer',
] as const;
export type DialogueBreak = (typeof DIALOGUE_BREAKS)[number];

/** Where a connection is dropped: for MAIL and before, in any session; else in the first message to an address beginning with `to`. */
interface Break {
  at: DialogueBreak;
  pipelining: boolean;
  to: string;
}

export interface BreakingServer {
  /** For SMTP_URL. */
  url: string;
  /** Drops one connection there, counting messages from here on. Sessions so far end, so that a client begins with a new one. */
  breakAt: (next: Break) => void;
  /** Number of messages received by each address. */
  counts: () => Map<string, number>;
  isBroken: () => boolean;
  close: () => void;
}

/** Steps that are not of one address. */
const ANYWHERE: ReadonlySet<DialogueBreak> = new Set(['greeting', 'EHLO', 'MAIL']);

/** A mail server that drops a connection. A message whose final dot arrived counts as accepted. */
export async function startBreakingServer(): Promise<BreakingServer> {
  const sockets = new Set<Socket>();
  let took: string[] = [];
  let isBroken = false;
  let current: Break | undefined;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    if (current === undefined) return void socket.destroy();
    const { at, pipelining, to: troubled } = current;
    let [text, to, inBody, inTrouble, isOver] = ['', '', false, false, false];
    const breaks = (step: DialogueBreak) => {
      if (isBroken || at !== step || !(ANYWHERE.has(step) || inTrouble)) return false;
      isBroken = true;
      isOver = true;
      // What was answered before is not lost with it, unless it is the answer that is meant.
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
          took.push(to);
          if (breaks('dot')) return;
          if (at === 'half an answer' && inTrouble && !isBroken) {
            isBroken = true;
            isOver = true;
            socket.end('25');
            return;
          }
          socket.write('250 2.0.0 taken\r\n');
          if (breaks('answer')) return;
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
          inTrouble = to.startsWith(troubled);
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
    counts: () => new Map([...Map.groupBy(took, (to) => to)].map(([to, times]) => [to, times.length])),
    isBroken: () => isBroken,
    breakAt: (next) => {
      [current, took, isBroken] = [next, [], false];
      for (const socket of sockets) socket.destroy();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
