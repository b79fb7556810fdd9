import { audits, builder, callerProject, jsonSchema, NOT_EMPTY } from '@postroom/platform';
import { getPolicy, type SendingPolicy, updatePolicy } from './policy.ts';

const describe = {
  ratePerSecond: 'Maximum messages per second, shared by sending campaigns; null for no limit.',
  bounceLimitPercent:
    'A campaign is paused when this percentage of its messages bounced or were rejected; null for never.',
  bounceMinSent: 'The percentage is checked after this many messages.',
  complaintLimitPercent:
    'A campaign is paused when this percentage of its messages was marked as spam; null for never.',
  complaintMinSent: 'The percentage is checked after this many messages.',
  refusalsInRow: 'A campaign is paused after this many rejections in a row; null for never.',
  frequencyCapMessages:
    'A contact gets at most this many messages from campaigns and journeys in `frequencyCapDays` days; further ones are skipped. Null for no cap.',
  frequencyCapDays: 'The days over which `frequencyCapMessages` counts.',
};

const Policy = builder.objectRef<SendingPolicy>('SendingPolicy').implement({
  description: "The sending rate of the project's campaigns, their auto-pause thresholds and the frequency cap.",
  fields: (t) => ({
    ratePerSecond: t.exposeInt('ratePerSecond', { nullable: true, description: describe.ratePerSecond }),
    bounceLimitPercent: t.exposeFloat('bounceLimitPercent', {
      nullable: true,
      description: describe.bounceLimitPercent,
    }),
    bounceMinSent: t.exposeInt('bounceMinSent', { description: describe.bounceMinSent }),
    complaintLimitPercent: t.exposeFloat('complaintLimitPercent', {
      nullable: true,
      description: describe.complaintLimitPercent,
    }),
    complaintMinSent: t.exposeInt('complaintMinSent', { description: describe.complaintMinSent }),
    refusalsInRow: t.exposeInt('refusalsInRow', { nullable: true, description: describe.refusalsInRow }),
    frequencyCapMessages: t.exposeInt('frequencyCapMessages', {
      nullable: true,
      description: describe.frequencyCapMessages,
    }),
    frequencyCapDays: t.exposeInt('frequencyCapDays', { description: describe.frequencyCapDays }),
  }),
});

builder.queryField('sendingPolicy', (t) =>
  t.field({
    type: Policy,
    description: "The sending rate of the project's campaigns, their auto-pause thresholds and the frequency cap.",
    resolve: (_root, _args, context) => getPolicy(callerProject(context)),
  }),
);

const SAMPLE = jsonSchema({ minimum: 1, maximum: 1_000_000 });

const UpdatePolicyInput = builder.inputType('UpdateSendingPolicyInput', {
  ...NOT_EMPTY,
  description: 'Fields to update; omitted fields are unchanged, and null removes a limit.',
  fields: (t) => ({
    ratePerSecond: t.int({ description: describe.ratePerSecond, ...jsonSchema({ minimum: 1, maximum: 100_000 }) }),
    bounceLimitPercent: t.float({ description: describe.bounceLimitPercent }),
    bounceMinSent: t.int({ description: describe.bounceMinSent, ...SAMPLE }),
    complaintLimitPercent: t.float({ description: describe.complaintLimitPercent }),
    complaintMinSent: t.int({ description: describe.complaintMinSent, ...SAMPLE }),
    refusalsInRow: t.int({ description: describe.refusalsInRow, ...jsonSchema({ minimum: 1, maximum: 100_000 }) }),
    frequencyCapMessages: t.int({
      description: describe.frequencyCapMessages,
      ...jsonSchema({ minimum: 1, maximum: 1_000 }),
    }),
    frequencyCapDays: t.int({ description: describe.frequencyCapDays, ...jsonSchema({ minimum: 1, maximum: 90 }) }),
  }),
});

builder.mutationField('updateSendingPolicy', (t) =>
  t.field({
    type: Policy,
    // The policy protects the sender's reputation, so API keys may not change it.
    authScopes: { manage: true },
    skipTypeScopes: true,
    description:
      "Updates the sending rate of the project's campaigns, their auto-pause thresholds and the frequency cap.",
    ...audits({ values: async (tx, projectId) => ({ ...(await getPolicy(projectId, tx)) }) }),
    args: { input: t.arg({ type: UpdatePolicyInput, required: true, description: 'What to change.' }) },
    resolve: (_root, { input }, context) => updatePolicy(callerProject(context), input),
  }),
);
