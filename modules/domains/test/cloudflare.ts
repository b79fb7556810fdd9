import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface StoredRecord {
  id: string;
  type: string;
  name: string;
  content: string;
  priority?: number;
  comment?: string | null;
}

/** A fake of the part of Cloudflare's API v4 that publishing uses, with its validation. */
export interface CloudflareStandIn {
  url: string;
  token: string;
  /** The records of its zone, for tests to read and modify. */
  records: StoredRecord[];
  /** Number of accepted batches. */
  batches: number;
  /** Responses to the next requests, instead of the usual ones. */
  failures: { status: number; headers?: Record<string, string>; body?: string }[];
  close: () => Promise<void>;
}

export async function startCloudflare(zone: { name: string; nameservers: string[] }): Promise<CloudflareStandIn> {
  const standIn = {
    token: 'cf-token',
    records: [] as StoredRecord[],
    batches: 0,
    failures: [] as CloudflareStandIn['failures'],
  };
  let lastId = 0;
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://cloudflare');
    const answer = (status: number, result: unknown, errors: { code: number; message: string }[] = []) => {
      const info = { page: 1, per_page: 100, count: 0, total_count: 0, total_pages: 1 };
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ success: errors.length === 0, errors, messages: [], result, result_info: info }));
    };
    const failure = standIn.failures.shift();
    if (failure !== undefined) return response.writeHead(failure.status, failure.headers).end(failure.body);
    if (request.headers.authorization !== `Bearer ${standIn.token}`) {
      return answer(403, null, [{ code: 9109, message: 'Invalid access token' }]);
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const [, list, id, what, batch] = url.pathname.split('/');
    if (request.method === 'GET' && list === 'zones' && id === undefined) {
      const isAsked = url.searchParams.get('name') === zone.name;
      return answer(200, isAsked ? [{ id: 'zone1', name: zone.name, name_servers: zone.nameservers }] : []);
    }
    if (id !== 'zone1' || what !== 'dns_records') return answer(404, null, [{ code: 7003, message: 'No route' }]);
    if (request.method === 'GET') {
      const name = url.searchParams.get('name.exact');
      return answer(
        200,
        standIn.records.filter((record) => record.name === name),
      );
    }
    if (request.method !== 'POST' || batch !== 'batch') return answer(405, null, [{ code: 10000, message: 'Method' }]);
    const { deletes = [], posts = [] } = JSON.parse(Buffer.concat(chunks).toString()) as {
      deletes?: { id: string }[];
      posts?: Omit<StoredRecord, 'id'>[];
    };
    const gone = new Set(deletes.map((one) => one.id));
    const next = standIn.records.filter((record) => !gone.has(record.id));
    for (const post of posts) {
      if (next.some(({ name, type }) => name === post.name && (type === 'CNAME') !== (post.type === 'CNAME'))) {
        return answer(400, null, [{ code: 81054, message: 'A CNAME record with that host already exists.' }]);
      }
      if (
        next.some(({ name, type, content }) => name === post.name && type === post.type && content === post.content)
      ) {
        return answer(400, null, [{ code: 81058, message: 'An identical record already exists.' }]);
      }
      next.push({ id: `r${++lastId}`, ...post });
    }
    standIn.records.splice(0, standIn.records.length, ...next);
    standIn.batches++;
    answer(200, { posts, deletes, patches: [], puts: [] });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(standIn, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
