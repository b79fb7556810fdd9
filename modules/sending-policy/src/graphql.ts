import { audits, builder, callerProject, jsonSchema, managersOnly, NOT_EMPTY } from '@postroom/platform';
import { BOUNDS, getPolicy, type SendingPolicy, updatePolicy } from './policy.ts';

const DESCRIPTIONS = {
  ratePerSecond: 'Maximum messages per second, shared by sending campaigns; null for no limit.',
  bounceLimitPercent:
    'A campaign is paused when this percentage of its messages bounced or were rejected; null for never.',
  bounceMinSent: 'Messages that must have been sent before `bounceLimitPercent` applies.',
  complaintLimitPercent:
    'A campaign is paused when this percentage of its messages was marked as spam; null for never.',
  complaintMinSent: 'Messages that must have been sent before `complaintLimitPercent` applies.',
  refusalsInRow: 'A campaign is paused after this many rejections in a row; null for never.',
  frequencyCapMessages:
    'A contact gets at most this many messages from campaigns and journeys in `frequencyCapDays` days; further ones are skipped. Null for no cap.',
  frequencyCapDays: 'The days over which `frequencyCapMessages` counts.',
};

const Policy = builder.objectRef<SendingPolicy>('SendingPolicy').implement({
  description: "The sending rate of the project's campaigns, their auto-pause thresholds and the frequency cap.",
  fields: (t) => ({
    ratePerSecond: t.exposeInt('ratePerSecond', { nullable: true, description: DESCRIPTIONS.ratePerSecond }),
    bounceLimitPercent: t.exposeFloat('bounceLimitPercent', {
      nullable: true,
      description: DESCRIPTIONS.bounceLimitPercent,
    }),
    bounceMinSent: t.exposeInt('bounceMinSent', { description: DESCRIPTIONS.bounceMinSent }),
    complaintLimitPercent: t.exposeFloat('complaintLimitPercent', {
      nullable: true,
      description: DESCRIPTIONS.complaintLimitPercent,
    }),
    complaintMinSent: t.exposeInt('complaintMinSent', { description: DESCRIPTIONS.complaintMinSent }),
    refusalsInRow: t.exposeInt('refusalsInRow', { nullable: true, description: DESCRIPTIONS.refusalsInRow }),
    frequencyCapMessages: t.exposeInt('frequencyCapMessages', {
      nullable: true,
      description: DESCRIPTIONS.frequencyCapMessages,
    }),
    frequencyCapDays: t.exposeInt('frequencyCapDays', { description: DESCRIPTIONS.frequencyCapDays }),
  }),
});

builder.queryField('sendingPolicy', (t) =>
  t.field({
    type: Policy,
    description: "The sending rate of the project's campaigns, their auto-pause thresholds and the frequency cap.",
    resolve: (_root, _args, context) => getPolicy(callerProject(context)),
  }),
);

const bounded = (field: keyof SendingPolicy) => {
  const { min, max } = BOUNDS[field];
  return { description: DESCRIPTIONS[field], ...jsonSchema({ minimum: min, maximum: max }) };
};

const UpdatePolicyInput = builder.inputType('UpdateSendingPolicyInput', {
  ...NOT_EMPTY,
  description: 'Fields to update; omitted fields are unchanged, and null removes a limit.',
  fields: (t) => ({
    ratePerSecond: t.int(bounded('ratePerSecond')),
    bounceLimitPercent: t.float(bounded('bounceLimitPercent')),
    bounceMinSent: t.int(bounded('bounceMinSent')),
    complaintLimitPercent: t.float(bounded('complaintLimitPercent')),
    complaintMinSent: t.int(bounded('complaintMinSent')),
    refusalsInRow: t.int(bounded('refusalsInRow')),
    frequencyCapMessages: t.int(bounded('frequencyCapMessages')),
    frequencyCapDays: t.int(bounded('frequencyCapDays')),
  }),
});

builder.mutationField('updateSendingPolicy', (t) =>
  t.field({
    type: Policy,
    // The policy protects the sender's reputation, so API keys may not change it.
    ...managersOnly,
    description:
      "Updates the sending rate of the project's campaigns, their auto-pause thresholds and the frequency cap.",
    ...audits({ values: async (tx, projectId) => ({ ...(await getPolicy(projectId, tx)) }) }),
    args: { input: t.arg({ type: UpdatePolicyInput, required: true, description: 'What to change.' }) },
    resolve: (_root, { input }, context) => updatePolicy(callerProject(context), input),
  }),
);
