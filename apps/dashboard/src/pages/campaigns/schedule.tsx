import { Button, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useMemo, useState } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { FormButtons, FormProblem } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { ago, formatExactTime } from '../../components/when.tsx';
import type { CampaignRow } from './campaign.tsx';
import { localIn, momentOf, OWN_ZONE, zones } from './zoned.ts';

const SCHEDULE = graphql(`
  mutation ScheduleCampaign($id: ID!, $at: DateTime!) {
    scheduleCampaign(id: $id, input: { scheduledAt: $at }) {
      id
    }
  }
`);

interface ScheduleProps {
  campaign: CampaignRow;
  opened: boolean;
  onClose: () => void;
}

/** The start time, in a chosen time zone. */
export function Schedule({ campaign, opened, onClose }: ScheduleProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={<Text fw={600}>Schedule campaign</Text>}>
      <ScheduleForm campaign={campaign} onClose={onClose} />
    </Modal>
  );
}

const HOUR_MS = 3_600_000;

/** The scheduled time, or the next full hour tomorrow. */
function proposed(scheduledAt: string | null): Date {
  if (scheduledAt !== null && Date.parse(scheduledAt) > Date.now()) return new Date(scheduledAt);
  return new Date(Math.ceil((Date.now() + 24 * HOUR_MS) / HOUR_MS) * HOUR_MS);
}

function ScheduleForm({ campaign: { id, scheduledAt }, onClose }: Omit<ScheduleProps, 'opened'>) {
  const schedule = useApiMutation(SCHEDULE);
  const [zone, setZone] = useState(OWN_ZONE);
  const [local, setLocal] = useState(() => localIn(OWN_ZONE, proposed(scheduledAt)));
  const known = useMemo(zones, []);
  const at = momentOf(zone, local);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (at === undefined || (await schedule.run({ id, at: at.toISOString() })) === undefined) return;
    notifySuccess(`It starts ${ago(at.toISOString(), Date.now())}.`);
    onClose();
  };
  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack>
        <FormProblem problem={schedule.problem} fields={['scheduledAt']} />
        <TextInput
          type="datetime-local"
          label="Date and time"
          value={local}
          error={schedule.problem?.fields.scheduledAt}
          onChange={(event) => setLocal(event.currentTarget.value)}
          data-autofocus
        />
        <Select
          label="Time zone"
          searchable
          allowDeselect={false}
          limit={100}
          data={known}
          value={zone}
          onChange={(next) => setZone(next ?? OWN_ZONE)}
        />
        {at !== undefined && (
          <Text size="sm" c="dimmed">
            {ago(at.toISOString(), Date.now())}
            {zone === OWN_ZONE ? '' : `; in your time zone ${formatExactTime(at.toISOString())}`}
          </Text>
        )}
        <FormButtons submit="Schedule" running={schedule.running} disabled={at === undefined}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </FormButtons>
      </Stack>
    </form>
  );
}
