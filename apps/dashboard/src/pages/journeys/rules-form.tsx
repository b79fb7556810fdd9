import { Checkbox, Group, NumberInput, Radio, Select, Stack, TextInput } from '@mantine/core';
import { EventInput, PropertyConditions } from '../../components/event-conditions.tsx';
import { RecordSelect } from '../../components/record-select.tsx';
import { mayHoldTimeZones } from '../audience/field-values.tsx';
import type { Choices } from './choices.ts';
import type { Definition, Entry } from './definition-types.ts';
import { ContactFilter } from './fields.tsx';

interface FormProps {
  definition: Definition;
  choices: Choices;
  /** Each change applies at once. */
  onChange: (definition: Definition) => void;
}

/** Edits how contacts enter. */
export function EntryForm({
  definition,
  choices,
  setIncomplete,
  onChange,
}: FormProps & {
  /** Reports whether the filter of contacts is complete. */
  setIncomplete: (isIncomplete: boolean) => void;
}) {
  const { entry } = definition;
  const setEntry = (next: Entry) => onChange({ ...definition, entry: next });
  const set = (part: Partial<Entry>) => setEntry({ ...entry, ...part });
  const change = (type: string) => {
    const { filter } = entry;
    const kept = filter === undefined ? {} : { filter };
    if (type === 'event') setEntry({ type, event: '', ...kept });
    else if (type === 'group_joined') setEntry({ type, groupId: '', ...kept });
    else if (type === 'form_confirmed') setEntry({ type, formId: '', ...kept });
    else if (type === 'segment_entered' || type === 'segment_left')
      setEntry({ type, segmentId: entry.segmentId ?? '', ...kept });
    else if (type === 'date') setEntry({ type, field: '', time: '09:00', ...kept });
    else setEntry({ type: 'manual', ...kept });
  };
  return (
    <Stack>
      <Radio.Group label="A contact enters" value={entry.type} onChange={change}>
        <Stack gap="xs" mt={6}>
          <Radio value="event" label="When it causes an event" />
          <Radio value="group_joined" label="When it joins a group" />
          <Radio value="form_confirmed" label="When it confirms a form" />
          <Radio value="segment_entered" label="When it enters a segment" />
          <Radio value="segment_left" label="When it leaves a segment" />
          <Radio value="date" label="On a date in a custom field" />
          <Radio value="manual" label="When you or the API enroll it" />
        </Stack>
      </Radio.Group>
      {entry.type === 'event' && (
        <>
          <EventInput label="Event" value={entry.event ?? ''} onChange={(event) => set({ event })} />
          <PropertyConditions
            event={entry.event}
            where={entry.where ?? []}
            onChange={(where) => set({ where: where.length === 0 ? undefined : where })}
          />
        </>
      )}
      {entry.type === 'group_joined' && (
        <RecordSelect
          of="groups"
          label="Group"
          value={entry.groupId}
          onChange={(groupId) => set({ groupId: groupId ?? '' })}
        />
      )}
      {entry.type === 'form_confirmed' && (
        <RecordSelect
          of="forms"
          label="Form"
          value={entry.formId}
          onChange={(formId) => set({ formId: formId ?? '' })}
        />
      )}
      {(entry.type === 'segment_entered' || entry.type === 'segment_left') && (
        <RecordSelect
          of="segments"
          label="Segment"
          description="Checked every five minutes. Contacts already in the segment when you publish do not enter."
          value={entry.segmentId}
          onChange={(segmentId) => set({ segmentId: segmentId ?? '' })}
        />
      )}
      {entry.type === 'date' && <DateFields entry={entry} set={set} choices={choices} />}
      <ContactFilter
        filter={entry.filter}
        choices={choices}
        onChange={(filter) => {
          setIncomplete(filter === null);
          if (filter !== null) set({ filter });
        }}
      />
    </Stack>
  );
}

function DateFields({ entry, set, choices }: { entry: Entry; set: (part: Partial<Entry>) => void; choices: Choices }) {
  const { field = '', offsetDays = 0, yearly = false, time = '' } = entry;
  const key = field.replace(/^custom_?fields\./i, '');
  const dates = choices.fields.filter(({ type }) => type === 'date');
  const side = offsetDays < 0 ? 'before' : 'after';
  const offset = (days: number, which: string | null) =>
    set({ offsetDays: days === 0 ? undefined : which === 'before' ? -days : days });
  return (
    <>
      <Select
        label="Field with the date"
        placeholder={dates.length === 0 ? 'No custom field has the type date' : 'Choose a field'}
        searchable
        data={dates.map((each) => ({ value: each.key, label: each.label }))}
        value={key === '' ? null : key}
        onChange={(chosen) => set({ field: chosen === null ? '' : `customFields.${chosen}` })}
      />
      <Group gap="xs" align="flex-end">
        <NumberInput
          label="Days"
          w={100}
          min={0}
          max={365}
          allowDecimal={false}
          value={Math.abs(offsetDays)}
          onChange={(days) => offset(Number(days), side)}
        />
        <Select
          aria-label="Before or after the date"
          w={150}
          allowDeselect={false}
          disabled={offsetDays === 0}
          data={[
            { value: 'before', label: 'before the date' },
            { value: 'after', label: 'after the date' },
          ]}
          value={side}
          onChange={(which) => offset(Math.abs(offsetDays), which)}
        />
        <TextInput
          type="time"
          label="Time of day"
          value={time}
          onChange={(event) => set({ time: event.currentTarget.value })}
        />
      </Group>
      <Checkbox
        label="Each year"
        description="For a birthday, for example. Starts in the year after the date."
        checked={yearly}
        onChange={(event) => set({ yearly: event.currentTarget.checked ? true : undefined })}
      />
    </>
  );
}

const ZONES = Intl.supportedValuesOf('timeZone');

/** Edits the rules of the whole journey. */
export function RulesForm({ definition, choices, onChange }: FormProps) {
  const set = (part: Partial<Definition>) => onChange({ ...definition, ...part });
  const { entry, goal, quietHours, frequencyCap, timeZone, timeZoneField } = definition;
  const reentry = definition.reentry ?? (entry.yearly === true ? 'always' : 'once');
  return (
    <Stack>
      <Radio.Group
        label="Contacts may enter again"
        value={typeof reentry === 'object' ? 'afterDays' : reentry}
        onChange={(chosen) =>
          set({ reentry: chosen === 'afterDays' ? { afterDays: 30 } : (chosen as 'once' | 'always') })
        }
      >
        <Group gap="lg" mt={6}>
          <Radio value="once" label="Never" />
          <Radio value="always" label="Always" />
          <Radio value="afterDays" label="After some days" />
        </Group>
      </Radio.Group>
      {typeof reentry === 'object' && (
        <NumberInput
          label="Days since they last entered"
          w={220}
          min={1}
          value={reentry.afterDays}
          onChange={(days) => set({ reentry: { afterDays: Number(days) } })}
        />
      )}
      <Checkbox
        label="End the journey when a contact reaches a goal"
        checked={goal !== undefined}
        onChange={(event) => set({ goal: event.currentTarget.checked ? { event: '' } : undefined })}
      />
      {goal !== undefined && (
        <>
          <EventInput label="Goal" value={goal.event} onChange={(event) => set({ goal: { ...goal, event } })} />
          <PropertyConditions
            event={goal.event}
            where={goal.where ?? []}
            onChange={(where) => set({ goal: { ...goal, where: where.length === 0 ? undefined : where } })}
          />
        </>
      )}
      <Checkbox
        label="Quiet hours"
        description="Emails wait until quiet hours are over. Transactional emails are sent."
        checked={quietHours !== undefined}
        onChange={(event) =>
          set({ quietHours: event.currentTarget.checked ? { from: '22:00', to: '07:00' } : undefined })
        }
      />
      {quietHours !== undefined && (
        <Group gap="xs">
          {(['from', 'to'] as const).map((end) => (
            <TextInput
              key={end}
              type="time"
              label={end === 'from' ? 'From' : 'To'}
              value={quietHours[end]}
              onChange={(event) => set({ quietHours: { ...quietHours, [end]: event.currentTarget.value } })}
            />
          ))}
        </Group>
      )}
      <Checkbox
        label="Limit the emails per contact"
        description="Emails of all journeys and campaigns count. A contact at the limit skips the email."
        checked={frequencyCap !== undefined}
        onChange={(event) => set({ frequencyCap: event.currentTarget.checked ? { messages: 3, days: 7 } : undefined })}
      />
      {frequencyCap !== undefined && (
        <Group gap="xs">
          {(['messages', 'days'] as const).map((part) => (
            <NumberInput
              key={part}
              label={part === 'messages' ? 'Emails' : 'Within days'}
              w={120}
              min={1}
              value={frequencyCap[part]}
              onChange={(count) => set({ frequencyCap: { ...frequencyCap, [part]: Number(count) } })}
            />
          ))}
        </Group>
      )}
      <Select
        label="Time zone"
        searchable
        clearable
        placeholder="UTC"
        limit={50}
        data={ZONES}
        value={timeZone ?? null}
        onChange={(zone) => set({ timeZone: zone ?? undefined })}
      />
      <Select
        label="Or the contact’s time zone, from the field"
        clearable
        placeholder="None"
        data={choices.fields
          .filter(mayHoldTimeZones)
          .map(({ key, label }) => ({ value: `customFields.${key}`, label }))}
        value={timeZoneField === undefined ? null : `customFields.${timeZoneField.replace(/^custom_?fields\./i, '')}`}
        onChange={(field) => set({ timeZoneField: field ?? undefined })}
      />
    </Stack>
  );
}
