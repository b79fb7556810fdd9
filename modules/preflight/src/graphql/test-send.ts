import type { QueuedEmail } from '@postroom/emails';
import {
  ADDRESS,
  atMost,
  builder,
  callerProject,
  type InputFields,
  jsonSchema,
  listOf,
  MAX_ID_LENGTH,
  oneLine,
} from '@postroom/platform';
import { sendTemplateTest, sendTest } from '../test-send.ts';

const testFields = (t: InputFields) => ({
  emails: t.stringList({
    required: true,
    description: '1 to 10 addresses.',
    ...listOf(ADDRESS, { minItems: 1, maxItems: 10 }),
  }),
  contactId: t.string({
    description: 'The contact whose values fill the placeholders; defaults if omitted.',
    ...atMost(MAX_ID_LENGTH),
  }),
});

const TestCampaignInput = builder.inputType('TestCampaignInput', {
  description: 'Recipients of a test.',
  fields: testFields,
});

const TestTemplateInput = builder.inputType('TestTemplateInput', {
  description: 'Recipients of a test, and its sender.',
  fields: (t) => ({
    ...testFields(t),
    fromEmail: t.string({
      required: true,
      description: 'From address; its domain must be verified in the project.',
      ...jsonSchema(ADDRESS),
    }),
    fromName: t.string({ description: 'Display name of the sender.', ...oneLine() }),
  }),
});

const TestEmail = builder.objectRef<QueuedEmail>('TestEmail').implement({
  description: 'A queued test email.',
  fields: (t) => ({
    messageId: t.exposeID('id', { description: 'Message id.' }),
    id: t.exposeID('id', { description: 'Message id.', deprecationReason: 'Use TestEmail.messageId.' }),
    status: t.exposeString('status', { description: '`queued`, or `suppressed`.' }),
  }),
});

builder.mutationFields((t) => ({
  testCampaign: t.field({
    type: [TestEmail],
    description: 'Sends a test of the campaign to a few addresses.',
    args: {
      id: t.arg.id({ required: true, description: 'Campaign id.' }),
      input: t.arg({ type: TestCampaignInput, required: true, description: 'The recipients.' }),
    },
    resolve: (_root, { id, input }, context) => sendTest(callerProject(context), id, input),
  }),
  testTemplate: t.field({
    type: [TestEmail],
    description: 'Sends a test of a template, with its unpublished changes, to a few addresses.',
    args: {
      id: t.arg.id({ required: true, description: 'Template id.' }),
      input: t.arg({ type: TestTemplateInput, required: true, description: 'The recipients and the sender.' }),
    },
    resolve: (_root, { id, input }, context) => sendTemplateTest(callerProject(context), id, input),
  }),
}));
