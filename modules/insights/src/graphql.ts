import '@postroom/campaigns/graphql';
import { Contact } from '@postroom/contacts/graphql';
import { batchLoader, builder, callerProject, type Context } from '@postroom/platform';
import { activitiesOf, type Activity, checkMessages } from './activity.ts';
import { type CampaignHour, campaignHours } from './campaign-hours.ts';
import { statistics, type Statistics, STEPS } from './statistics.ts';

const ContactActivity = builder.objectRef<Activity>('ContactActivity').implement({
  description: 'Something that happened between the project and a contact.',
  fields: (t) => ({
    type: t.exposeString('type', { description: 'Such as `contact.created`, `contact.suppressed` or `email.opened`.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
    detail: t.exposeString('detail', {
      nullable: true,
      description: 'What a server answered, why the address is not mailed, or where the contact came from.',
    }),
    messageId: t.exposeID('messageId', { nullable: true, description: 'The message it is about.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'The subject of that message.' }),
    campaignId: t.exposeID('campaignId', { nullable: true, description: 'The campaign of that message.' }),
    campaignName: t.exposeString('campaignName', { nullable: true, description: 'What that campaign is called.' }),
  }),
});

/** One loader for each number of messages that is asked for: there are 200 at most. */
const loaders = new Map<number, (context: Context, id: string) => Promise<Activity[] | undefined>>();

function loaderOf(messages: number) {
  const loader =
    loaders.get(messages) ?? batchLoader((context, ids) => activitiesOf(callerProject(context), ids, messages));
  loaders.set(messages, loader);
  return loader;
}

builder.objectField(Contact, 'activity', (t) =>
  t.field({
    type: [ContactActivity],
    description: 'What happened with it, newest first.',
    complexity: 100,
    args: {
      messages: t.arg.int({ defaultValue: 50, description: 'How many of its latest messages are included, 1 to 200.' }),
    },
    resolve: async ({ id }, { messages }, context) =>
      (await loaderOf(checkMessages(messages ?? 50))(context, id)) ?? [],
  }),
);

const Step = builder.enumType('StatisticsStep', {
  description: 'How long each point of a series lasts.',
  values: STEPS,
});

const Point = builder.objectRef<Statistics>('StatisticsPoint').implement({
  description: 'What happened in one hour or day.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When it begins.' }),
    sent: t.exposeInt('sent', { description: 'Messages the provider accepted.' }),
    delivered: t.exposeInt('delivered', { description: "Messages the recipients' servers accepted." }),
    opened: t.exposeInt('opened', { description: 'Messages that were opened.' }),
    clicked: t.exposeInt('clicked', { description: 'Messages in which a link was clicked.' }),
    openedByMachines: t.exposeInt('openedByMachines', {
      description: 'Messages whose images a program fetched, such as a privacy proxy on arrival.',
    }),
    clickedByMachines: t.exposeInt('clickedByMachines', {
      description: 'Messages whose links a program tried, such as a scanner.',
    }),
    bounced: t.exposeInt('bounced', { description: 'Messages that bounced.' }),
    complained: t.exposeInt('complained', { description: 'Messages that were marked as spam.' }),
    failed: t.exposeInt('failed', { description: 'Messages that were refused for good.' }),
    unsubscribed: t.exposeInt('unsubscribed', { description: 'Contacts who unsubscribed.' }),
    added: t.exposeInt('added', { description: 'Contacts that were added.' }),
  }),
});

builder.queryField('statistics', (t) =>
  t.field({
    type: [Point],
    description: 'How much of everything happened, hour by hour or day by day, without gaps; at most 400 points.',
    complexity: 6_000,
    args: {
      since: t.arg({ type: 'DateTime', required: true, description: 'Where the first point lies.' }),
      step: t.arg({ type: Step, required: true, description: 'How long a point lasts.' }),
      timeZone: t.arg.string({ defaultValue: 'UTC', description: 'Whose days and hours, such as `Europe/Berlin`.' }),
    },
    resolve: (_root, { since, step, timeZone }, context) =>
      statistics(callerProject(context), { since, step, timeZone: timeZone ?? 'UTC' }),
  }),
);

const Hour = builder.objectRef<CampaignHour>('CampaignHour').implement({
  description: 'What recipients of a campaign did in one hour; each message counts once for each thing.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When it begins.' }),
    delivered: t.exposeInt('delivered', { description: "Messages the recipients' servers accepted." }),
    opened: t.exposeInt('opened', { description: 'Messages that people opened first then.' }),
    clicked: t.exposeInt('clicked', { description: 'Messages in which people clicked first then.' }),
    bounced: t.exposeInt('bounced', { description: 'Messages that bounced.' }),
    complained: t.exposeInt('complained', { description: 'Messages that were marked as spam.' }),
    unsubscribed: t.exposeInt('unsubscribed', { description: 'Messages whose recipients unsubscribed by them.' }),
  }),
});

builder.queryField('campaignHours', (t) =>
  t.field({
    type: [Hour],
    description: 'What became of the mail of a campaign, hour by hour without gaps, in the first three days.',
    complexity: 6_000,
    args: { id: t.arg.id({ required: true, description: 'Campaign id.' }) },
    resolve: (_root, { id }, context) => campaignHours(callerProject(context), id),
  }),
);
