import { accepted, found, gql, page, PAGE, PAGE_ARGS, type Route } from '@postroom/platform';

const tag = 'Emails';

/** Allows for attachments in base64. */
const MAX_BODY_BYTES = 40 * 1024 * 1024;

const FIELDS = `id status from to cc bcc replyTo subject tags metadata campaignId contactId answer scheduledAt createdAt workflowId workflowUrl`;
const DETAIL = `${FIELDS} html text headers attachments { filename contentType contentId }
  recipients { email status answer } events { type at detail }`;

export const routes: Route[] = [
  {
    method: 'POST',
    path: '/v1/emails',
    needs: 'sending',
    tag,
    summary: 'Send a transactional email',
    document: gql`
      mutation ($input: SendEmailInput!) {
        sendEmail(input: $input) {
          id: messageId
          status
        }
      }
    `,
    reply: accepted('sendEmail'),
    commitsResponse: true,
    maxBodyBytes: MAX_BODY_BYTES,
    sharesStatements: true,
    example: {
      from: 'Acme <hello@example.com>',
      to: ['ada@example.com'],
      subject: 'Your receipt',
      html: '<p>Thank you, Ada.</p>',
      metadata: { order: '1843' },
    },
  },
  {
    method: 'POST',
    path: '/v1/emails/batch',
    needs: 'full',
    tag,
    summary: 'Send up to 100 transactional emails, all or none',
    document: gql`
      mutation ($input: SendEmailsInput!) {
        sendEmails(input: $input) {
          id: messageId
          status
        }
      }
    `,
    reply: accepted('sendEmails'),
    commitsResponse: true,
    maxBodyBytes: MAX_BODY_BYTES,
    example: {
      emails: [
        { from: 'hello@example.com', to: ['ada@example.com'], subject: 'Your receipt', text: 'Thank you, Ada.' },
        { from: 'hello@example.com', to: ['alan@example.com'], subject: 'Your receipt', text: 'Thank you, Alan.' },
      ],
    },
  },
  {
    method: 'GET',
    path: '/v1/emails',
    needs: 'full',
    tag,
    summary: 'List transactional emails, the messages of a campaign, or all with an outcome, newest first',
    document: gql`query (${PAGE_ARGS}, $status: EmailStatus, $to: String, $tag: String, $campaignId: ID,
      $createdAfter: DateTime, $createdBefore: DateTime, $outcome: EmailOutcome, $since: DateTime, $until: DateTime) {
      emails(first: $limit, after: $cursor, status: $status, to: $to, tag: $tag, campaignId: $campaignId,
        createdAfter: $createdAfter, createdBefore: $createdBefore, outcome: $outcome, since: $since, until: $until) {
        nodes { ${FIELDS} }
        ${PAGE}
      }
    }`,
    reply: page('emails'),
    errors: ['not_found'],
  },
  {
    method: 'GET',
    path: '/v1/emails/{id}',
    needs: 'full',
    tag,
    summary: 'Retrieve an email and its history',
    document: gql`query ($id: ID!) { email(id: $id) { ${DETAIL} } }`,
    reply: found('email'),
  },
  {
    method: 'PATCH',
    path: '/v1/emails/{id}',
    needs: 'full',
    tag,
    summary: 'Reschedule a scheduled email',
    document: gql`mutation ($id: ID!, $input: RescheduleEmailInput!) { rescheduleEmail(id: $id, input: $input) { ${DETAIL} } }`,
    reply: found('rescheduleEmail'),
    example: { scheduled_at: '2026-12-01T08:00:00Z' },
  },
  {
    method: 'POST',
    path: '/v1/emails/{id}/cancel',
    needs: 'full',
    tag,
    summary: 'Cancel the unsent messages of an email',
    document: gql`mutation ($id: ID!) { cancelEmail(id: $id) { ${DETAIL} } }`,
    reply: found('cancelEmail'),
  },
];
