import { NumberInput, type NumberInputProps, SimpleGrid } from '@mantine/core';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { SendingPolicyQuery } from '../../generated/graphql.ts';
import { changedOf, required } from '../../components/form.tsx';
import { Section } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { numberOrNull } from './mailbox-labels.ts';
import { SettingForm } from './setting-form.tsx';

const POLICY = graphql(`
  query SendingPolicy {
    sendingPolicy {
      ratePerSecond
      bounceLimitPercent
      bounceMinSent
      complaintLimitPercent
      complaintMinSent
      refusalsInRow
      frequencyCapMessages
      frequencyCapDays
    }
  }
`);

const UPDATE = graphql(`
  mutation UpdateSendingPolicy($input: UpdateSendingPolicyInput!) {
    updateSendingPolicy(input: $input) {
      ratePerSecond
    }
  }
`);

type Policy = SendingPolicyQuery['sendingPolicy'];

/** The project's sending rate, auto-pause thresholds and frequency cap. */
export function SendingLimits() {
  const policy = useApiQuery(POLICY, {});
  return (
    <Section title="Campaign limits" about="Changes also apply to campaigns that are already sending.">
      <QueryResult of={policy}>{({ sendingPolicy }) => <LimitsForm policy={sendingPolicy} />}</QueryResult>
    </Section>
  );
}

const valuesOf = (policy: Policy) => ({
  ratePerSecond: policy.ratePerSecond ?? ('' as number | string),
  bounceLimitPercent: policy.bounceLimitPercent ?? ('' as number | string),
  bounceMinSent: policy.bounceMinSent as number | string,
  complaintLimitPercent: policy.complaintLimitPercent ?? ('' as number | string),
  complaintMinSent: policy.complaintMinSent as number | string,
  refusalsInRow: policy.refusalsInRow ?? ('' as number | string),
  frequencyCapMessages: policy.frequencyCapMessages ?? ('' as number | string),
  frequencyCapDays: policy.frequencyCapDays as number | string,
});

function LimitsForm({ policy }: { policy: Policy }) {
  const update = useApiMutation(UPDATE);
  return (
    <SettingForm
      values={valuesOf(policy)}
      validate={{
        bounceMinSent: required('Enter a number'),
        complaintMinSent: required('Enter a number'),
        frequencyCapDays: required('Enter a number'),
      }}
      mutation={update}
      save={(values, form) => {
        const changed = Object.entries(changedOf(values, form));
        return update.run({ input: Object.fromEntries(changed.map(([name, value]) => [name, numberOrNull(value)])) });
      }}
      saved="Limits saved."
    >
      {(form, readOnly) => {
        const field = (name: keyof Policy, props: NumberInputProps) => (
          <NumberInput min={1} allowDecimal={false} readOnly={readOnly} {...props} {...form.getInputProps(name)} />
        );
        const rate = (name: keyof Policy, props: NumberInputProps) =>
          field(name, { suffix: '%', min: 0, max: 100, allowDecimal: true, ...props });
        const minimum = (name: keyof Policy, label: string) =>
          field(name, {
            label,
            description: 'The rate is checked after this many messages.',
            suffix: ' messages',
            thousandSeparator: ',',
          });
        return (
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            {field('ratePerSecond', {
              label: 'Maximum messages per second',
              description: 'Shared by all campaigns in the project. Leave blank for no limit.',
            })}
            {field('refusalsInRow', {
              label: 'Pause after consecutive rejections',
              description: 'Without any accepted message in between. Leave blank to disable.',
            })}
            {rate('bounceLimitPercent', {
              label: 'Pause at bounce rate',
              description: 'Share of messages that bounced or were rejected. Leave blank to disable.',
              step: 0.5,
            })}
            {minimum('bounceMinSent', 'Minimum sent for bounce rate')}
            {rate('complaintLimitPercent', {
              label: 'Pause at complaint rate',
              description: 'Share of messages marked as spam. Leave blank to disable.',
              step: 0.05,
            })}
            {minimum('complaintMinSent', 'Minimum sent for complaint rate')}
            {field('frequencyCapMessages', {
              label: 'Frequency cap',
              description: 'The most messages that a contact gets from campaigns and journeys. Leave blank to disable.',
              suffix: ' messages',
              max: 1000,
            })}
            {field('frequencyCapDays', {
              label: 'Days of the frequency cap',
              description: 'The number of days over which the cap counts messages.',
              suffix: ' days',
              max: 90,
            })}
          </SimpleGrid>
        );
      }}
    </SettingForm>
  );
}
