import { addLocalDomain } from '@postroom/domains';
import { config, parseNetworks, pool } from '@postroom/platform';
import { type Api, testApi } from '@postroom/testkit';
import { expect } from 'vitest';
import { PAGE_TOKEN } from '../src/page.ts';
import { pageToken } from '../src/token.ts';

/** Lets tests say where a request comes from, since visitors share a rate limit by address. */
export function trustTests(): void {
  Object.assign(config, { TRUSTED_PROXIES: parseNetworks('127.0.0.1') });
}

let lastVisitor = 0;
/** The address of a new visitor. */
export const newVisitor = () => `198.51.${Math.floor(++lastVisitor / 250)}.${lastVisitor % 250}`;

/** A project that may send. */
export async function formsProject(): Promise<Api> {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  return api;
}

/** Creates a form with double opt-in and returns its id. */
export async function newForm(api: Api, settings: object = {}): Promise<string> {
  const reply = await api.post('/v1/forms', { name: 'Newsletter', from: 'Acme <news@example.com>', ...settings });
  expect(reply.status, JSON.stringify(reply.body)).toBe(201);
  return reply.body.data.id;
}

/** A token of a page that was shown a while ago. */
const oldPage = (formId: string) => pageToken(formId, Date.now() - 10_000);

/** Submits a form as its page does, from a new address unless one is given. */
export function submitPage(
  api: Api,
  formId: string,
  values: Record<string, string>,
  headers: Record<string, string> = {},
) {
  return fetch(`${api.url}/f/${formId}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'X-Forwarded-For': newVisitor(), ...headers },
    body: new URLSearchParams({ [PAGE_TOKEN]: oldPage(formId), ...values }),
  });
}

/** The transactional emails of a project, oldest first. */
export async function mails(api: Api) {
  const { rows } = await pool.query<{
    id: string;
    email: string;
    subject: string;
    state: string;
    suppressed: boolean;
    scheduled: boolean;
    text: string;
    html: string;
  }>(
    `SELECT m.id, m.email, m.subject, m.state::text, m.state = 'suppressed' AS suppressed, c.scheduled_at IS NOT NULL AS scheduled, c.text, c.html FROM messages m
       JOIN message_contents c ON c.message_id = m.id WHERE m.project_id = $1 ORDER BY m.id`,
    [api.projectId],
  );
  return rows;
}

/** The link to confirm in the latest email that is not a reminder, at the test gateway. */
export async function linkOf(api: Api): Promise<string> {
  const sent = (await mails(api)).filter(({ scheduled }) => !scheduled).at(-1);
  const path = /\/f\/confirm\/[\w-]+/.exec(`${sent?.text} ${sent?.html}`)?.[0];
  expect(path, JSON.stringify(sent)).toBeDefined();
  return api.url + path;
}

export const confirmLink = (link: string) => fetch(link, { method: 'POST', redirect: 'manual' });

/** The contact with an address, if there is one. */
export async function contactOf(api: Api, email: string) {
  const { body } = await api.get(`/v1/contacts?email=${encodeURIComponent(email)}`);
  return body.data[0];
}

/** As if the last submissions and emails had been so long ago. */
export const age = (formId: string, interval: string) =>
  pool.query(
    `UPDATE form_submissions SET submitted_at = ARRAY(SELECT at - $2::interval FROM unnest(submitted_at) AS at),
       expires_at = expires_at - $2::interval, reminder_at = reminder_at - $2::interval WHERE form_id = $1`,
    [formId, interval],
  );
