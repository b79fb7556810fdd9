import { getCampaign, resendUnknown, resolveUnknownRecipients, retryFailed } from '@postroom/campaigns';
import '@postroom/campaigns/graphql';
import { builder, callerProject } from '@postroom/platform';

const UnknownOutcome = builder.enumType('UnknownOutcome', {
  description: 'The outcome that a user has established for messages whose outcome was unknown.',
  values: {
    accepted: { description: 'The mail server accepted them.' },
    failed: { description: 'The mail server did not accept them; they can be retried.' },
  },
});

const RecipientsPayload = builder
  .objectRef<{ campaignId: string; recipients: number }>('CampaignRecipientsPayload')
  .implement({
    description: 'Result of retrying, resending or resolving recipients.',
    fields: (t) => ({
      recipients: t.exposeInt('recipients', { description: 'Number of recipients affected.' }),
      campaign: t.prismaField({
        type: 'Campaign',
        description: 'The updated campaign.',
        resolve: (query, { campaignId }, _args, context) => getCampaign(callerProject(context), campaignId, query),
      }),
    }),
  });

builder.mutationFields((t) => {
  const id = t.arg.id({ required: true, description: 'Campaign id.' });
  const recipientIds = t.arg.idList({
    description: 'Up to 10,000 message ids of its recipients; all recipients in that state if omitted.',
  });
  return {
    retryCampaignRecipients: t.field({
      type: RecipientsPayload,
      description: 'Retries failed recipients. A completed campaign returns to `sending` and completes again.',
      args: { id, recipientIds },
      resolve: async (_root, { id, recipientIds }, context) => ({
        campaignId: id,
        recipients: await retryFailed(callerProject(context), id, recipientIds),
      }),
    }),
    resendCampaignRecipients: t.field({
      type: RecipientsPayload,
      description: 'Resends to recipients whose outcome is unknown. Some may get the message twice.',
      args: {
        id,
        acceptDuplicates: t.arg.boolean({
          required: true,
          description: 'Must be true: acknowledges that some recipients may get the message twice.',
        }),
        recipientIds,
      },
      resolve: async (_root, { id, ...input }, context) => ({
        campaignId: id,
        recipients: await resendUnknown(callerProject(context), id, input),
      }),
    }),
    resolveCampaignRecipients: t.field({
      type: RecipientsPayload,
      description: 'Sets the outcome of recipients whose outcome is unknown. Nothing is sent.',
      args: {
        id,
        outcome: t.arg({ type: UnknownOutcome, required: true, description: 'Their outcome.' }),
        recipientIds,
      },
      resolve: async (_root, { id, ...input }, context) => ({
        campaignId: id,
        recipients: await resolveUnknownRecipients(callerProject(context), id, input),
      }),
    }),
  };
});
