import { created, deletes, found, gql, page, PAGE, PAGE_ARGS, restPath, type Route } from '@postroom/platform';

const CONTACT =
  'id email name hasName source segments { id: segmentId name } suppressionStatus customFields createdAt updatedAt';
const CUSTOM_FIELD = 'id key label type options createdAt';
const SUPPRESSION = 'id email reason origin addedById createdAt';
const SEGMENT = 'id name filter problems { field message } version editedById editedByName createdAt updatedAt';

const contacts: Route[] = [
  {
    method: 'GET',
    path: '/v1/contacts',
    needs: 'full',
    tag: 'Contacts',
    summary: 'List contacts, newest first',
    document: gql`query (
      ${PAGE_ARGS}, $email: String, $search: String, $groupId: ID, $segmentId: ID, $suppressed: Boolean,
      $source: ContactSource, $createdAfter: DateTime, $createdBefore: DateTime, $where: JSON, $sort: ContactSort
    ) {
      contacts(
        first: $limit, after: $cursor, email: $email, search: $search, groupId: $groupId, segmentId: $segmentId, suppressed: $suppressed,
        source: $source, createdAfter: $createdAfter, createdBefore: $createdBefore, where: $where, sort: $sort
      ) {
        nodes { ${CONTACT} }
        ${PAGE}
      }
    }`,
    reply: page('contacts'),
    errors: ['not_found'],
  },
  {
    method: 'POST',
    path: '/v1/contacts',
    needs: 'full',
    tag: 'Contacts',
    summary: 'Create a contact, or return the one with the address',
    document: gql`mutation ($input: CreateContactInput!) { createContact(input: $input) { created contact { ${CONTACT} } } }`,
    reply: found('createContact.contact', { createdIf: 'createContact.created' }),
    example: { email: 'ada@example.com', name: 'Ada Lovelace', custom_fields: { plan: 'pro' } },
  },
  {
    method: 'POST',
    path: '/v1/contacts/batch',
    needs: 'full',
    tag: 'Contacts',
    summary: 'Create up to 1,000 contacts, each with its own result',
    document: gql`
      mutation ($input: CreateContactsBatchInput!) {
        createContacts(input: $input) {
          index
          status
          id: contactId
          error {
            field
            message
          }
        }
      }
    `,
    // `/v1` requests use snake_case, so the field names in a batch's errors do too.
    reply: found('createContacts', { omitNull: ['error'], problems: { error: restPath } }),
    example: {
      contacts: [{ email: 'ada@example.com', name: 'Ada Lovelace' }, { email: 'grace@example.com' }],
      on_conflict: 'update',
    },
  },
  {
    method: 'GET',
    path: '/v1/contacts/{id}',
    needs: 'full',
    tag: 'Contacts',
    summary: 'Retrieve a contact',
    document: gql`query ($id: ID!) { contact(id: $id) { ${CONTACT} } }`,
    reply: found('contact'),
  },
  {
    method: 'PATCH',
    path: '/v1/contacts/{id}',
    needs: 'full',
    tag: 'Contacts',
    summary: 'Update, unsubscribe or resubscribe a contact',
    document: gql`mutation ($id: ID!, $input: UpdateContactInput!) { updateContact(id: $id, input: $input) { ${CONTACT} } }`,
    reply: found('updateContact'),
    example: { name: 'Ada King', subscribed: false },
  },
  {
    method: 'DELETE',
    path: '/v1/contacts/{id}',
    needs: 'full',
    tag: 'Contacts',
    summary: 'Delete a contact permanently',
    ...deletes('deleteContact', 'contactDelete'),
  },
];

const customFields: Route[] = [
  {
    method: 'GET',
    path: '/v1/custom-fields',
    needs: 'full',
    tag: 'Custom fields',
    summary: 'List the custom-field schema, newest field first',
    document: gql`query (${PAGE_ARGS}) {
      customFields(first: $limit, after: $cursor) { nodes { ${CUSTOM_FIELD} } ${PAGE} }
    }`,
    reply: page('customFields'),
  },
  {
    method: 'POST',
    path: '/v1/custom-fields',
    needs: 'full',
    tag: 'Custom fields',
    summary: 'Add a custom field',
    document: gql`mutation ($input: CreateCustomFieldInput!) { createCustomField(input: $input) { ${CUSTOM_FIELD} } }`,
    reply: created('createCustomField'),
    example: { key: 'plan', label: 'Plan', type: 'select', options: ['free', 'pro'] },
  },
  {
    method: 'GET',
    path: '/v1/custom-fields/{id}',
    needs: 'full',
    tag: 'Custom fields',
    summary: 'Retrieve a custom field',
    document: gql`query ($id: ID!) { customField(id: $id) { ${CUSTOM_FIELD} } }`,
    reply: found('customField'),
  },
  {
    method: 'PATCH',
    path: '/v1/custom-fields/{id}',
    needs: 'full',
    tag: 'Custom fields',
    summary: 'Change the label or the options of a custom field',
    document: gql`mutation ($id: ID!, $input: UpdateCustomFieldInput!) { updateCustomField(id: $id, input: $input) { ${CUSTOM_FIELD} } }`,
    reply: found('updateCustomField'),
    example: { label: 'Subscription plan', options: ['free', 'pro', 'enterprise'] },
  },
  {
    method: 'DELETE',
    path: '/v1/custom-fields/{id}',
    needs: 'full',
    tag: 'Custom fields',
    summary: 'Remove a custom field and its values',
    ...deletes('deleteCustomField', 'customFieldDelete'),
    errors: ['conflict'],
  },
];

const suppressions: Route[] = [
  {
    method: 'GET',
    path: '/v1/suppressions',
    needs: 'full',
    tag: 'Suppressions',
    summary: 'List suppressions, newest first',
    document: gql`query (${PAGE_ARGS}, $email: String, $reason: SuppressionReason,
      $createdAfter: DateTime, $createdBefore: DateTime) {
      suppressions(first: $limit, after: $cursor, email: $email, reason: $reason, createdAfter: $createdAfter, createdBefore: $createdBefore) {
        nodes { ${SUPPRESSION} }
        ${PAGE}
      }
    }`,
    reply: page('suppressions'),
  },
  {
    method: 'POST',
    path: '/v1/suppressions',
    needs: 'full',
    tag: 'Suppressions',
    summary: 'Add an address to the suppression list',
    document: gql`mutation ($input: AddSuppressionInput!) { addSuppression(input: $input) { created suppression { ${SUPPRESSION} } } }`,
    reply: found('addSuppression.suppression', { createdIf: 'addSuppression.created' }),
    example: { email: 'ada@example.com' },
  },
  {
    method: 'POST',
    path: '/v1/suppressions/batch',
    needs: 'full',
    tag: 'Suppressions',
    summary: 'Add up to 1,000 suppressions from a list',
    document: gql`
      mutation ($input: AddSuppressionsInput!) {
        addSuppressions(input: $input) {
          created
          existing
          invalid
          causes {
            message
            entries
            firstIndex
          }
        }
      }
    `,
    reply: found('addSuppressions'),
    example: { entries: [{ email: 'ada@example.com', reason: 'bounced' }], dry_run: true },
  },
  {
    method: 'GET',
    path: '/v1/suppressions/{id}',
    needs: 'full',
    tag: 'Suppressions',
    summary: 'Retrieve a suppression',
    document: gql`query ($id: ID!) { suppression(id: $id) { ${SUPPRESSION} } }`,
    reply: found('suppression'),
  },
  {
    method: 'DELETE',
    path: '/v1/suppressions/{id}',
    needs: 'full',
    tag: 'Suppressions',
    summary: 'Remove a suppression',
    ...deletes('removeSuppression', 'suppressionRemove'),
  },
];

const segments: Route[] = [
  {
    method: 'GET',
    path: '/v1/segments',
    needs: 'full',
    tag: 'Segments',
    summary: 'List segments, newest first',
    document: gql`query (${PAGE_ARGS}, $search: String) {
      segments(first: $limit, after: $cursor, search: $search) { nodes { ${SEGMENT} } ${PAGE} }
    }`,
    reply: page('segments'),
  },
  {
    method: 'POST',
    path: '/v1/segments',
    needs: 'full',
    tag: 'Segments',
    summary: 'Save a filter over contacts',
    document: gql`mutation ($input: CreateSegmentInput!) { createSegment(input: $input) { ${SEGMENT} } }`,
    reply: created('createSegment'),
    example: {
      name: 'Pro, quiet for a month',
      filter: {
        and: [
          { field: 'customFields.plan', op: 'is', value: 'pro' },
          { field: 'opened', op: 'notInLast', value: 30 },
        ],
      },
    },
  },
  {
    method: 'POST',
    path: '/v1/segments/preview',
    needs: 'full',
    tag: 'Segments',
    summary: 'Preview a filter without saving it: the count and the ten newest contacts',
    document: gql`query ($filter: JSON!) { segmentPreview(filter: $filter) { contactCount contacts { ${CONTACT} } } }`,
    reply: found('segmentPreview'),
    example: { filter: { field: 'email', op: 'endsWith', value: '@example.com' } },
  },
  {
    method: 'GET',
    path: '/v1/segments/{id}',
    needs: 'full',
    tag: 'Segments',
    summary: 'Retrieve a segment and its contact count',
    document: gql`query ($id: ID!) { segment(id: $id) { ${SEGMENT} contactCount } }`,
    reply: found('segment'),
  },
  {
    method: 'PATCH',
    path: '/v1/segments/{id}',
    needs: 'full',
    tag: 'Segments',
    summary: 'Rename a segment or replace its filter',
    document: gql`mutation ($id: ID!, $input: UpdateSegmentInput!) { updateSegment(id: $id, input: $input) { ${SEGMENT} } }`,
    reply: found('updateSegment'),
    example: { name: 'Quiet customers' },
  },
  {
    method: 'DELETE',
    path: '/v1/segments/{id}',
    needs: 'full',
    tag: 'Segments',
    summary: 'Delete a segment; its contacts stay',
    ...deletes('deleteSegment', 'segmentDelete'),
  },
  {
    method: 'GET',
    path: '/v1/segments/{id}/sizes',
    needs: 'full',
    tag: 'Segments',
    summary: 'List the recorded daily sizes of a segment, oldest first',
    document: gql`
      query ($id: ID!, $days: Int = 90) {
        segment(id: $id) {
          sizes(days: $days) {
            day
            size
          }
        }
      }
    `,
    reply: found('segment.sizes'),
  },
  {
    method: 'GET',
    path: '/v1/segments/{id}/contacts',
    needs: 'full',
    tag: 'Segments',
    summary: 'List the contacts that are in a segment now, newest first',
    document: gql`query ($id: ID!, ${PAGE_ARGS}) {
      segment(id: $id) { contacts(first: $limit, after: $cursor) { nodes { ${CONTACT} } ${PAGE} } }
    }`,
    reply: page('segment.contacts'),
  },
];

export const routes: Route[] = [...contacts, ...customFields, ...suppressions, ...segments];
