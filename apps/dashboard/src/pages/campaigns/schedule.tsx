import { Checkbox, type ComboboxItem, Select, Stack, Text, TextInput } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { type FormEvent, useMemo, useState } from 'react';
import { useProject } from '../../app/session.tsx';
import { useApiQuery } from '../../data/api-query.ts';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useUnsavedChanges } from '../../data/unsaved-changes.ts';
import { graphql } from '../../generated/gql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { FormButtons, FormProblem } from '../../components/form.tsx';
import { TextLink } from '../../components/link.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { ago } from '../../components/when.tsx';
import { CUSTOM_FIELDS, mayHoldTimeZones } from '../audience/field-values.tsx';
import type { CampaignRow } from './campaign-row.ts';
import { inCampaignWords } from './findings.ts';
import {
  FIRST_ZONE,
  formatLocalTime,
  formatTimeInZone,
  OWN_ZONE,
  parseLocalTime,
  zoneOptions,
  zonesMatching,
} from './zoned.ts';

const SCHEDULE = graphql(`
  mutation ScheduleCampaign($id: ID!, $input: ScheduleCampaignInput!) {
    scheduleCampaign(id: $id, input: $input) {
      id
      scheduledAt
    }
  }
`);

interface ScheduleProps {
  campaign: CampaignRow;
  /** Of what the page shows. */
  version: number;
  opened: boolean;
  onClose: () => void;
}

/** The start time, in a chosen time zone. */
export function Schedule({ campaign, version, opened, onClose }: ScheduleProps) {
  return (
    <Dialog opened={opened} onClose={onClose} title="Schedule campaign">
      <ScheduleForm campaign={campaign} version={version} onClose={onClose} />
    </Dialog>
  );
}

const HOUR_MS = 3_600_000;

/** The scheduled time in a zone, or the next full hour tomorrow. */
function proposed(zone: string, { scheduledAt, localTime }: CampaignRow): string {
  if (localTime !== null) return localTime;
  const isAhead = scheduledAt !== null && Date.parse(scheduledAt) > Date.now();
  const at = isAhead ? new Date(scheduledAt) : new Date(Math.ceil((Date.now() + 24 * HOUR_MS) / HOUR_MS) * HOUR_MS);
  return formatLocalTime(zone, at);
}

function ScheduleForm({ campaign, version, onClose }: Omit<ScheduleProps, 'opened'>) {
  const { id, status } = campaign;
  const schedule = useApiMutation(SCHEDULE);
  const [lastZone, setLastZone] = useScheduleZone();
  const [zone, setZone] = useState(campaign.timeZone ?? lastZone);
  const [first] = useState(() => proposed(zone, campaign));
  const [local, setLocal] = useState(first);
  const [isLocal, setIsLocal] = useState(campaign.timeZoneField !== null);
  const [field, setField] = useState(campaign.timeZoneField);
  useUnsavedChanges(
    local !== first || isLocal !== (campaign.timeZoneField !== null) || field !== campaign.timeZoneField,
  );
  const at = parseLocalTime(zone, local);
  const isPast = at !== undefined && at.getTime() <= Date.now();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (at === undefined) return;
    const input = isLocal
      ? { localTime: local, timeZone: zone, timeZoneField: field }
      : { scheduledAt: at.toISOString() };
    const data = await schedule.run({ id, input: { ...input, version } });
    if (data === undefined) return;
    notifySuccess(`It starts ${ago(data.scheduleCampaign.scheduledAt ?? at.toISOString(), Date.now())}.`);
    onClose();
  };
  const fields = schedule.problem?.fields ?? {};
  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack>
        <FormProblem
          problem={inCampaignWords(schedule.problem)}
          fields={['scheduledAt', 'localTime', 'timeZone', 'timeZoneField']}
        />
        <TextInput
          type="datetime-local"
          label="Date and time"
          value={local}
          error={isPast ? 'Must be in the future' : (fields.scheduledAt ?? fields.localTime)}
          onChange={(event) => setLocal(event.currentTarget.value)}
          data-autofocus
        />
        <Checkbox
          label="At each recipient’s local time"
          description="Recipients in other time zones get it earlier or later, when their clocks show this time."
          checked={isLocal}
          onChange={(event) => setIsLocal(event.currentTarget.checked)}
        />
        {isLocal && <ZoneField value={field} error={fields.timeZoneField} onChange={setField} />}
        <ZoneSelect
          label={isLocal ? 'Time zone of recipients without a valid one' : 'Time zone'}
          value={zone}
          error={fields.timeZone}
          onChange={(next) => {
            setZone(next);
            setLastZone(next);
          }}
        />
        {at !== undefined && !isPast && (
          <Text size="sm" aria-live="polite">
            {isLocal ? <LocalStart local={local} at={at} /> : <Start at={at} />}
          </Text>
        )}
        <FormButtons
          submit={status === 'scheduled' ? 'Reschedule' : 'Schedule'}
          running={schedule.running}
          disabled={at === undefined || isPast || (isLocal && field === null)}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}

function Start({ at }: { at: Date }) {
  return (
    <>
      Starts <InZones at={at.toISOString()} />
      {at.getTime() - Date.now() < WEEK_MS && `, ${ago(at.toISOString(), Date.now())}`}.
    </>
  );
}

/** When a campaign at local times starts: when that time comes first anywhere, or at once. */
function LocalStart({ local, at }: { local: string; at: Date }) {
  const first = new Date(Math.min(at.getTime(), parseLocalTime(FIRST_ZONE, local)?.getTime() ?? Infinity));
  return (
    <>
      {first.getTime() <= Date.now() ? 'Starts now. ' : <Start at={first} />} Recipients for whom the time has passed at
      the start get it then. From the start on, its content can no longer be changed.
    </>
  );
}

/** The custom field with the time zones of contacts. */
function ZoneField({
  value,
  error,
  onChange,
}: {
  value: string | null;
  error: string | undefined;
  onChange: (field: string | null) => void;
}) {
  const { id: projectId } = useProject();
  const fields = useApiQuery(CUSTOM_FIELDS, {}).data?.customFields.nodes.filter(mayHoldTimeZones);
  if (fields?.length === 0)
    return (
      <Text size="sm">
        Contacts have no custom field that could have their time zone.{' '}
        <TextLink to="/p/$projectId/fields" params={{ projectId }} size="sm" underline="always">
          Create one
        </TextLink>
        , with values such as Europe/Berlin.
      </Text>
    );
  return (
    <Select
      label="Field with the contact’s time zone"
      description="With values such as Europe/Berlin."
      placeholder="Choose a field"
      data={(fields ?? []).map(({ key, label }) => ({ value: key, label }))}
      value={value}
      error={error}
      onChange={onChange}
    />
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
function ZoneSelect({
  label,
  value,
  error,
  onChange,
}: {
  label: string;
  value: string;
  error: string | undefined;
  onChange: (zone: string) => void;
}) {
  const known = useMemo(zoneOptions, []);
  return (
    <Select
      label={label}
      error={error}
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
