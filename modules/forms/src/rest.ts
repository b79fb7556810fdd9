import { created, deletes, found, gql, page, PAGE, PAGE_ARGS, type Route } from '@postroom/platform';

const tag = 'Forms';
const FORM = `id name title description groupIds fields { key label required } consentText doubleOptIn from replyTo subject templateId
  reminderAfterHours submittedUrl confirmedUrl allowedOrigins enabled url version createdAt updatedAt`;
const DETAIL = `${FORM} embedHtml submissionCounts { pending blocked confirmed }`;
const SUBMISSION = `id formId email name customFields status blocked consentText submittedAt submittedFrom expiresAt confirmedAt confirmedFrom
  messageId contactId`;

export const routes: Route[] = [
  {
    method: 'POST',
    path: '/v1/forms',
    needs: 'full',
    tag,
    summary: 'Create a form',
    document: gql`mutation ($input: CreateFormInput!) { createForm(input: $input) { ${FORM} } }`,
    reply: created('createForm'),
    example: {
      name: 'Newsletter',
      title: 'Subscribe to our newsletter',
      fields: [{ key: 'name', required: false }],
      consent_text: 'I agree to receive the newsletter and can unsubscribe at any time.',
      from: 'Ada <ada@example.com>',
      reminder_after_hours: 24,
    },
  },
  {
    method: 'GET',
    path: '/v1/forms',
    needs: 'full',
    tag,
    summary: 'List forms, newest first',
    document: gql`query (${PAGE_ARGS}, $search: String) {
      forms(first: $limit, after: $cursor, search: $search) { nodes { ${FORM} } ${PAGE} }
    }`,
    reply: page('forms'),
  },
  {
    method: 'GET',
    path: '/v1/forms/{id}',
    needs: 'full',
    tag,
    summary: 'Retrieve a form, its HTML for other sites and its number of submissions',
    document: gql`query ($id: ID!) { form(id: $id) { ${DETAIL} } }`,
    reply: found('form'),
  },
  {
    method: 'PATCH',
    path: '/v1/forms/{id}',
    needs: 'full',
    tag,
    summary: 'Change a form',
    document: gql`mutation ($id: ID!, $input: UpdateFormInput!) { updateForm(id: $id, input: $input) { ${FORM} } }`,
    reply: found('updateForm'),
    example: { enabled: false },
  },
  {
    method: 'DELETE',
    path: '/v1/forms/{id}',
    needs: 'full',
    tag,
    summary: 'Delete a form with its submissions',
    ...deletes('deleteForm', 'formDelete'),
  },
  {
    method: 'GET',
    path: '/v1/forms/{id}/submissions',
    needs: 'full',
    tag,
    summary: 'List the submissions of a form, newest first',
    document: gql`query ($id: ID!, ${PAGE_ARGS}, $status: FormSubmissionStatus, $email: String) {
      formSubmissions(formId: $id, first: $limit, after: $cursor, status: $status, email: $email) {
        nodes { ${SUBMISSION} } ${PAGE}
      }
    }`,
    reply: page('formSubmissions'),
  },
];
