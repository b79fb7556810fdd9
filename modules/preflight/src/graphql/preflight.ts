import type { AudienceCount } from '@postroom/groups';
import { builder, callerProject, type FieldProblem } from '@postroom/platform';
import { type Preflight, preflight, type VariableCheck } from '../preflight.ts';

const Excluded = builder.objectRef<AudienceCount['excluded'][number]>('ExcludedContacts').implement({
  description: 'Contacts of the audience who are excluded, by reason.',
  fields: (t) => ({
    reason: t.exposeString('reason', {
      description:
        'Their suppression reason, `excluded` for those in an excluded group or segment, or `left_group` for those who opted out of the groups.',
    }),
    contacts: t.exposeInt('contacts', { description: 'Number of contacts.' }),
  }),
});

const AudienceCount = builder.objectRef<AudienceCount>('AudienceCount').implement({
  description: 'The audience of a campaign if it were sent now.',
  fields: (t) => ({
    contacts: t.exposeInt('contacts', { description: 'Distinct contacts in its groups and segments.' }),
    recipients: t.exposeInt('recipients', { description: 'Contacts who would receive it.' }),
    excluded: t.field({
      type: [Excluded],
      description: 'Contacts who would not receive it, by reason.',
      resolve: ({ excluded }) => excluded,
    }),
  }),
});

const Finding = builder.objectRef<FieldProblem>('PreflightFinding').implement({
  description: 'A problem or warning to review before sending.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'The field, or the placeholder, concerned.' }),
    message: t.exposeString('message', { description: 'The problem.' }),
  }),
});

const VariableCheckType = builder.objectRef<VariableCheck>('VariableCheck').implement({
  description: 'A placeholder of the message.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the placeholder.' }),
    fallback: t.exposeString('fallback', {
      nullable: true,
      description: 'Its default, if every use of it has one.',
    }),
    missing: t.exposeInt('missing', { description: 'Recipients for whom it would render empty.' }),
    examples: t.exposeStringList('examples', { description: 'Sample addresses of these recipients.' }),
  }),
});

const PreflightType = builder.objectRef<Preflight>('Preflight').implement({
  description: 'The review of a campaign before it is sent.',
  fields: (t) => ({
    isReady: t.exposeBoolean('isReady', { description: 'Whether it could be sent.' }),
    problems: t.field({
      type: [Finding],
      description: 'Problems that prevent sending.',
      resolve: (row) => row.problems,
    }),
    warnings: t.field({
      type: [Finding],
      description: 'Issues to review before sending.',
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
    messageBytes: t.exposeInt('messageBytes', {
      nullable: true,
      description: 'Approximate size of one message in bytes.',
    }),
    estimatedSeconds: t.exposeInt('estimatedSeconds', {
      nullable: true,
      description:
        'Estimated sending time, from the rate or the throughput of the last campaign, including warm-up days; null if unknown.',
    }),
  }),
});

builder.queryFields((t) => ({
  campaignPreflight: t.field({
    type: PreflightType,
    description: 'Reviews a campaign as if it were sent now. Changes nothing.',
    args: { id: t.arg.id({ required: true, description: 'Campaign id.' }) },
    resolve: (_root, { id }, context) => preflight(callerProject(context), id),
  }),
}));
