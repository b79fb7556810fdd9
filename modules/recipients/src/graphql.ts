import { EmailStatus } from '@postroom/emails/graphql';
import { BOUNCE_CLASSES } from '@postroom/ledger';
import { Contact, loadContact } from '@postroom/contacts/graphql';
import { getGroup } from '@postroom/groups';
import { Group } from '@postroom/groups/graphql';
import { atMost, builder, callerProject, jsonSchema, MAX_EMAIL_LENGTH, NAME, relayNames } from '@postroom/platform';
import { MAX_LINK, RECIPIENT_OUTCOMES } from './filter.ts';
import { groupRecipients } from './group.ts';
import './recipient-actions.ts';
import { listRecipients, type Recipient } from './recipients.ts';

const RecipientState = builder.enumType('RecipientState', {
  description: 'The state of one message of a campaign.',
  values: {
    planned: {
      description:
        'Not sent yet, for example until the local time of its recipient, or deferred by the server and due for a retry.',
    },
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

/** Enum values with their descriptions. */
const enumValues = <Name extends string>(descriptions: Record<Name, string>) =>
  Object.fromEntries(Object.entries(descriptions).map(([name, description]) => [name, { description }])) as Record<
    Name,
    { description: string }
  >;

const RecipientOutcome = builder.enumType('RecipientOutcome', {
  description: 'An outcome of a message; several may apply to one.',
  values: enumValues(RECIPIENT_OUTCOMES),
});

const BounceClass = builder.enumType('BounceClass', {
  description: "Why a message bounced, by the server's reply.",
  values: enumValues(BOUNCE_CLASSES),
});

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
      resolve: ({ contactId }, _args, context) => loadContact(context, contactId),
    }),
    email: t.expose('email', { type: 'EmailAddress', description: 'The address at the time of the snapshot.' }),
    state: t.expose('state', { type: RecipientState, description: 'State of the message.' }),
    status: t.expose('status', {
      type: EmailStatus,
      description: 'Status of the message, with what was reported since.',
    }),
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
    unsentAt: t.expose('unsentAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was closed without being accepted.',
    }),
    deliveredAt: t.expose('deliveredAt', {
      type: 'DateTime',
      nullable: true,
      description: "When the recipient's server accepted it.",
    }),
    openedAt: t.expose('openedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a human first opened it.',
    }),
    clickedAt: t.expose('clickedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a human first clicked a link.',
    }),
    openedByMachinesAt: t.expose('openedByMachinesAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a bot first opened it.',
    }),
    clickedByMachinesAt: t.expose('clickedByMachinesAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a bot first followed a link.',
    }),
    bouncedAt: t.expose('bouncedAt', { type: 'DateTime', nullable: true, description: 'When it bounced.' }),
    bounceClass: t.expose('bounceClass', {
      type: BounceClass,
      nullable: true,
      description: 'Why it bounced; null if it did not, or bounced before bounces were classified.',
    }),
    bounceReason: t.exposeString('bounceReason', {
      nullable: true,
      description: "What the report of the bounce says, usually the server's reply.",
    }),
    rejectedAt: t.expose('rejectedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the provider rejected it after accepting it.',
    }),
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
    resubscribedAt: t.expose('resubscribedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the recipient took that back.',
    }),
    notBefore: t.expose('notBefore', {
      type: 'DateTime',
      nullable: true,
      description:
        'When it will be retried, or when the local time of its recipient comes; null if it waits for neither.',
    }),
  }),
});

const idArg = { required: true, description: 'Campaign id.' } as const;

const LINK = 'The position of a link in `campaignLinks`: only those who clicked it, or `clicked_by_machines`.';
const LINK_RANGE = jsonSchema({ minimum: 0, maximum: MAX_LINK });
const SEARCH =
  `Only addresses that contain this text, without regard to case. A page may end before it is full: the next one continues the search.
Contacts that were deleted, or whose address changed, are found by the beginning of the address.`.replaceAll('\n', ' ');

const RecipientFilter = builder.inputType('CampaignRecipientFilter', {
  description: 'Selects recipients of a campaign; they must pass every filter given.',
  fields: (t) => ({
    state: t.field({ type: RecipientState, description: 'Only those in this state.' }),
    outcome: t.field({ type: RecipientOutcome, description: 'Only those whose message had this outcome.' }),
    bounceClass: t.field({ type: BounceClass, description: 'Only those whose message bounced for this reason.' }),
    link: t.int({ description: LINK, ...LINK_RANGE }),
    email: t.string({ description: 'Only this address, without regard to case.', ...atMost(MAX_EMAIL_LENGTH) }),
    search: t.string({ description: SEARCH, ...atMost(MAX_EMAIL_LENGTH) }),
  }),
});

builder.queryFields((t) => ({
  campaignRecipients: t.connection(
    {
      type: Recipient,
      description: 'The recipients of a campaign that has started, the newest rows first.',
      args: {
        id: t.arg.id(idArg),
        state: t.arg({ type: RecipientState, description: 'Only those in this state.' }),
        outcome: t.arg({ type: RecipientOutcome, description: 'Only those whose message had this outcome.' }),
        bounceClass: t.arg({ type: BounceClass, description: 'Only those whose message bounced for this reason.' }),
        link: t.arg.int({ description: LINK, ...LINK_RANGE }),
        email: t.arg.string({
          description: 'Only this address, without regard to case.',
          ...atMost(MAX_EMAIL_LENGTH),
        }),
        search: t.arg.string({ description: SEARCH, ...atMost(MAX_EMAIL_LENGTH) }),
      },
      resolve: (_root, { id, first, after, ...filter }, context) =>
        listRecipients(callerProject(context), id, filter, { first, after }),
    },
    ...relayNames('CampaignRecipient'),
  ),
}));

builder.mutationFields((t) => ({
  createGroupFromRecipients: t.prismaField({
    type: Group,
    description:
      'Creates a group from the recipients of a campaign that pass a filter and still exist as contacts, at most 100,000.',
    args: {
      id: t.arg.id(idArg),
      name: t.arg.string({
        required: true,
        description: 'Name of the group, unique within the project; 1 to 200 characters.',
        ...NAME,
      }),
      filter: t.arg({ type: RecipientFilter, required: true, description: 'The recipients.' }),
    },
    resolve: async (query, _root, { id, ...input }, context) => {
      const groupId = await groupRecipients(callerProject(context), id, input);
      return getGroup(callerProject(context), groupId, query);
    },
  }),
}));
