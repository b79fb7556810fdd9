import { Button, Card, Modal, Progress, Radio, Stack, Text, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useMay } from '../../app/session.tsx';
import { useChange } from '../../data/change.ts';
import { useRead } from '../../data/read.ts';
import { graphql } from '../../generated/gql.ts';
import { Facts } from '../../components/facts.tsx';
import { FormButtons, FormProblem } from '../../components/form.tsx';
import { tell } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import type { Domain } from './domain.tsx';

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

/** How a domain becomes known to mailbox providers: so many messages of campaigns a day, and more each day. */
export function Warmup({ domain }: { domain: Domain }) {
  const manages = useMay()('manage');
  const [changing, setChanging] = useState(false);
  const { warmup } = domain;
  return (
    <Section
      title="Warm-up"
      about="So many messages of campaigns a day, and more each day, until mailbox providers know the domain."
      actions={
        manages && (
          <Button variant="default" size="sm" onClick={() => setChanging(true)}>
            Change the plan
          </Button>
        )
      }
    >
      <Card>
        {warmup === null ? <Text size="sm">Off: campaigns have no limit a day.</Text> : <Today of={warmup} />}
      </Card>
      <Modal opened={changing} onClose={() => setChanging(false)} title={<Text fw={600}>Warm-up plan</Text>}>
        <PlanForm domain={domain} onClose={() => setChanging(false)} />
      </Modal>
    </Section>
  );
}

/** Plans go by days in UTC. */
const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' });

const count = (value: number) => value.toLocaleString('en');

function Today({ of: { steps, since, step, isWarm, todayLimit, todaySent } }: { of: NonNullable<Domain['warmup']> }) {
  return (
    <Stack gap="sm">
      {todayLimit !== null && (
        <Progress value={Math.min(100, (todaySent / todayLimit) * 100)} aria-label="Used of today’s messages" />
      )}
      <Facts
        facts={[
          [
            'Today',
            todayLimit === null ? `${count(todaySent)} messages` : `${count(todaySent)} of ${count(todayLimit)}`,
          ],
          ['Step', isWarm ? 'All done: there is no limit any more' : `${step} of ${steps.length}`],
          ['Began', day.format(new Date(since))],
        ]}
      />
      <Text size="xs" c="dimmed" className="breakable">
        Messages a day: {steps.map(count).join(', ')}. Only days on which mail goes out count.
      </Text>
    </Stack>
  );
}

type Choice = 'off' | 'default' | 'own';

/** The numbers of a text, or nothing when it holds anything else. */
function stepsOf(text: string): number[] | undefined {
  const words = text.split(/[\s,;]+/).filter((word) => word !== '');
  return words.length > 0 && words.every((word) => /^\d{1,8}$/.test(word)) ? words.map(Number) : undefined;
}

function PlanForm({ domain: { id, warmup }, onClose }: { domain: Domain; onClose: () => void }) {
  const defaults = useRead(DEFAULT_STEPS, {}).data?.defaultWarmupSteps ?? [];
  const set = useChange(SET);
  const form = useForm({
    initialValues: {
      plan: (warmup === null ? 'default' : 'own') as Choice,
      steps: warmup?.steps.join(', ') ?? '',
    },
    validate: {
      steps: (value, { plan }) =>
        plan === 'own' && stepsOf(value) === undefined ? 'Give numbers with commas between them' : null,
    },
  });
  const submit = form.onSubmit(async ({ plan, steps }) => {
    const given = { off: null, default: defaults, own: stepsOf(steps) ?? null }[plan];
    if ((await set.run({ id, steps: given })) === undefined) return;
    tell(given === null ? 'The warm-up is off.' : 'The warm-up begins today with its first step.');
    onClose();
  });
  const { plan } = form.values;
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <FormProblem problem={set.problem} />
        <Radio.Group label="Plan" {...form.getInputProps('plan')}>
          <Stack gap="xs" mt={6}>
            <Radio value="off" label="Off" description="Campaigns have no limit a day." />
            <Radio
              value="default"
              label="One that suits most domains"
              description={`${defaults.map(count).join(', ')} messages a day.`}
              disabled={defaults.length === 0}
            />
            <Radio value="own" label="Your own" />
          </Stack>
        </Radio.Group>
        {plan === 'own' && (
          <Textarea
            label="Messages on the first, second … day"
            description="Up to 90 numbers, none less than the one before. After the last there is no limit."
            placeholder="50, 100, 200"
            autosize
            minRows={2}
            {...form.getInputProps('steps')}
          />
        )}
        {plan !== 'off' && warmup !== null && (
          <Text size="xs" c="dimmed">
            A plan that is saved begins again today, with its first step.
          </Text>
        )}
        <FormButtons submit="Save" running={set.running}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </FormButtons>
      </Stack>
    </form>
  );
}
