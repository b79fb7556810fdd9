import { findContacts } from '@postroom/contacts';
import { Contact } from '@postroom/contacts/graphql';
import { batchLoader, builder, callerProject, type Context, relayNames } from '@postroom/platform';
import { resendUnknown, resolveUnknownRecipients, retryFailed } from './requeue.ts';
import { getCampaign } from './campaigns.ts';
import { listRecipients, type Recipient } from './recipients.ts';

const RecipientState = builder.enumType('RecipientState', {
  description: 'What became of one message of a campaign.',
  values: {
    planned: { description: 'It has not been sent, or goes again because the server said "later".' },
    claimed: { description: 'It is being sent.' },
    accepted: { description: 'The provider accepted it.' },
    failed: { description: 'A server refused it for good.' },
    suppressed: { description: 'The address is not to be mailed.' },
    canceled: { description: 'The campaign was canceled before it went out.' },
    unknown: { description: 'The connection broke when it may have been accepted. It is not sent again by itself.' },
  },
});

const loadContacts = batchLoader((context: Context, ids) => findContacts(callerProject(context), ids));

const Recipient = builder.objectRef<Recipient>('CampaignRecipient').implement({
  description: 'A contact as a campaign froze it, and what became of its message.',
  fields: (t) => ({
    messageId: t.exposeID('id', { description: 'Message id.' }),
    id: t.exposeID('id', { description: 'Message id.', deprecationReason: 'Use CampaignRecipient.messageId.' }),
    contactId: t.exposeID('contactId', { description: 'The contact.' }),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The contact as it is now; null when it has been deleted.',
      resolve: ({ contactId }, _args, context) => loadContacts(context, contactId),
    }),
    email: t.expose('email', { type: 'EmailAddress', description: 'The address, as it was.' }),
    state: t.expose('state', { type: RecipientState, description: 'What became of the message.' }),
    answer: t.exposeString('answer', {
      nullable: true,
      description: "The server's last answer, or why there was none.",
    }),
    deferrals: t.exposeInt('deferrals', { description: 'How often a server said "later".' }),
    claimedAt: t.expose('claimedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When sending was last started.',
    }),
    acceptedAt: t.expose('acceptedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the provider accepted it.',
    }),
    deliveredAt: t.expose('deliveredAt', {
      type: 'DateTime',
      nullable: true,
      description: "When the recipient's server accepted it.",
    }),
    openedAt: t.expose('openedAt', { type: 'DateTime', nullable: true, description: 'When it was first opened.' }),
    clickedAt: t.expose('clickedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a link was first clicked.',
    }),
    bouncedAt: t.expose('bouncedAt', { type: 'DateTime', nullable: true, description: 'When it bounced.' }),
    complainedAt: t.expose('complainedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was marked as spam.',
    }),
    unsubscribedAt: t.expose('unsubscribedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the recipient unsubscribed by it.',
    }),
    notBefore: t.expose('notBefore', {
      type: 'DateTime',
      nullable: true,
      description: 'When it goes again; null when it does not.',
    }),
  }),
});

const idArg = { required: true, description: 'Campaign id.' } as const;

builder.queryFields((t) => ({
  campaignRecipients: t.connection(
    {
      type: Recipient,
      description: 'The recipients of a campaign that has started, the newest rows first.',
      args: {
        id: t.arg.id(idArg),
        state: t.arg({ type: RecipientState, description: 'Only those in this state.' }),
        email: t.arg.string({ description: 'Only this address, without regard to case.' }),
      },
      resolve: (_root, { id, first, after, state, email }, context) =>
        listRecipients(callerProject(context), id, { state, email }, { first, after }),
    },
    ...relayNames('CampaignRecipient'),
  ),
}));

const UnknownOutcome = builder.enumType('UnknownOutcome', {
  description: 'What became of messages whose outcome was unknown, as a user has found out.',
  values: {
    accepted: { description: 'The mail server took them.' },
    failed: { description: 'It did not take them; they can be retried.' },
  },
});

const RecipientsPayload = builder
  .objectRef<{ campaignId: string; recipients: number }>('CampaignRecipientsPayload')
  .implement({
    description: 'What a decision about recipients changed.',
    fields: (t) => ({
      recipients: t.exposeInt('recipients', { description: 'How many recipients it was about.' }),
      campaign: t.prismaField({
        type: 'Campaign',
        description: 'The campaign, as it is now.',
        resolve: (query, { campaignId }, _args, context) => getCampaign(callerProject(context), campaignId, query),
      }),
    }),
  });

builder.mutationFields((t) => {
  const id = t.arg.id(idArg);
  const recipientIds = t.arg.idList({
    description: 'Message ids of at most 10,000 of its recipients; all in that state when not given.',
  });
  return {
    retryCampaignRecipients: t.field({
      type: RecipientsPayload,
      description:
        'Sends again to recipients who were refused. A completed campaign goes back to `sending` and completes again.',
      args: { id, recipientIds },
      resolve: async (_root, { id, recipientIds }, context) => ({
        campaignId: id,
        recipients: await retryFailed(callerProject(context), id, recipientIds),
      }),
    }),
    resendCampaignRecipients: t.field({
      type: RecipientsPayload,
      description: 'Sends again to recipients whose outcome is unknown. Some of them may get it twice.',
      args: {
        id,
        acceptDuplicates: t.arg.boolean({
          required: true,
          description: 'True, to say that it is known that some may get it twice.',
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
      description: 'Says what became of recipients whose outcome is unknown. Nothing is sent.',
      args: {
        id,
        outcome: t.arg({ type: UnknownOutcome, required: true, description: 'What became of them.' }),
        recipientIds,
      },
      resolve: async (_root, { id, ...input }, context) => ({
        campaignId: id,
        recipients: await resolveUnknownRecipients(callerProject(context), id, input),
      }),
    }),
  };
});
