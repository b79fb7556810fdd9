import { rejectsNull, type Route } from '@postroom/platform';
import { isInputObjectType, isNullableType } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { requestShape } from '../../src/rest/request.ts';
import { routes } from '../../src/routes.ts';
import { schema } from '../../src/schema.ts';
import { everything, type Everything } from './fixtures.ts';

let own: Everything;

beforeAll(async () => {
  own = await everything();
});

/** What null does in an update, by input type: it removes a value, restores a default, or sets no condition. */
const MAY_BE_NULL: Record<string, string> = {
  UpdateAbTestInput: 'version',
  UpdateCampaignInput: `excludedGroupIds excludedSegmentIds format fromEmail fromName groupIds html ifStatus previewText ratePerSecond replyTo
    segmentIds subject templateId text trackClicks trackOpens utmCampaign utmContent utmMedium utmSource utmTerm version`,
  UpdateContactInput: 'name updatedAt',
  UpdateCustomEventDefinitionInput: '',
  UpdateCustomFieldInput: '',
  UpdateFormInput:
    'confirmedUrl consentText description from reminderAfterHours replyTo subject submittedUrl templateId version',
  UpdateGroupInput: '',
  UpdateJourneyInput: 'version',
  // Its rules reject null for limits that there always are.
  UpdateSendingPolicyInput: `bounceLimitPercent bounceMinSent complaintLimitPercent complaintMinSent frequencyCapDays frequencyCapMessages
    ratePerSecond refusalsInRow`,
  // Users of the dashboard keep the value by leaving its field empty.
  UpdateMailboxInput: 'clientId clientSecret dailyCap host implicitTls password perMinute port tenant username',
  UpdateSegmentInput: 'version',
  UpdateTemplateInput: 'format subject updatedAt version',
  UpdateWebhookEndpointInput: 'description',
};

test('updates reject null for every field but those that it changes', () => {
  const inputs = Object.values(schema.getTypeMap()).filter((type) => /^Update\w+Input$/.test(type.name));
  const nullable = inputs.filter(isInputObjectType).map((type) => {
    const fields = Object.values(type.getFields()).filter((field) => isNullableType(field.type) && !rejectsNull(field));
    return [type.name, fields.map(({ name }) => name).join(' ')];
  });
  const expected = Object.entries(MAY_BE_NULL).map(([name, fields]) => [name, fields.replaceAll(/\s+/g, ' ')]);
  expect(nullable.toSorted()).toEqual(expected.toSorted());
});

const namesOf = (route: Route) =>
  requestShape(schema, route)
    .body.filter(rejectsNull)
    .map(({ name }) => name);

describe('PATCH names each field that must not be null', () => {
  const patches = routes
    .filter(({ method }) => method === 'PATCH')
    .map((route) => [route.path, namesOf(route)] as const)
    .filter(([, names]) => names.length > 0);
  test.each(patches)('%s', async (path, names) => {
    const body = Object.fromEntries(names.map((name) => [name, null]));
    const reply = await own.api.patch(own.fill(path), body);
    expect([reply.status, reply.body.error?.details]).toEqual([
      400,
      names.map((field) => ({ field, message: 'must not be null' })),
    ]);
  });
});

describe('POST takes null for each field that may be omitted', () => {
  const creates = routes
    .filter(({ method, path }) => method === 'POST' && !path.includes('{'))
    .map((route) => {
      const optional = requestShape(schema, route).body.filter(({ type }) => isNullableType(type));
      return [route.path, route.example ?? {}, optional.map(({ name }) => name)] as const;
    })
    .filter(([, , names]) => names.length > 0);
  test.each(creates)('%s', async (path, example, names) => {
    for (const name of names) {
      const { body } = await own.api.post(path, { ...example, [name]: null });
      const { details = [] } = (body.error ?? {}) as { details?: { field: string; message: string }[] };
      expect(details.filter(({ message }) => /null|must be an? /.test(message))).toEqual([]);
    }
  });
});

test('a contact created with null has no custom fields, in a batch too', async () => {
  const nulls = { name: null, custom_fields: null };
  const { status, body } = await own.api.post('/v1/contacts', { email: 'null@example.com', ...nulls });
  expect([status, body.data.customFields, body.data.name]).toEqual([201, {}, 'null']);
  const contacts = [{ email: 'null@example.com', ...nulls }];
  await own.api.patch(`/v1/contacts/${body.data.id}`, { name: 'Nell' });
  const { body: batch } = await own.api.post('/v1/contacts/batch', { contacts, on_conflict: 'update' });
  expect(batch.data).toMatchObject([{ id: body.data.id, status: 'existing' }]);
  expect((await own.api.get(`/v1/contacts/${body.data.id}`)).body.data.name).toBe('Nell');
});

test('a mutation names them too, also within lists', async () => {
  const detailsOf = async (mutation: string, variables: Record<string, unknown>) =>
    (await own.api.graphql(mutation, variables)).body.errors?.[0].extensions.details;
  const id = own.ids['/v1/contacts'];
  const update = 'mutation ($id: ID!, $input: UpdateContactInput!) { updateContact(id: $id, input: $input) { id } }';
  expect(await detailsOf(update, { id, input: { email: null, customFields: null } })).toEqual([
    { field: 'customFields', message: 'must not be null' },
    { field: 'email', message: 'must not be null' },
  ]);
  const inText = `mutation ($id: ID!) { updateContact(id: $id, input: { subscribed: null }) { id } }`;
  expect(await detailsOf(inText, { id })).toEqual([{ field: 'subscribed', message: 'must not be null' }]);
  const describe = `mutation ($input: UpdateCustomEventDefinitionInput!) {
    updateCustomEventDefinition(id: "evd_1", input: $input) { id }
  }`;
  expect(await detailsOf(describe, { input: { properties: [{ name: 'total', description: null }] } })).toEqual([
    { field: 'properties.0.description', message: 'must not be null' },
  ]);
});

test('null removes the description of an endpoint', async () => {
  const path = own.fill('/v1/webhooks/{id}');
  const described = await own.api.patch(path, { description: 'Orders' });
  expect(described.body.data.description).toBe('Orders');
  expect((await own.api.patch(path, { description: null })).body.data.description).toBeNull();
});
