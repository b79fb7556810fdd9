import { Button, Card, Group, NumberInput, SimpleGrid, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useChange } from '../../data/change.ts';
import { useRead } from '../../data/read.ts';
import { graphql } from '../../generated/gql.ts';
import type { SendingPolicyQuery } from '../../generated/graphql.ts';
import { FormProblem, useFieldProblems } from '../../components/form.tsx';
import { tell } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { Answer } from '../../components/states.tsx';
import { numberOrNull } from './mailbox-labels.ts';

const POLICY = graphql(`
  query SendingPolicy {
    sendingPolicy {
      ratePerSecond
      bounceLimitPercent
      bounceMinSent
      complaintLimitPercent
      complaintMinSent
      refusalsInRow
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

/** The project's rate, and what campaigns pause for. */
export function SendingLimits() {
  const policy = useRead(POLICY, {});
  return (
    <Section
      title="Limits of campaigns"
      about="They hold for campaigns that are being sent, too, from the next messages on."
    >
      <Answer of={policy}>{({ sendingPolicy }) => <LimitsForm policy={sendingPolicy} />}</Answer>
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
});

function LimitsForm({ policy }: { policy: Policy }) {
  const update = useChange(UPDATE);
  const form = useForm({
    initialValues: valuesOf(policy),
    validate: {
      bounceMinSent: (value) => (value === '' ? 'Say how many' : null),
      complaintMinSent: (value) => (value === '' ? 'Say how many' : null),
    },
  });
  useFieldProblems(form, update.problem);
  const submit = form.onSubmit(async (values) => {
    const input = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, numberOrNull(value)]));
    if ((await update.run({ input })) === undefined) return;
    form.resetDirty();
    tell('The limits are changed.');
  });
  return (
    <Card>
      <form onSubmit={submit} noValidate>
        <Stack>
          <FormProblem problem={update.problem} fields={Object.keys(form.values)} />
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <NumberInput
              label="Messages a second, at most"
              description="Shared by the campaigns of the project; empty for no limit."
              min={1}
              allowDecimal={false}
              {...form.getInputProps('ratePerSecond')}
            />
            <NumberInput
              label="Pause after refusals in a row"
              description="With nothing accepted in between; empty for never."
              min={1}
              allowDecimal={false}
              {...form.getInputProps('refusalsInRow')}
            />
            <NumberInput
              label="Pause at a bounce rate of"
              description="Messages that bounced or were refused; empty for never."
              suffix=" %"
              min={0}
              max={100}
              step={0.5}
              {...form.getInputProps('bounceLimitPercent')}
            />
            <NumberInput
              label="Bounces count from"
              description="So many messages have to be sent first."
              suffix=" messages"
              thousandSeparator=","
              min={1}
              allowDecimal={false}
              {...form.getInputProps('bounceMinSent')}
            />
            <NumberInput
              label="Pause at a complaint rate of"
              description="Messages that were marked as spam; empty for never."
              suffix=" %"
              min={0}
              max={100}
              step={0.05}
              {...form.getInputProps('complaintLimitPercent')}
            />
            <NumberInput
              label="Complaints count from"
              description="So many messages have to be sent first."
              suffix=" messages"
              thousandSeparator=","
              min={1}
              allowDecimal={false}
              {...form.getInputProps('complaintMinSent')}
            />
          </SimpleGrid>
          <Group justify="flex-end">
            <Button type="submit" loading={update.running} disabled={!form.isDirty()}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}
