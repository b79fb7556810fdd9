import { type ComboboxItem, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { type FormEvent, useMemo, useState } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useUnsavedChanges } from '../../data/unsaved-changes.ts';
import { graphql } from '../../generated/gql.ts';
import { FormButtons, FormProblem } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { ago } from '../../components/when.tsx';
import type { CampaignRow } from './campaign.tsx';
import { formatLocalTime, formatTimeInZone, OWN_ZONE, parseLocalTime, zoneOptions, zonesMatching } from './zoned.ts';

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
    <Modal opened={opened} onClose={onClose} title="Schedule campaign">
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

function ScheduleForm({ campaign: { id, status, scheduledAt }, onClose }: Omit<ScheduleProps, 'opened'>) {
  const schedule = useApiMutation(SCHEDULE);
  const [zone, setZone] = useScheduleZone();
  const [first] = useState(() => formatLocalTime(zone, proposed(scheduledAt)));
  const [local, setLocal] = useState(first);
  useUnsavedChanges(local !== first);
  const at = parseLocalTime(zone, local);
  const isPast = at !== undefined && at.getTime() <= Date.now();
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
          error={isPast ? 'Must be in the future' : schedule.problem?.fields.scheduledAt}
          onChange={(event) => setLocal(event.currentTarget.value)}
          data-autofocus
        />
        <ZoneSelect value={zone} onChange={setZone} />
        {at !== undefined && !isPast && (
          <Text size="sm" aria-live="polite">
            Starts <InZones at={at.toISOString()} />
            {at.getTime() - Date.now() < WEEK_MS && `, ${ago(at.toISOString(), Date.now())}`}.
          </Text>
        )}
        <FormButtons
          submit={status === 'scheduled' ? 'Reschedule' : 'Schedule'}
          running={schedule.running}
          disabled={at === undefined || isPast}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}

/** A start within it is also given relative to now. */
const WEEK_MS = 7 * 86_400_000;

/** The time zone last chosen in this browser, at first its own. */
function useScheduleZone() {
  return useLocalStorage({ key: 'postroom-schedule-zone', defaultValue: OWN_ZONE, getInitialValueInEffect: false });
}

/** A time in the zone chosen for scheduling and, if that is another, in the browser's zone. */
export function InZones({ at }: { at: string }) {
  const [zone] = useScheduleZone();
  return (
    <>
      {formatTimeInZone(zone, at)}
      {zone !== OWN_ZONE && ` (your time: ${formatTimeInZone(OWN_ZONE, at)})`}
    </>
  );
}

/** Time zones by any part of their name or abbreviation: "new york", "tokyo", "CET". Enter takes the first match. */
function ZoneSelect({ value, onChange }: { value: string; onChange: (zone: string) => void }) {
  const known = useMemo(zoneOptions, []);
  return (
    <Select
      label="Time zone"
      searchable
      allowDeselect={false}
      limit={100}
      selectFirstOptionOnChange
      nothingFoundMessage="No time zone of that name"
      data={known.map(({ zone, label }) => ({ value: zone, label }))}
      filter={({ options, search, limit }) => {
        const byZone = new Map((options as ComboboxItem[]).map((option) => [option.value, option]));
        return zonesMatching(known, search)
          .flatMap((zone) => byZone.get(zone) ?? [])
          .slice(0, limit);
      }}
      value={value}
      onChange={(next) => onChange(next ?? OWN_ZONE)}
      // So that typing replaces the zone.
      onFocus={(event) => event.currentTarget.select()}
      onClick={(event) => event.currentTarget.select()}
    />
  );
}
