import { type Api, eventually } from '@postroom/testkit';
import { expect } from 'vitest';

/** An import as `/v1` returns it. */
export interface Shown {
  id: string;
  status: string;
  progress: number;
  counts: Record<
    'rows' | 'created' | 'updated' | 'unchanged' | 'duplicates' | 'suppressed' | 'invalid' | 'incomplete',
    number
  >;
  error: string | null;
  groupId: string | null;
  fileExpiresAt: string | null;
  executedAsId: string | null;
  encoding: string | null;
  separator: string | null;
  columns: { name: string; fields: string[]; type: string | null; isNew: boolean }[];
}

type File = string | Uint8Array<ArrayBuffer>;

const headersOf = (api: Api) => ({ Authorization: `Bearer ${api.key}` });

/** Uploads a file as a browser form does. */
export async function upload(api: Api, file: File, options: object = {}, headers: Record<string, string> = {}) {
  const form = new FormData();
  form.set('file', new Blob([file]), 'people.csv');
  form.set('options', JSON.stringify(options));
  const response = await fetch(`${api.url}/v1/imports`, {
    method: 'POST',
    headers: { ...headersOf(api), ...headers },
    body: form,
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- Tests check the shape.
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

/** Imports a file, and returns the import when it has ended. */
export async function importFile(api: Api, file: File, options: object = {}): Promise<Shown> {
  const { status, body } = await upload(api, file, options);
  expect([status, body.error]).toEqual([202, undefined]);
  return ended(api, body.data.id);
}

export async function ended(api: Api, id: string): Promise<Shown> {
  return eventually(async () => {
    const { data } = (await api.get(`/v1/imports/${id}`)).body as { data: Shown };
    expect(['completed', 'failed', 'canceled']).toContain(data.status);
    return data;
  }, 60_000);
}

/** Downloads a file from `/v1` as text. */
export async function download(api: Api, path: string): Promise<string> {
  const response = await fetch(api.url + path, { headers: headersOf(api) });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  return response.text();
}

/** The row errors as `line field message`. */
export async function errorsOf(api: Api, id: string): Promise<string[]> {
  const [header, ...lines] = (await download(api, `/v1/imports/${id}/errors`)).trimEnd().split('\r\n');
  expect(header).toBe('line,field,message');
  return lines.map((line) => line.replace(/^(\d+),([^,]+),"?(.*?)"?$/, '$1 $2 $3'));
}

/** The project's contacts ordered by address: address, name and custom fields. */
export async function contactsOf(api: Api): Promise<[string, string, object][]> {
  const { body } = await api.get('/v1/contacts?limit=1000');
  const contacts = body.data as { email: string; name: string; customFields: object }[];
  return contacts
    .map(({ email, name, customFields }): [string, string, object] => [email, name, customFields])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
