import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const rows = [...read('docs/reference/limits.md').matchAll(/^\| (.+?) \| ([\d,]+)/gm)].map(
  ([, limit = '', value = '']) => [limit, Number(value.replaceAll(',', ''))] as const,
);

/**
 * Where the code defines each limit of the page, by the start of its row: a file, and a constant in it or the text
 * around the number.
 */
const SOURCES: [row: string, file: string, source: string | RegExp][] = [
  ['Requests per second', 'packages/settings/src/settings.ts', /RATE_LIMIT_PER_SECOND: .*\.default\((\d+)\)/],
  ['Body of a request', 'apps/gateway/src/rest/facade.ts', 'MAX_BODY_BYTES'],
  ['Body of `POST /v1/emails`', 'modules/emails/src/rest.ts', 'MAX_BODY_BYTES'],
  ['Rows on a page (`limit`', 'modules/platform/src/pages.ts', 'MAX_PAGE_SIZE'],
  ['Rows on a page unless', 'modules/platform/src/pages.ts', 'DEFAULT_PAGE_SIZE'],
  ['Rows that a total counts', 'modules/platform/src/pages.ts', 'MAX_TOTAL'],
  ['Length of an `Idempotency-Key`', 'apps/gateway/src/rest/idempotency.ts', /\{1,(\d+)\}\$/],
  ['Length of an `X-Request-Id`', 'apps/gateway/src/rest/facade.ts', 'MAX_REQUEST_ID_LENGTH'],
  ['Length of a string in a query', 'apps/gateway/src/rest/request.ts', 'MAX_QUERY_TEXT_LENGTH'],
  ['Length of an object in a query', 'apps/gateway/src/rest/request.ts', 'MAX_QUERY_OBJECT_LENGTH'],
  ['Length of the name of an API key', 'packages/errors/src/text-problems.ts', 'MAX_NAME_LENGTH'],
  ['API keys of a project', 'modules/projects/src/api-keys.ts', 'MAX_KEYS'],
  ['Members of a project', 'modules/auth/src/invitations.ts', 'MAX_MEMBERS'],
  ['Projects that a user owns', 'modules/auth/src/own-projects.ts', 'MAX_OWN_PROJECTS'],
  ['Groups of a project', 'modules/groups/src/groups.ts', 'MAX_GROUPS'],
  ['Templates of a project', 'modules/templates/src/templates.ts', 'MAX_TEMPLATES'],
  ['Campaigns of a project that are drafts', 'modules/campaigns/src/campaigns.ts', 'MAX_DRAFTS'],
  ['Scheduled campaigns', 'modules/campaigns/src/sending.ts', 'MAX_SCHEDULED'],
  ['Sending domains', 'modules/domains/src/domains.ts', 'MAX_DOMAINS'],
  ['Mailbox accounts', 'modules/transports/src/mailboxes/mailboxes.ts', 'MAX_MAILBOXES'],
  ['Depth of a JSON value', 'modules/platform/src/scalars.ts', 'MAX_JSON_DEPTH'],
  ['Tokens in a document', 'apps/gateway/src/limits.ts', /tokens: ([\d_]+)/],
  ['Levels in a document', 'apps/gateway/src/limits.ts', /depth: ([\d_]+)/],
  ['Aliases in a document', 'apps/gateway/src/limits.ts', /aliases: ([\d_]+)/],
  ['Directives in a document', 'apps/gateway/src/limits.ts', /directives: ([\d_]+)/],
  ['Cost of a document', 'modules/platform/src/builder.ts', /limit: \{ complexity: ([\d_]+)/],
  ['Ids in `nodes(ids:)`', 'modules/platform/src/nodes.ts', 'MAX_NODES'],
  ['Operations on one single-connection', 'apps/gateway/src/streams/streams.ts', 'MAX_OPERATIONS'],
  ['Length of an email address', 'packages/email-address/src/index.ts', 'MAX_EMAIL_LENGTH'],
  ["Length of a contact's name", 'packages/errors/src/text-problems.ts', 'MAX_NAME_LENGTH'],
  ['Contacts in `POST /v1/contacts/batch`', 'modules/contacts/src/contact-batch.ts', 'MAX_BATCH_ROWS'],
  ['Body of `POST /v1/events`', 'modules/custom-events/src/rest.ts', 'MAX_BODY_BYTES'],
  ['Events in `POST /v1/events`', 'modules/custom-events/src/track.ts', 'MAX_EVENTS'],
  ["Length of an event's name", 'packages/errors/src/text-problems.ts', 'MAX_EVENT_NAME_LENGTH'],
  ["Length of an event's own id", 'modules/custom-events/src/check-event.ts', 'MAX_EVENT_KEY_LENGTH'],
  ['Days that an event may be late', 'modules/custom-events/src/check-event.ts', 'LATE_DAYS'],
  ['Minutes that an event may be ahead', 'modules/custom-events/src/check-event.ts', 'FUTURE_MINUTES'],
  ["Size of an event's properties", 'modules/custom-events/src/properties.ts', 'MAX_PROPERTIES_BYTES'],
  ["Values in an event's properties", 'modules/custom-events/src/properties.ts', 'MAX_PROPERTY_VALUES'],
  ["Levels of an event's properties", 'modules/custom-events/src/properties.ts', 'MAX_PROPERTY_DEPTH'],
  ["Length of a property's key", 'modules/custom-events/src/properties.ts', 'MAX_PROPERTY_KEY_LENGTH'],
  ['Event names of a project', 'modules/custom-events/src/event-schema.ts', 'MAX_EVENT_NAMES'],
  ['Properties recorded of an event name', 'modules/custom-events/src/event-schema.ts', 'MAX_PROPERTIES'],
  ["Length of an event definition's description", 'modules/custom-events/src/definitions.ts', 'MAX_DESCRIPTION_LENGTH'],
  ["Length of a property's default", 'modules/custom-events/src/definitions.ts', 'MAX_DEFAULT_LENGTH'],
  [
    'Days that custom events are kept',
    'packages/settings/src/settings.ts',
    /CUSTOM_EVENT_RETENTION_DAYS: [^;]*?\.default\((\d+)\)/,
  ],
  ['Custom fields of a project', 'modules/contacts/src/custom-fields.ts', 'MAX_FIELDS'],
  ['Options of a custom field', 'modules/contacts/src/custom-fields.ts', 'MAX_OPTIONS'],
  ['Length of a text value', 'packages/custom-fields/src/index.ts', 'MAX_TEXT_LENGTH'],
  ["Length of a group's name", 'packages/errors/src/text-problems.ts', 'MAX_NAME_LENGTH'],
  ['Members of a group', 'modules/groups/src/groups.ts', /A group must have at least (one) member/],
  ['Segments of a project', 'modules/contacts/src/segments.ts', 'MAX_SEGMENTS'],
  ["Length of a segment's name", 'packages/errors/src/text-problems.ts', 'MAX_NAME_LENGTH'],
  ['Levels of a segment', 'modules/contacts/src/segment-filter.ts', 'MAX_DEPTH'],
  ['Conditions of a segment', 'modules/contacts/src/segment-filter.ts', 'MAX_CONDITIONS'],
  ['Conditions on events of a segment', 'modules/contacts/src/segment-filter.ts', 'MAX_EVENT_CONDITIONS'],
  ['Conditions on properties of one', 'modules/custom-events/src/sql.ts', 'MAX_WHERE'],
  ['Times an event must', 'modules/custom-events/src/sql.ts', 'MAX_TIMES'],
  ['Values in a list', 'modules/contacts/src/segment-filter.ts', 'MAX_LIST'],
  ['Length of a text in a condition', 'modules/contacts/src/segment-filter.ts', 'MAX_TEXT'],
  ["Size of a project's logo", 'modules/projects/src/logo.ts', 'MAX_LOGO_BYTES'],
  ['Size of a file', 'modules/imports/src/imports.ts', 'MAX_FILE_BYTES'],
  ['Size of one part', 'modules/imports/src/imports.ts', 'MAX_PART_BYTES'],
  ['Lines of a file', 'modules/imports/src/file.ts', 'MAX_LINES'],
  ['Length of one row', 'packages/csv/src/records.ts', 'MAX_RECORD_LENGTH'],
  ['Addresses in `to`', 'modules/emails/src/email-input.ts', 'MAX_RECIPIENTS'],
  ['Emails in `POST /v1/emails/batch`', 'modules/emails/src/emails.ts', 'MAX_BATCH'],
  [
    'Length of the subject, before and after its placeholders are filled in',
    'packages/templating/src/render.ts',
    'MAX_SUBJECT_LENGTH',
  ],
  ['Length of an address with', 'modules/platform/src/limits.ts', 'MAX_MAILBOX_LENGTH'],
  ['Length of `html`', 'modules/emails/src/fill-content.ts', 'MAX_TEXT_LENGTH'],
  ['Attachments', 'modules/emails/src/email-input.ts', 'MAX_ATTACHMENTS'],
  ['Length of a filename', 'modules/emails/src/email-input.ts', 'MAX_FILENAME_LENGTH'],
  ['Length of a content type', 'modules/emails/src/email-input.ts', 'MAX_CONTENT_TYPE_LENGTH'],
  ['Headers added', 'modules/emails/src/email-input.ts', /names\.length > (\d+)/],
  ['Length of the name of such a header', 'packages/mime/src/headers.ts', /\{1,(\d+)\}\$\/\.test\(name\)/],
  ['Length of its value', 'packages/mime/src/headers.ts', 'MAX_HEADER_LENGTH'],
  [
    'Tags',
    'modules/emails/src/email-input.ts',
    /given\.length > (\d+)\) problems\.add\(path, 'must be at most \d+ tags/,
  ],
  ['Length of a tag', 'modules/platform/src/limits.ts', 'MAX_TAG_LENGTH'],
  ['Size of `metadata`', 'modules/emails/src/email-input.ts', 'MAX_METADATA_LENGTH'],
  ['Days ahead', 'modules/emails/src/email-input.ts', 'MAX_SCHEDULE_DAYS'],
  ["Length of a template's HTML", 'modules/templates/src/check-body.ts', /html: ([\d_]+), mjml/],
  ["Length of a template's MJML", 'modules/templates/src/check-body.ts', /mjml: ([\d_]+) \}/],
  ["Length of a campaign's body", 'modules/campaigns/src/campaigns.ts', 'MAX_BODY_LENGTH'],
  ['Groups of a campaign', 'modules/campaigns/src/campaigns.ts', 'MAX_AUDIENCE'],
  ["Length of a campaign's preview text", 'modules/campaigns/src/campaigns.ts', 'MAX_PREVIEW_LENGTH'],
  ['Length of a UTM parameter', 'modules/campaigns/src/campaigns.ts', 'MAX_UTM_LENGTH'],
  ["Length of a project's postal address", 'modules/projects/src/projects.ts', 'MAX_POSTAL_ADDRESS_LENGTH'],
  ['Messages per second of a campaign', 'modules/campaigns/src/campaigns.ts', 'MAX_RATE'],
  ['Recipient ids', 'modules/campaigns/src/requeue.ts', 'MAX_IDS'],
  ['Mail providers', 'modules/transports/src/providers.ts', 'MAX_PROVIDERS'],
  ['Days of a warm-up', 'modules/domains/src/warmup.ts', 'MAX_STEPS'],
  ["Length of an endpoint's URL", 'modules/webhooks/src/endpoints.ts', 'MAX_URL_LENGTH'],
  ["Length of an endpoint's description", 'modules/webhooks/src/endpoints.ts', 'MAX_DESCRIPTION_LENGTH'],
  ['Entries in `POST /v1/suppressions/batch`', 'modules/contacts/src/suppression-batch.ts', 'MAX_SUPPRESSION_BATCH'],
  ['Running bulk operations', 'modules/bulk/src/operations.ts', 'MAX_RUNNING'],
  ['Days of a backtest', 'modules/backtests/src/backtests.ts', 'MAX_DAYS'],
  ['Running backtests', 'modules/backtests/src/backtests.ts', 'MAX_RUNNING'],
  ['Backtests of a project', 'modules/backtests/src/backtests.ts', 'MAX_KEPT'],
  ['Contacts listed by a backtest', 'modules/backtests/src/run.ts', 'MAX_LISTED'],
  ['Events of a contact that a backtest', 'modules/backtests/src/facts.ts', 'MAX_EVENTS'],
  ['Contact ids in the filter', 'modules/contacts/src/contact-list.ts', 'MAX_FILTER_IDS'],
  ['Saved views', 'modules/contacts/src/contact-views.ts', 'MAX_VIEWS'],
  ["Length of a saved view's", 'modules/contacts/src/contact-views.ts', 'MAX_SEARCH_LENGTH'],
  ["Length of a custom field's key", 'modules/contacts/src/graphql/custom-fields.ts', 'MAX_KEY_LENGTH'],
  ['Unfinished imports', 'packages/settings/src/settings.ts', /IMPORTS_PER_PROJECT: \w+\.default\((\d+)\)/],
  ['Addresses in `reply_to`', 'modules/emails/src/email-input.ts', 'MAX_REPLY_TO'],
  ['Recipients in a group created', 'modules/recipients/src/group.ts', 'MAX_GROUPED'],
  ['Addresses that a test', 'modules/campaigns/src/test-send.ts', 'MAX_TESTS'],
  ['Placeholders and tags in a body', 'packages/templating/src/template.ts', 'MAX_SLOTS'],
  ['Nesting of conditions and loops', 'packages/templating/src/template.ts', 'MAX_BLOCK_DEPTH'],
  ['Values, filters and comparisons in one tag', 'packages/templating/src/expression.ts', 'MAX_OPERATIONS'],
  ['Steps of rendering a campaign', 'packages/templating/src/render.ts', 'MAX_MESSAGE_WORK'],
  ['Steps of one rendering', 'packages/templating/src/scope.ts', 'MAX_WORK'],
  ['Elements in a body', 'packages/templating/src/html-limits.ts', 'MAX_HTML_ELEMENTS'],
  ['Levels of elements', 'packages/templating/src/html-limits.ts', 'MAX_HTML_DEPTH'],
  ['Endpoints of a project', 'modules/webhooks/src/endpoints.ts', 'MAX_ENDPOINTS'],
  ['Messages per minute', 'modules/transports/src/mailboxes/mailboxes.ts', 'MAX_PER_MINUTE'],
  ['Messages per day', 'modules/transports/src/mailboxes/mailboxes.ts', 'MAX_PER_DAY'],
  ['Attempts of a delivery', 'modules/webhooks/src/policy.ts', /\bmax: (\d+)/],
  [
    'Concurrent requests to an endpoint, over all workers',
    'packages/settings/src/settings.ts',
    /WEBHOOK_REQUESTS_PER_ENDPOINT: [^;]*?\.default\((\d+)\)/,
  ],
  ['Concurrent requests to an endpoint after', 'modules/webhooks/src/policy.ts', /maxConcurrentDegraded: (\d+)/],
  ['Bytes of a response', 'modules/webhooks/src/policy.ts', /responseBytes: ([\d_]+)/],
  ['Days that events are kept', 'packages/settings/src/settings.ts', /\bRETENTION_DAYS: \w+\s*\.default\((\d+)\)/],
];

test.each(rows)('docs/reference/limits.md: %s is %i in the code', (limit, value) => {
  const sources = SOURCES.filter(([row]) => limit.startsWith(row));
  expect(sources).toHaveLength(1);
  const [[, file, source]] = sources as [(typeof SOURCES)[number]];
  const pattern = typeof source === 'string' ? new RegExp(`const ${source} = ([\\d_* ]+);`) : source;
  expect(valueOf(pattern.exec(read(file))?.[1])).toBe(value);
});

test('every limit of this test is on the page', () => {
  expect(rows).toHaveLength(SOURCES.length);
});

/** Parses `4 * 1024 * 1024`, `5_000_000` or `one`. */
function valueOf(text: string | undefined): number | undefined {
  if (text === 'one') return 1;
  return text
    ?.split('*')
    .map((factor) => Number(factor.trim().replaceAll('_', '')))
    .reduce((product, factor) => product * factor, 1);
}
