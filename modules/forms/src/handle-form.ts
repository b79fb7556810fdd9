import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { ServerResponse } from 'node:http';
import {
  anonymizedNetwork,
  config,
  DomainError,
  invalid,
  logger,
  mediaTypeOf,
  parseJsonBody,
  RateLimited,
  RetryLater,
  unicodeDomain,
} from '@postroom/platform';
import { takeVisit } from '@postroom/projects';
import { escapeHtml } from '@postroom/templating';
import { answerInvalidLink, answerPage, answerProblem, rejectMethod } from '@postroom/unsubscribe';
import { confirm, linkState } from './confirm.ts';
import { CUSTOM_PREFIX } from './check-form.ts';
import { shownFields } from './forms.ts';
import { FORM_STYLE, formBody, HONEYPOT_FIELD, PAGE_TOKEN, type Values } from './page.ts';
import { findPublicForm, type PublicForm } from './public-form.ts';
import { submit, type SubmittedValues } from './submit.ts';
import { isPageToken, pageToken, readConfirmToken } from './token.ts';

/** A request to `/f/…` whose body has been read. */
export interface FormRequest {
  method: string;
  /** Without the query. */
  path: string;
  body: Buffer;
  contentType: string | undefined;
  accept: string | undefined;
  origin: string | undefined;
  /** The client's network address. */
  address: string;
}

/** Submissions from one network address: ten at once, then one every six seconds. */
const VISITOR_RATE = { ratePerSecond: 1 / 6, capacity: 10 };
/** Submissions of one form, by all its visitors: 100 at once, then ten per second. */
const FORM_RATE = { ratePerSecond: 10, capacity: 100 };

/**
 * Handles `/f/{form id}` and `/f/confirm/{token}`. Pages work without scripts. A GET changes nothing, since mail scanners follow
 * links: only the button of the page confirms.
 * @throws DomainError for clients that read JSON.
 */
export async function handleForm(request: FormRequest, response: ServerResponse): Promise<void> {
  try {
    await handle(request, response);
  } catch (error) {
    if (wantsJson(request)) throw error;
    answerProblem(response, error);
  }
}

async function handle(request: FormRequest, response: ServerResponse): Promise<void> {
  const { method, path } = request;
  const [, , first = '', token = ''] = path.split('/');
  const isConfirmation = first === 'confirm';
  const found = isConfirmation ? undefined : await findPublicForm(first);
  const form = found?.enabled === true ? found : undefined;
  if (form !== undefined) allowOrigin(form, request, response);
  if (method === 'OPTIONS' && form !== undefined)
    return void response.writeHead(204, { Allow: 'GET, HEAD, POST, OPTIONS' }).end();
  if (rejectMethod(method, response)) return;
  if (isConfirmation) return handleConfirmation(request, response, token);
  if (form === undefined) {
    if (wantsJson(request)) throw new DomainError('not_found', 'There is no such form, or it is disabled.');
    return answerPage(
      response,
      404,
      'This form is not available',
      '<p>It does not exist, or it has been disabled.</p>',
    );
  }
  if (method !== 'POST') return showForm(response, form);
  return handleSubmission(request, response, form);
}

/** Lets the scripts of a form's sites read responses (CORS). */
function allowOrigin({ allowedOrigins }: PublicForm, { origin }: FormRequest, response: ServerResponse): void {
  response.setHeader('Vary', 'Origin');
  if (origin === undefined || !allowedOrigins.includes(origin.toLowerCase())) return;
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Allow-Methods', 'POST');
  response.setHeader('Access-Control-Allow-Headers', 'Content-Type');
  response.setHeader('Access-Control-Max-Age', '600');
}

const isJson = ({ contentType }: FormRequest) => mediaTypeOf(contentType) === 'application/json';
const wantsJson = (request: FormRequest) => isJson(request) || request.accept?.includes('application/json') === true;

async function handleSubmission(request: FormRequest, response: ServerResponse, form: PublicForm): Promise<void> {
  const values = isJson(request) ? fromJson(request.body) : fromForm(request);
  await takeFromRates(form, request);
  const isFromSite = form.allowedOrigins.includes(request.origin?.toLowerCase() ?? '');
  if (isJson(request) && !isFromSite)
    throw new DomainError('forbidden', "JSON is accepted only from pages of the form's allowed origins.");
  const token = values[PAGE_TOKEN] ?? '';
  const validToken = isPageToken(form.id, token) ? token : undefined;
  if (!isFromSite && validToken === undefined)
    return showForm(response, form, {
      status: 400,
      values,
      problems: [{ field: '', message: 'Please check what you entered and press the button again.' }],
    });
  if ((values[HONEYPOT_FIELD] ?? '') === '') {
    try {
      await submit(form, submittedValuesOf(values), anonymizedNetwork(request.address));
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      if (error.code === 'forbidden') throw cannotSend(form, error);
      if (error.code !== 'validation_error' || wantsJson(request)) throw error;
      // Correcting a typo takes less time than filling in the form, so the page keeps its token.
      return showForm(response, form, { status: 400, values, problems: error.details, token: validToken });
    }
  }
  answerSubmitted(request, response, form, values['email'] ?? '');
}

/** Visitors are not told why a sender may not send. */
function cannotSend({ id, projectId }: PublicForm, error: DomainError): DomainError {
  logger.warn({ err: error, formId: id, projectId }, 'the sender of a form may not send');
  return new RetryLater(
    'timeout',
    'This form does not accept subscriptions at the moment. Please try again later.',
    600,
  );
}

/** @throws RateLimited */
async function takeFromRates(form: PublicForm, { address }: FormRequest): Promise<void> {
  const network = isIPv6(address) ? (anonymizedNetwork(address) ?? address) : address;
  const visitor = createHash('sha256').update(`${config.PUBLIC_URL} ${network}`).digest('base64url').slice(0, 22);
  const limits = [
    { id: visitor, ...VISITOR_RATE },
    { id: form.id, ...FORM_RATE },
  ];
  if (!(await takeVisit(limits))) throw new RateLimited('Too many submissions. Try again in a minute.', 60);
}

/** Reads a body in JSON as the values of a page. @throws DomainError `validation_error`. */
function fromJson(body: Buffer): Values {
  const given = parseJsonBody(body);
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new DomainError('validation_error', 'The body must be a JSON object.');
  const { custom_fields: customFields = {}, ...rest } = given as Record<string, unknown>;
  if (typeof customFields !== 'object' || customFields === null || Array.isArray(customFields))
    throw invalid({ field: 'custom_fields', message: 'must be an object' });
  const flat = {
    ...rest,
    ...Object.fromEntries(Object.entries(customFields).map(([key, value]) => [CUSTOM_PREFIX + key, value])),
  };
  const values: Record<string, string> = {};
  for (const [key, value] of Object.entries(flat)) {
    if (value === null || value === undefined || value === false) continue;
    if (!['string', 'number', 'boolean'].includes(typeof value))
      throw invalid({ field: key, message: 'must be a string, a number, true or false' });
    values[key] = String(value);
  }
  return values;
}

/** @throws DomainError `unsupported_media_type`, `validation_error`. */
function fromForm({ body, contentType }: FormRequest): Values {
  if (mediaTypeOf(contentType) !== 'application/x-www-form-urlencoded')
    throw new DomainError('unsupported_media_type', 'Submit a form (application/x-www-form-urlencoded) or JSON.');
  const values = Object.fromEntries(new URLSearchParams(body.toString('utf8')));
  // A page in another encoding would otherwise submit garbled names and addresses.
  for (const [field, value] of Object.entries(values)) {
    if (value.includes('\ufffd')) throw invalid({ field, message: 'must be valid UTF-8' });
  }
  return 'email' in values ? { ...values, email: typedAddress(values.email) } : values;
}

/** Browsers encode the domain in a field for an address; its owner, and the project, should read what was typed. */
function typedAddress(email: string): string {
  const address = email.trim();
  const domainAt = address.lastIndexOf('@') + 1;
  return address.slice(0, domainAt) + unicodeDomain(address.slice(domainAt));
}

function submittedValuesOf(values: Values): SubmittedValues {
  const custom = Object.entries(values).flatMap(([key, value]) =>
    key.startsWith(CUSTOM_PREFIX) ? [[key.slice(CUSTOM_PREFIX.length), value] as const] : [],
  );
  return {
    email: values['email'] ?? '',
    name: values['name'],
    customFields: Object.fromEntries(custom),
    consent: (values['consent'] ?? '') !== '',
  };
}

interface Shown {
  status?: number;
  values?: Values;
  problems?: readonly { field: string; message: string }[];
  token?: string | undefined;
}

async function showForm(
  response: ServerResponse,
  form: PublicForm,
  { status = 200, ...shown }: Shown = {},
): Promise<void> {
  const body = formBody(form, {
    ...shown,
    fields: await shownFields(form),
    token: shown.token ?? pageToken(form.id),
  });
  answerPage(response, status, escapeHtml(form.title), body, form.brand, options(form.submittedUrl));
}

/** Browsers check every redirect that follows a form against the policy of its page, including those of the other site. */
const options = (redirect: string | null) => ({
  style: FORM_STYLE,
  formTargets: redirect === null ? [] : ['https:', 'http:'],
});

/** The same for every address. */
function answerSubmitted(request: FormRequest, response: ServerResponse, form: PublicForm, email: string): void {
  if (wantsJson(request)) {
    const data = { status: form.doubleOptIn ? 'confirmation_sent' : 'subscribed', redirectUrl: form.submittedUrl };
    return answerText(response, 202, JSON.stringify({ data }));
  }
  if (form.submittedUrl !== null) return redirectTo(response, form.submittedUrl);
  const sender = escapeHtml(form.brand.sender);
  if (!form.doubleOptIn)
    return answerPage(response, 200, 'Thank you', `<p>${sender} has received your subscription.</p>`, form.brand);
  const text = `<p>We have sent an email to <b>${escapeHtml(email.trim())}</b>. Please open the link in it to confirm that ${sender} may write to you.</p>
<p>If it does not arrive within a few minutes, look in your spam folder.</p>`;
  answerPage(response, 200, 'Please check your inbox', text, form.brand);
}

async function handleConfirmation(request: FormRequest, response: ServerResponse, token: string): Promise<void> {
  const id = readConfirmToken(token);
  const found = id === undefined ? undefined : await linkState(id);
  const form = found === undefined ? undefined : await findPublicForm(found.formId);
  if (id === undefined) return answerInvalidLink(response);
  if (found === undefined || form === undefined)
    return answerPage(response, 410, 'This link has expired', '<p>Please fill in the form again.</p>');
  const state = request.method === 'POST' ? await confirm(id, anonymizedNetwork(request.address)) : found.state;
  const [sender, email] = [escapeHtml(form.brand.sender), `<b>${escapeHtml(found.email)}</b>`];
  if (state === 'confirmed') {
    if (request.method === 'POST' && form.confirmedUrl !== null) return redirectTo(response, form.confirmedUrl);
    return answerPage(response, 200, 'You are subscribed', `<p>${sender} will send email to ${email}.</p>`, form.brand);
  }
  if (state === 'blocked')
    return answerPage(
      response,
      409,
      'This address cannot be subscribed',
      `<p>Email to ${email} bounced, was reported as spam, or was stopped on request. Please contact ${sender}.</p>`,
      form.brand,
    );
  if (state === 'expired' || state === 'used') {
    const [title, text] =
      state === 'expired'
        ? ['This link has expired', 'It was valid for seven days.']
        : ['This link has been used', `${email} is no longer subscribed.`];
    const link = form.enabled ? `<p><a href="/f/${form.id}">Fill in the form again</a></p>` : '';
    return answerPage(response, 410, title, `<p>${text}</p>${link}`, form.brand, options(null));
  }
  const agreed = found.consentText === null ? '' : `<p class="description">${escapeHtml(found.consentText)}</p>`;
  const body = `<p>May ${sender} send email to ${email}?</p>${agreed}<form method="post"><button>Confirm subscription</button></form>`;
  answerPage(response, 200, 'Confirm your subscription', body, form.brand, options(form.confirmedUrl));
}

function redirectTo(response: ServerResponse, url: string): void {
  response.writeHead(303, {
    // In ASCII and without line breaks, whatever is stored.
    Location: new URL(url).href,
    'Content-Length': 0,
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
  });
  response.end();
}

function answerText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}
