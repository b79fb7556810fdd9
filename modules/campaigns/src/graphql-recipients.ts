import { findContacts } from '@postroom/contacts';
import { Contact } from '@postroom/contacts/graphql';
import { batchLoader, builder, callerProject, type Context, relayNames } from '@postroom/platform';
import { resendUnknown, resolveUnknownRecipients, retryFailed } from './requeue.ts';
import { getCampaign } from './campaigns.ts';
import { listRecipients, type Recipient } from './recipients.ts';

const RecipientState = builder.enumType('RecipientState', {
  description: 'The state of one message of a campaign.',
  values: {
    planned: { description: 'Not sent yet, or deferred by the server and due for a retry.' },
    claimed: { description: 'Being sent.' },
    accepted: { description: 'Accepted by the provider.' },
    failed: { description: 'Permanently rejected by a server.' },
    suppressed: { description: 'Not sent: the address is suppressed.' },
    canceled: { description: 'Not sent: the campaign was canceled.' },
    unknown: {
      description: 'The connection broke when it may already have been accepted. It is not resent automatically.',
    },
  },
});

const loadContacts = batchLoader((context: Context, ids) => findContacts(callerProject(context), ids));

const Recipient = builder.objectRef<Recipient>('CampaignRecipient').implement({
  description: "A recipient from the campaign's snapshot, and the outcome of its message.",
  fields: (t) => ({
    messageId: t.exposeID('id', { description: 'Message id.' }),
    id: t.exposeID('id', { description: 'Message id.', deprecationReason: 'Use CampaignRecipient.messageId.' }),
    contactId: t.exposeID('contactId', { description: 'The contact.' }),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The current contact; null if it has been deleted.',
      resolve: ({ contactId }, _args, context) => loadContacts(context, contactId),
    }),
    email: t.expose('email', { type: 'EmailAddress', description: 'The address at the time of the snapshot.' }),
    state: t.expose('state', { type: RecipientState, description: 'State of the message.' }),
    answer: t.exposeString('answer', {
      nullable: true,
      description: "The server's last reply, or why the message was not sent.",
    }),
    deferrals: t.exposeInt('deferrals', { description: 'How often a server deferred it.' }),
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
      description: 'When the recipient unsubscribed through it.',
    }),
    notBefore: t.expose('notBefore', {
      type: 'DateTime',
      nullable: true,
      description: 'When it will be retried; null if no retry is due.',
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
  const id = t.arg.id(idArg);
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
