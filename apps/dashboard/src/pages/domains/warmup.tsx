import { Button, Card, Progress, Radio, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { usePermission } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { DescriptionList } from '../../components/description-list.tsx';
import { DialogForm } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { formatUtcDay } from '../../components/when.tsx';
import type { Domain } from './domain-row.ts';
import { WarmupChart } from './warmup-chart.tsx';

const DEFAULT_STEPS = graphql(`
  query DefaultWarmup {
    defaultWarmupSteps
  }
`);

const SET = graphql(`
  mutation SetDomainWarmup($id: ID!, $steps: [Int!]) {
    setDomainWarmup(id: $id, steps: $steps) {
      id
    }
  }
`);

/** Domain warm-up: a daily campaign limit that rises each day. */
export function Warmup({ domain }: { domain: Domain }) {
  const canManage = usePermission('manage');
  const [changing, setChanging] = useState(false);
  const { warmup } = domain;
  return (
    <Section
      title="Warm-up"
      about="Limits campaign messages per day and raises the limit daily while the domain builds its reputation."
      actions={
        canManage && (
          <Button variant="default" size="sm" onClick={() => setChanging(true)}>
            Change plan
          </Button>
        )
      }
    >
      <Card>
        {warmup === null ? <Text size="sm">Off. Campaigns have no daily limit.</Text> : <Today of={warmup} />}
      </Card>
      <Dialog opened={changing} onClose={() => setChanging(false)} title="Warm-up plan">
        <PlanForm domain={domain} onClose={() => setChanging(false)} />
      </Dialog>
    </Section>
  );
}

/** Plans use UTC days. */
const count = (value: number) => value.toLocaleString();

function Today({ of: { steps, since, step, isWarm, todayLimit, todaySent } }: { of: NonNullable<Domain['warmup']> }) {
  return (
    <Stack gap="sm">
      {todayLimit !== null && (
        <Progress value={Math.min(100, (todaySent / todayLimit) * 100)} aria-label="Today’s usage" />
      )}
      <DescriptionList
        items={[
          [
            'Today',
            todayLimit === null ? `${count(todaySent)} messages` : `${count(todaySent)} of ${count(todayLimit)}`,
          ],
          ['Step', isWarm ? 'Complete: no daily limit' : `${step} of ${steps.length}`],
          ['Started', formatUtcDay(since)],
        ]}
      />
      <WarmupChart steps={steps} step={isWarm ? undefined : step} sent={todaySent} />
      <Text size="sm" c="dimmed">
        Only days with email sent count.
      </Text>
    </Stack>
  );
}

type Choice = 'off' | 'default' | 'own';

/** Parses a list of numbers; undefined if invalid. */
function stepsOf(text: string): number[] | undefined {
  const words = text.split(/[\s,;]+/).filter((word) => word !== '');
  return words.length > 0 && words.every((word) => /^\d{1,8}$/.test(word)) ? words.map(Number) : undefined;
}

function PlanForm({ domain: { id, warmup }, onClose }: { domain: Domain; onClose: () => void }) {
  const defaults = useApiQuery(DEFAULT_STEPS, {}).data?.defaultWarmupSteps ?? [];
  const set = useApiMutation(SET);
  const stepsOfPlan = (plan: Choice, steps: string) =>
    ({ off: null, default: defaults, own: stepsOf(steps) ?? null })[plan];
  return (
    <DialogForm
      values={{
        plan: (warmup === null ? 'default' : 'own') as Choice,
        steps: warmup?.steps.join(', ') ?? '',
      }}
      validate={{
        steps: (value, { plan }) =>
          plan === 'own' && stepsOf(value) === undefined ? 'Enter numbers separated by commas' : null,
      }}
      mutation={set}
      save={async ({ plan, steps }) => {
        const given = stepsOfPlan(plan, steps);
        if ((await set.run({ id, steps: given })) === undefined) return;
        notifySuccess(given === null ? 'Warm-up is off.' : 'Warm-up starts today with its first step.');
        onClose();
      }}
      submit="Save"
      onClose={onClose}
    >
      {(form) => {
        const { plan, steps } = form.values;
        const planned = stepsOfPlan(plan, steps);
        return (
          <>
            <Radio.Group label="Plan" {...form.getInputProps('plan')}>
              <Stack gap="xs" mt={6}>
                <Radio value="off" label="Off" description="Campaigns have no daily limit." />
                <Radio
                  value="default"
                  label="Recommended"
                  description={`From ${count(defaults[0] ?? 0)} to ${count(defaults.at(-1) ?? 0)} messages per day in ${defaults.length} steps.`}
                  disabled={defaults.length === 0}
                />
                <Radio value="own" label="Custom" />
              </Stack>
            </Radio.Group>
            {plan === 'own' && (
              <Textarea
                label="Messages per day, starting with the first day"
                description="Up to 90 numbers in ascending order. There is no limit after the last."
                placeholder="50, 100, 200"
                rows={3}
                resize="vertical"
                {...form.getInputProps('steps')}
              />
            )}
            {planned !== null && planned.length > 0 && <WarmupChart steps={planned} />}
            {plan !== 'off' && warmup !== null && (
              <Text size="xs" c="dimmed">
                Saving a plan restarts it today with its first step.
              </Text>
            )}
          </>
        );
      }}
    </DialogForm>
  );
}
