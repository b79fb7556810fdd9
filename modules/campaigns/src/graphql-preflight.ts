import { builder, callerProject, type FieldProblem } from '@postroom/platform';
import type { AudienceCount } from './audience.ts';
import { type Preflight, preflight, type VariableCheck } from './preflight.ts';

const Excluded = builder.objectRef<AudienceCount['excluded'][number]>('ExcludedContacts').implement({
  description: 'Contacts of the audience who get nothing.',
  fields: (t) => ({
    reason: t.exposeString('reason', {
      description: 'Why: their suppression status, or `left_group` for those who left the groups it goes to.',
    }),
    contacts: t.exposeInt('contacts', { description: 'How many.' }),
  }),
});

const AudienceCount = builder.objectRef<AudienceCount>('AudienceCount').implement({
  description: 'The recipients that a campaign would have now.',
  fields: (t) => ({
    contacts: t.exposeInt('contacts', { description: 'Contacts in its groups and segments, each once.' }),
    recipients: t.exposeInt('recipients', { description: 'Those of them who would get it.' }),
    excluded: t.field({ type: [Excluded], description: 'The others.', resolve: ({ excluded }) => excluded }),
  }),
});

const Finding = builder.objectRef<FieldProblem>('PreflightFinding').implement({
  description: 'Something to look at before sending.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'What it is about.' }),
    message: t.exposeString('message', { description: 'What it is.' }),
  }),
});

const VariableCheckType = builder.objectRef<VariableCheck>('VariableCheck').implement({
  description: 'A placeholder of the message.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What it names.' }),
    fallback: t.exposeString('fallback', {
      nullable: true,
      description: 'Its default, if each place that names it has one.',
    }),
    missing: t.exposeInt('missing', { description: 'Recipients for whom it would show nothing.' }),
    examples: t.exposeStringList('examples', { description: 'Addresses of a few of them.' }),
  }),
});

const PreflightType = builder.objectRef<Preflight>('Preflight').implement({
  description: 'What would happen if a campaign were sent now.',
  fields: (t) => ({
    isReady: t.exposeBoolean('isReady', { description: 'Whether it could be sent.' }),
    problems: t.field({
      type: [Finding],
      description: 'What keeps it from being sent.',
      resolve: (row) => row.problems,
    }),
    warnings: t.field({
      type: [Finding],
      description: 'What should be looked at first.',
      resolve: (row) => row.warnings,
    }),
    audience: t.field({ type: AudienceCount, description: 'Its recipients.', resolve: (row) => row.audience }),
    variables: t.field({
      type: [VariableCheckType],
      description: 'Its placeholders.',
      resolve: (row) => row.variables,
    }),
    tracksOpens: t.boolean({
      description: 'Whether opens would be tracked.',
      resolve: ({ tracking }) => tracking.opens,
    }),
    tracksClicks: t.boolean({
      description: 'Whether clicks would be tracked.',
      resolve: ({ tracking }) => tracking.clicks,
    }),
    messageBytes: t.exposeInt('messageBytes', { nullable: true, description: 'The size of one message, about.' }),
    estimatedSeconds: t.exposeInt('estimatedSeconds', {
      nullable: true,
      description:
        'How long it would take at its rate, the pace of the last campaign, and with the days of a warm-up; null when nothing says it.',
    }),
  }),
});

builder.queryFields((t) => ({
  campaignPreflight: t.field({
    type: PreflightType,
    description: 'What would happen if the campaign were sent now. It changes nothing.',
    args: { id: t.arg.id({ required: true, description: 'Campaign id.' }) },
    resolve: (_root, { id }, context) => preflight(callerProject(context), id),
  }),
}));
