import { expect, test } from 'vitest';
import { EVENT_TYPE_NAMES, EVENT_TYPES, bodySchema } from '../src/event-types.ts';

test('the event types are the 17 of the spec, in its order, and then our own', () => {
  const contact = ['created', 'updated', 'subscribed', 'unsubscribed', 'deleted'].map((name) => `contact.${name}`);
  const outcomes = ['sent', 'failed', 'delivered', 'opened', 'clicked', 'bounced', 'complained', 'rejected'];
  const email = outcomes.map((name) => `email.${name}`);
  const campaign = ['started', 'completed', 'paused'].map((name) => `campaign.${name}`);
  expect(EVENT_TYPE_NAMES.slice(0, 17)).toEqual([...contact, ...email, ...campaign, 'webhook.test']);
  // A module may add some, but programs rely on these.
  const own = [
    'ab_test.canceled',
    'ab_test.completed',
    'campaign.canceled',
    'campaign.paused_manually',
    'campaign.resumed',
    'campaign.scheduled',
    'campaign.unscheduled',
    'custom_event.received',
    'form.confirmed',
    'import.canceled',
    'import.completed',
    'import.failed',
  ];
  expect(EVENT_TYPE_NAMES.slice(17)).toEqual(expect.arrayContaining(own));
});

test.each(EVENT_TYPE_NAMES)(
  '%s has an example that its documented members describe, none of them undocumented',
  (type) => {
    const { data, example, fires } = EVENT_TYPES[type];
    expect(data.strict().parse(example)).toEqual(example);
    expect(fires).toMatch(/\.$/);
  },
);

test('email events contain email, message_id, subject and campaign_id', () => {
  for (const type of EVENT_TYPE_NAMES.filter((name) => name.startsWith('email.'))) {
    const schema = bodySchema(type) as { properties: { data: { required: string[] } } };
    expect(schema.properties.data.required).toEqual(
      expect.arrayContaining(['email', 'message_id', 'subject', 'campaign_id']),
    );
  }
});

test('each type has a JSON Schema of the whole body that allows additional members', () => {
  const schema = bodySchema('contact.created') as { required: string[]; properties: { type: { const: string } } };
  expect(schema.required).toEqual(['id', 'type', 'created', 'project_id', 'data']);
  expect(schema.properties.type.const).toBe('contact.created');
  expect(JSON.stringify(schema)).not.toContain('"additionalProperties":false');
});
