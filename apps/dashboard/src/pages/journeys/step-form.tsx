import {
  ActionIcon,
  Autocomplete,
  Button,
  Checkbox,
  Group,
  NumberInput,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { EventInput, PropertyConditions } from '../../components/event-conditions.tsx';
import { RecordSelect } from '../../components/record-select.tsx';
import type { Choices, FieldsProps } from './choices.ts';
import { exitsOf } from './definition.ts';
import type { Step, StepType } from './definition-types.ts';
import { ContactFilter, DurationInput } from './fields.tsx';
import { NotifyFields } from './notify-fields.tsx';
import { isKnownType, stepSummary, stepTitle } from './step-types.ts';
import { MESSAGE_OUTCOMES, weekday } from './summaries.ts';
import { WebhookFields } from './webhook-fields.tsx';

/** Edits what a step does and where it leads. Each change applies at once. */
export function StepForm({
  step,
  definition,
  choices,
  setIncomplete,
  onChange,
  onLead,
}: Omit<FieldsProps, 'set'> & {
  onChange: (step: Step) => void;
  /** An exit of the step leads to another step, or ends the journey. */
  onLead: (key: string, to: string | null) => void;
}) {
  const Fields = isKnownType(step.type) ? FIELDS[step.type] : UnknownFields;
  return (
    <Stack>
      {Fields && (
        <Fields
          step={step}
          set={(part) => onChange({ ...step, ...part })}
          choices={choices}
          definition={definition}
          setIncomplete={setIncomplete}
        />
      )}
      {exitsOf(step).map(({ key, label, to }) => (
        <Select
          key={key}
          label={label === '' ? 'Then' : `${label}: then`}
          allowDeselect={false}
          data={[
            { value: END, label: 'End the journey' },
            ...definition.steps
              .filter(({ id }) => id !== step.id)
              .map((each) => ({ value: each.id, label: `${stepTitle(each, choices.names)} (${each.id})` })),
          ]}
          value={to ?? END}
          onChange={(chosen) => onLead(key, chosen === END ? null : chosen)}
        />
      ))}
    </Stack>
  );
}

const END = '';

/** The fields of each type of step; a type without any leads somewhere or ends. */
const FIELDS: Partial<Record<StepType, (props: FieldsProps) => React.ReactNode>> = {
  send: SendFields,
  wait: ({ step, set }) => (
    <DurationInput label="How long" value={step.for ?? {}} onChange={(value) => set({ for: value })} />
  ),
  wait_until: WaitUntilFields,
  wait_for_event: WaitForEventFields,
  condition: ConditionFields,
  split: SplitFields,
  update_field: UpdateFields,
  join_group: GroupFields,
  leave_group: GroupFields,
  notify: NotifyFields,
  webhook: WebhookFields,
};

const UnknownFields = ({ step, choices: { names } }: FieldsProps) => (
  <Text size="sm">{stepSummary(step, names)}. Its settings can’t be shown here; they are kept as they are.</Text>
);

function SendFields({ step, set, choices: { domains } }: FieldsProps) {
  const local = (step.from ?? '').split('@', 1)[0] || 'hello';
  return (
    <>
      <RecordSelect
        of="templates"
        published
        label="Template"
        placeholder="Choose a published template"
        value={step.templateId}
        onChange={(templateId) => set({ templateId: templateId ?? '' })}
      />
      <Autocomplete
        size="sm"
        label="From"
        placeholder={`Ada <hello@${domains[0] ?? 'your-domain.example'}>`}
        data={domains.map((domain) => `${local}@${domain}`)}
        filter={({ options }) => options}
        value={step.from ?? ''}
        onChange={(from) => set({ from })}
      />
      <TextInput
        label="Reply-to"
        placeholder="Same as the from address"
        value={step.replyTo ?? ''}
        onChange={(event) => set({ replyTo: event.currentTarget.value === '' ? undefined : event.currentTarget.value })}
      />
      <Checkbox
        label="Transactional"
        description="Mail that the contact needs, such as a receipt. It also goes to unsubscribed contacts, at any time."
        checked={step.transactional ?? false}
        onChange={(event) => set({ transactional: event.currentTarget.checked || undefined })}
      />
    </>
  );
}

function WaitUntilFields({ step, set }: FieldsProps) {
  const chosen = step.weekdays ?? [];
  return (
    <>
      <TextInput
        label="Time of day"
        type="time"
        w={140}
        value={step.time ?? ''}
        onChange={(event) => set({ time: event.currentTarget.value })}
      />
      <Checkbox.Group
        label="On"
        description="Every day if none is chosen."
        value={chosen.map(String)}
        onChange={(days) => set({ weekdays: days.length === 0 ? undefined : days.map(Number).sort((a, b) => a - b) })}
      >
        <Group gap="sm" mt="xs">
          {[1, 2, 3, 4, 5, 6, 7].map((day) => (
            <Checkbox key={day} value={String(day)} label={weekday(day)} />
          ))}
        </Group>
      </Checkbox.Group>
    </>
  );
}

function WaitForEventFields({ step, set }: FieldsProps) {
  return (
    <>
      <EventInput label="Event" value={step.event ?? ''} onChange={(event) => set({ event })} />
      <PropertyConditions
        event={step.event}
        where={step.where ?? []}
        onChange={(where) => set({ where: where.length === 0 ? undefined : where })}
      />
      <Checkbox
        label="Continue without it after a timeout"
        checked={step.timeout !== undefined}
        onChange={(event) =>
          set(event.currentTarget.checked ? { timeout: { days: 3 } } : { timeout: undefined, onTimeout: undefined })
        }
      />
      {step.timeout !== undefined && (
        <DurationInput label="Wait at most" value={step.timeout} onChange={(timeout) => set({ timeout })} />
      )}
    </>
  );
}

function ConditionFields({ step, set, choices, definition, setIncomplete }: FieldsProps) {
  const sending = definition.steps.filter(({ type, id }) => type === 'send' && id !== step.id);
  const { message } = step;
  return (
    <>
      <Text size="sm" c="dimmed">
        All chosen conditions must hold.
      </Text>
      <RecordSelect
        of="segments"
        label="In the segment"
        clearable
        placeholder="Any"
        value={step.segmentId}
        onChange={(segmentId) => set({ segmentId: segmentId ?? undefined })}
      />
      <Group gap="xs" grow align="flex-end">
        <Select
          label="The email of an earlier step"
          clearable
          placeholder="Any"
          data={sending.map((each) => ({ value: each.id, label: `${stepTitle(each, choices.names)} (${each.id})` }))}
          value={message?.stepId ?? null}
          onChange={(stepId) =>
            set({ message: stepId === null ? undefined : { stepId, outcome: message?.outcome ?? 'opened' } })
          }
        />
        {message !== undefined && (
          <Select
            aria-label="Outcome of the email"
            allowDeselect={false}
            data={Object.entries(MESSAGE_OUTCOMES).map(([value, label]) => ({ value, label }))}
            value={message.outcome}
            onChange={(outcome) =>
              set({ message: { ...message, outcome: (outcome ?? 'opened') as typeof message.outcome } })
            }
          />
        )}
      </Group>
      <PropertyConditions
        where={step.where ?? []}
        onChange={(where) => set({ where: where.length === 0 ? undefined : where })}
      />
      <ContactFilter
        filter={step.filter}
        choices={choices}
        onChange={(filter) => {
          setIncomplete(filter === null);
          if (filter !== null) set({ filter });
        }}
      />
    </>
  );
}

/** Percentages such as 33.4, 33.3 and 33.3 don't add up to exactly 100 in floating point. */
const rounded = (percent: number) => Number(percent.toFixed(3));

function SplitFields({ step, set }: FieldsProps) {
  const branches = step.branches ?? [];
  const total = rounded(branches.reduce((sum, { percent }) => sum + percent, 0));
  return (
    <Stack gap="xs" role="group" aria-label="Branches">
      {branches.map((branch, index) => (
        <Group key={index} gap="xs" align="flex-end">
          <NumberInput
            label={`Branch ${index + 1}`}
            suffix="%"
            min={0}
            max={100}
            w={140}
            value={branch.percent}
            onChange={(percent) =>
              set({
                branches: branches.map((each, at) => (at === index ? { ...each, percent: Number(percent) } : each)),
              })
            }
          />
          {branches.length > 2 && (
            <ActionIcon
              size="lg"
              aria-label={`Remove branch ${index + 1}`}
              onClick={() => set({ branches: branches.filter((_, at) => at !== index) })}
            >
              <IconTrash size={16} aria-hidden />
            </ActionIcon>
          )}
        </Group>
      ))}
      <Group gap="sm">
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => set({ branches: [...branches, { percent: rounded(Math.max(0, 100 - total)) }] })}
        >
          Add branch
        </Button>
        <Text size="sm" c={total === 100 ? 'dimmed' : 'var(--mantine-color-error)'} role="status">
          {total} % in total
        </Text>
      </Group>
    </Stack>
  );
}

function UpdateFields({ step, set, choices: { fields } }: FieldsProps) {
  const key = (step.field ?? '').replace(/^custom_?fields\./i, '');
  const field = fields.find((each) => each.key === key);
  const isCleared = step.value === null;
  return (
    <>
      <Select
        label="Field"
        allowDeselect={false}
        searchable
        data={[
          { value: 'name', label: 'Name' },
          ...fields.map((each) => ({ value: `customFields.${each.key}`, label: each.label })),
        ]}
        value={step.field === 'name' ? 'name' : `customFields.${key}`}
        onChange={(chosen) => set({ field: chosen ?? 'name', value: '' })}
      />
      <Checkbox
        label="Clear the field"
        checked={isCleared}
        onChange={(event) => set({ value: event.currentTarget.checked ? null : '' })}
      />
      {!isCleared && <ValueInput field={field} value={step.value} onChange={(value) => set({ value })} />}
    </>
  );
}

const YES_OR_NO = [
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
];

function ValueInput({
  field,
  value,
  onChange,
}: {
  /** Undefined for the name. */
  field: Choices['fields'][number] | undefined;
  value: Step['value'];
  onChange: (value: string | number | boolean) => void;
}) {
  const text = String(value ?? '');
  if (field?.type === 'number')
    return (
      <NumberInput label="Value" value={text} onChange={(number) => onChange(number === '' ? '' : Number(number))} />
    );
  if (field?.type === 'boolean' || field?.type === 'select') {
    const isChoice = field.type === 'select';
    return (
      <Select
        label="Value"
        allowDeselect={false}
        data={isChoice ? field.options : YES_OR_NO}
        value={text}
        onChange={(chosen) => onChange(isChoice ? (chosen ?? '') : chosen === 'true')}
      />
    );
  }
  return (
    <TextInput
      label="Value"
      type={field?.type === 'date' ? 'date' : 'text'}
      value={text}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function GroupFields({ step, set }: FieldsProps) {
  return (
    <RecordSelect
      of="groups"
      label="Group"
      data-autofocus
      value={step.groupId}
      onChange={(groupId) => set({ groupId: groupId ?? '' })}
    />
  );
}
