import '@postroom/campaigns/graphql';
import { Contact, SuppressionOrigin } from '@postroom/contacts/graphql';
import { atMost, batchLoaders, builder, callerProject, type Context, MAX_NAME_LENGTH } from '@postroom/platform';
import { actorName } from '@postroom/projects';
import { activitiesOf, type Activity, checkMessages } from './activity.ts';
import { type CampaignHour, campaignHours } from './campaign-hours.ts';
import { type CampaignMinutes, campaignMinutes } from './campaign-minutes.ts';
import { MAX_POINTS, statistics, type Statistics, type Step as StepLength } from './statistics.ts';

const ContactActivity = builder.objectRef<Activity>('ContactActivity').implement({
  description: 'An event in the history of a contact.',
  fields: (t) => ({
    type: t.exposeString('type', { description: 'Such as `contact.created`, `contact.suppressed` or `email.opened`.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
    detail: t.exposeString('detail', {
      nullable: true,
      description:
        "The server's reply, the suppression reason, the contact's source, or the form with the consent, depending on the type.",
    }),
    origin: t.expose('origin', {
      type: SuppressionOrigin,
      nullable: true,
      description: 'For `contact.suppressed`: who caused it; null if that was not recorded.',
    }),
    actorName: t.string({
      nullable: true,
      description: 'The user or the API key that caused it, by its current name.',
      ...atMost(MAX_NAME_LENGTH),
      resolve: ({ actorId }) => actorName(actorId),
    }),
    messageId: t.exposeID('messageId', { nullable: true, description: 'The message concerned.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'The subject of that message.' }),
    campaignId: t.exposeID('campaignId', { nullable: true, description: 'The campaign of that message.' }),
    campaignName: t.exposeString('campaignName', { nullable: true, description: 'Name of that campaign.' }),
    journeyId: t.exposeID('journeyId', { nullable: true, description: 'The journey that sent that message.' }),
    journeyName: t.exposeString('journeyName', { nullable: true, description: 'Name of that journey.' }),
  }),
});

const activityLoader = batchLoaders((messages: number, context: Context, ids) =>
  activitiesOf(callerProject(context), ids, messages),
);

builder.objectField(Contact, 'activity', (t) =>
  t.field({
    type: [ContactActivity],
    description: 'Its activity, newest first.',
    complexity: 100,
    args: {
      messages: t.arg.int({ defaultValue: 50, description: 'Number of latest messages to include, 1 to 200.' }),
    },
    resolve: async ({ id }, { messages }, context) =>
      (await activityLoader(checkMessages(messages ?? 50))(context, id)) ?? [],
  }),
);

const Step = builder.enumType('StatisticsStep', {
  description: 'Length of each point of a series.',
  values: {
    hour: { description: 'One point per hour.' },
    day: { description: 'One point per day of the time zone.' },
  } satisfies Record<StepLength, { description: string }>,
});

const Point = builder.objectRef<Statistics>('StatisticsPoint').implement({
  description: 'Counts for one hour or day.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'Start of the period.' }),
    sent: t.exposeInt('sent', { description: 'Messages the provider accepted.' }),
    delivered: t.exposeInt('delivered', { description: "Messages the recipients' servers accepted." }),
    opened: t.exposeInt('opened', { description: 'Messages that were opened.' }),
    clicked: t.exposeInt('clicked', { description: 'Messages in which a link was clicked.' }),
    openedByMachines: t.exposeInt('openedByMachines', {
      description: 'Messages opened by a bot, such as a privacy proxy that fetches images on arrival.',
    }),
    clickedByMachines: t.exposeInt('clickedByMachines', {
      description: 'Messages clicked by a bot, such as a link scanner.',
    }),
    bounced: t.exposeInt('bounced', { description: 'Messages that bounced.' }),
    complained: t.exposeInt('complained', { description: 'Messages that were marked as spam.' }),
    rejected: t.exposeInt('rejected', { description: 'Messages that the provider refused after accepting them.' }),
    failed: t.exposeInt('failed', { description: 'Messages that were permanently rejected.' }),
    unsubscribed: t.exposeInt('unsubscribed', { description: 'Contacts who unsubscribed.' }),
    added: t.exposeInt('added', { description: 'Contacts that were added.' }),
  }),
});

builder.prismaObjectField('Project', 'statisticsDays', (t) =>
  t.int({
    description: 'The number of days that `statistics` reach back, however long events are kept.',
    resolve: () => MAX_POINTS,
  }),
);

builder.queryField('statistics', (t) =>
  t.field({
    type: [Point],
    description: 'Counts by hour or day, without gaps; at most 400 points.',
    complexity: 6_000,
    args: {
      since: t.arg({ type: 'DateTime', required: true, description: 'Start of the first point.' }),
      until: t.arg({ type: 'DateTime', description: 'End of the last point; now if omitted.' }),
      step: t.arg({ type: Step, required: true, description: 'Length of each point.' }),
      timeZone: t.arg.string({
        defaultValue: 'UTC',
        description: 'Time zone of the hours and days, such as `Europe/Berlin`.',
      }),
    },
    resolve: (_root, { since, until, step, timeZone }, context) =>
      statistics(callerProject(context), { since, until: until ?? undefined, step, timeZone: timeZone ?? 'UTC' }),
  }),
);

const Hour = builder.objectRef<CampaignHour>('CampaignHour').implement({
  description: "Outcomes of a campaign's messages in one hour; each message counts once per outcome.",
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'Start of the period.' }),
    delivered: t.exposeInt('delivered', { description: "Messages the recipients' servers accepted." }),
    opened: t.exposeInt('opened', { description: 'Messages first opened by humans in this hour.' }),
    clicked: t.exposeInt('clicked', { description: 'Messages first clicked by humans in this hour.' }),
    bounced: t.exposeInt('bounced', { description: 'Messages that bounced.' }),
    complained: t.exposeInt('complained', { description: 'Messages that were marked as spam.' }),
    unsubscribed: t.exposeInt('unsubscribed', { description: 'Messages whose recipients unsubscribed through them.' }),
  }),
});

builder.queryField('campaignHours', (t) =>
  t.field({
    type: [Hour],
    description: "Outcomes of a campaign's messages by hour, without gaps, for the first three days.",
    complexity: 6_000,
    args: { id: t.arg.id({ required: true, description: 'Campaign id.' }) },
    resolve: (_root, { id }, context) => campaignHours(callerProject(context), id),
  }),
);

const Minutes = builder.objectRef<CampaignMinutes>('CampaignMinutes').implement({
  description: "Outcomes of a campaign's messages in a period of 1, 5, 15 or 60 minutes.",
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'Start of the period.' }),
    minutes: t.exposeInt('minutes', {
      description: 'Length of the period, in minutes; the same for all of a campaign.',
    }),
    sent: t.exposeInt('sent', { description: 'Messages the provider accepted.' }),
    failed: t.exposeInt('failed', { description: 'Messages that were permanently rejected.' }),
    bounced: t.exposeInt('bounced', { description: 'Messages that bounced.' }),
  }),
});

builder.queryField('campaignMinutes', (t) =>
  t.field({
    type: [Minutes],
    description:
      'How a campaign was sent: outcomes from its start to its last message, at most three days, without gaps.',
    complexity: 6_000,
    args: { id: t.arg.id({ required: true, description: 'Campaign id.' }) },
    resolve: (_root, { id }, context) => campaignMinutes(callerProject(context), id),
  }),
);
