import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A mail that the fake received. */
interface SesMail {
  to: string[];
  raw: string;
  tags: Record<string, string>;
  configurationSet: string | undefined;
}

/** Behavior for the next SendEmail: accept it, reject it, or break the connection after reading it. */
export type SesAct = 'take' | 'cut' | 'cut within the answer' | { status: number; name: string; message: string };

/** A fake of the part of the SES API that sending uses. It rejects requests with an invalid signature. */
export interface FakeSes {
  url: string;
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
  mails: SesMail[];
  /** All SendEmail requests, including rejected and broken ones. */
  requests: number;
  /** Behaviors for the next requests, in order; afterwards it accepts everything. */
  acts: SesAct[];
  /** The response to GetAccount. */
  maxPerSecond: number;
  close: () => Promise<void>;
}

/** Only tests import this file. */
export async function startSes(): Promise<FakeSes> {
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => void answer(request, response));
  server.on(
    'connection',
    (socket: Socket) => sockets.add(socket).has(socket) && socket.on('close', () => sockets.delete(socket)),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const standIn: FakeSes = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accessKeyId: 'AKIASTANDIN',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    region: 'eu-west-1',
    mails: [],
    requests: 0,
    acts: [],
    maxPerSecond: 1000,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
  return standIn;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const problem = signatureProblem(request, body, standIn);
    if (problem !== undefined) return refuse(response, 403, 'InvalidSignatureException', problem);
    if (request.method === 'GET' && request.url === '/v2/email/account') {
      return answerJson(response, 200, {
        ProductionAccessEnabled: true,
        SendingEnabled: true,
        SendQuota: { Max24HourSend: 50_000, MaxSendRate: standIn.maxPerSecond, SentLast24Hours: standIn.mails.length },
      });
    }
    if (request.method !== 'POST' || request.url !== '/v2/email/outbound-emails') {
      return refuse(response, 404, 'NotFoundException', 'There is no such operation.');
    }
    standIn.requests++;
    const act = standIn.acts.shift() ?? 'take';
    if (typeof act === 'object') return refuse(response, act.status, act.name, act.message);
    if (act === 'cut') return void request.socket.destroy();
    standIn.mails.push(readMail(body));
    const MessageId = `0102${standIn.mails.length}`;
    if (act === 'take') return answerJson(response, 200, { MessageId });
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 100 }).write('{"MessageId":');
    setTimeout(() => request.socket.destroy(), 20);
  }
}

interface SendEmail {
  Destination?: { ToAddresses?: string[] };
  Content: { Raw?: { Data: string } };
  EmailTags?: { Name: string; Value: string }[];
  ConfigurationSetName?: string;
}

function readMail(body: Buffer): SesMail {
  const { Destination, Content, EmailTags = [], ConfigurationSetName } = JSON.parse(body.toString('utf8')) as SendEmail;
  return {
    to: Destination?.ToAddresses ?? [],
    raw: Buffer.from(Content.Raw?.Data ?? '', 'base64').toString('latin1'),
    tags: Object.fromEntries(EmailTags.map(({ Name, Value }) => [Name, Value])),
    configurationSet: ConfigurationSetName,
  };
}

function refuse(response: ServerResponse, status: number, name: string, message: string): void {
  response.setHeader('x-amzn-ErrorType', name);
  answerJson(response, status, { message });
}

function answerJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** The problem with a request's Signature Version 4, recomputed from the received request. */
function signatureProblem(request: IncomingMessage, body: Buffer, standIn: FakeSes): string | undefined {
  const given =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/ses\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? '',
    );
  if (given === null) return 'The request is not signed for ses.';
  const [, accessKeyId, day = '', region = '', names = '', signature] = given;
  if (accessKeyId !== standIn.accessKeyId) return 'The access key is not known.';
  if (region !== standIn.region) return 'The request is signed for another region.';
  if (!names.split(';').includes('host')) return 'The host is not signed.';
  const [path = '/', query = ''] = (request.url ?? '/').split('?');
  const headers = names.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}\n`);
  const canonical = [request.method, path, query, headers.join(''), names, sha256(body)].join('\n');
  const scope = `${day}/${region}/ses/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = ['ses', 'aws4_request'].reduce(
    (parent, part) => hmac(parent, part),
    hmac(hmac(`AWS4${standIn.secretAccessKey}`, day), region),
  );
  return hmac(key, text).toString('hex') === signature ? undefined : 'The signature does not match.';
}
