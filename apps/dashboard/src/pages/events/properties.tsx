import { Button, Card, Code, Group, Select, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { usePermission } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import type { CustomEventPropertyType } from '../../generated/graphql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { StatusBadge } from '../../components/badge.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { changedOf, DialogForm } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { type Definition, UPDATE } from './event-definition.ts';

type Property = Definition['properties'][number];

const TYPES: Record<CustomEventPropertyType, string> = {
  string: 'Text',
  number: 'Number',
  boolean: 'Yes or no',
  date: 'Date',
  array: 'List',
  object: 'Object',
};

/** The properties of an event name, which users can describe. */
export function Properties({ definition: { id, properties } }: { definition: Definition }) {
  const canWrite = usePermission('write');
  const [editing, setEditing] = useState<Property>();
  const [removing, setRemoving] = useState<Property>();
  return (
    <Section title="Properties" about="Discovered from the events received.">
      {properties.length === 0 ? (
        <Card>
          <Text size="sm" c="dimmed">
            No event had properties.
          </Text>
        </Card>
      ) : (
        <DataTable
          label="Properties"
          rows={properties}
          keyOf={({ name }) => name}
          columns={[
            {
              title: 'Property',
              cell: ({ name, description }) => (
                <>
                  <Code className="breakable">{name}</Code>
                  {description !== '' && (
                    <Text size="xs" c="dimmed" className="breakable">
                      {description}
                    </Text>
                  )}
                </>
              ),
            },
            {
              title: 'Type',
              cell: (property) => <PropertyTypes of={property} />,
            },
            {
              title: 'Default',
              from: 'md',
              cell: ({ defaultValue }) => (defaultValue === null ? '–' : JSON.stringify(defaultValue)),
            },
            {
              title: 'Example',
              from: 'sm',
              cell: ({ example }) => <span className="breakable">{example ?? '–'}</span>,
            },
            { title: 'Last seen', from: 'lg', cell: ({ lastSeenAt }) => <When at={lastSeenAt} /> },
            {
              title: 'Change',
              silent: true,
              align: 'right',
              cell: (property) =>
                canWrite && (
                  <Group gap={4} justify="flex-end">
                    <Button size="compact-sm" variant="subtle" color="gray" onClick={() => setEditing(property)}>
                      Edit<span className="visually-hidden"> {property.name}</span>
                    </Button>
                    <Button size="compact-sm" variant="subtle" color="red" onClick={() => setRemoving(property)}>
                      Remove<span className="visually-hidden"> {property.name}</span>
                    </Button>
                  </Group>
                ),
            },
          ]}
        />
      )}
      <Dialog
        opened={editing !== undefined}
        onClose={() => setEditing(undefined)}
        title={`Edit ${editing?.name ?? ''}`}
      >
        {editing !== undefined && <EditProperty id={id} property={editing} onClose={() => setEditing(undefined)} />}
      </Dialog>
      <RemoveProperty id={id} property={removing} onClose={() => setRemoving(undefined)} />
    </Section>
  );
}

function PropertyTypes({ of: { type, types, hasConflict } }: { of: Property }) {
  const received = types.map((each) => TYPES[each]).join(', ');
  return (
    <Group gap={6}>
      <span>{type === null ? received : TYPES[type]}</span>
      {hasConflict && <StatusBadge tone="warn">Conflict</StatusBadge>}
      {hasConflict && type !== null && (
        <Text size="xs" c="dimmed">
          Received: {received}
        </Text>
      )}
    </Group>
  );
}

/** The field of a change that a problem names, such as `description` for `properties.0.description`. */
const AT = 'properties.0.';

function EditProperty({ id, property, onClose }: { id: string; property: Property; onClose: () => void }) {
  const update = useApiMutation(UPDATE);
  const problem = update.problem && {
    ...update.problem,
    fields: Object.fromEntries(
      Object.entries(update.problem.fields).map(([field, message]) => [field.replace(AT, ''), message]),
    ),
  };
  return (
    <DialogForm
      values={{
        description: property.description,
        type: property.type as string,
        defaultValue: property.defaultValue === null ? '' : JSON.stringify(property.defaultValue),
      }}
      validate={{ defaultValue: (text) => (jsonOf(text) === undefined ? 'Enter JSON, such as 0 or "none"' : null) }}
      mutation={{ ...update, problem }}
      save={async (values, form) => {
        const { type, defaultValue, ...changed } = changedOf(values, form);
        const change = {
          name: property.name,
          ...changed,
          ...(type === undefined ? {} : { type: type as CustomEventPropertyType | null }),
          ...(defaultValue === undefined ? {} : { defaultValue: jsonOf(defaultValue) }),
        };
        if ((await update.run({ id, input: { properties: [change] } })) === undefined) return;
        notifySuccess('Saved.');
        onClose();
      }}
      submit="Save"
      onClose={onClose}
    >
      {(form) => (
        <>
          <TextInput label="Description" autoComplete="off" data-autofocus {...form.getInputProps('description')} />
          <Select
            label="Type"
            description="Values of other types are a conflict."
            placeholder="As received"
            clearable
            data={Object.entries(TYPES).map(([value, label]) => ({ value, label }))}
            {...form.getInputProps('type')}
          />
          <TextInput
            label="Default"
            description="The JSON value to assume for events without the property. Leave blank for none."
            autoComplete="off"
            {...form.getInputProps('defaultValue')}
          />
        </>
      )}
    </DialogForm>
  );
}

/** The value of JSON text; null if blank, undefined if it is no JSON. */
function jsonOf(text: string): unknown {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function RemoveProperty({
  id,
  property,
  onClose,
}: {
  id: string;
  property: Property | undefined;
  onClose: () => void;
}) {
  const update = useApiMutation(UPDATE);
  const confirm = async () => {
    if (property === undefined) return;
    const properties = [{ name: property.name, remove: true }];
    if ((await update.run({ id, input: { properties } })) === undefined) return;
    notifySuccess(`${property.name} was removed.`);
    onClose();
  };
  return (
    <Confirm
      opened={property !== undefined}
      onClose={onClose}
      title={`Remove ${property?.name ?? ''}?`}
      action="Remove"
      running={update.running}
      problem={update.problem}
      onConfirm={() => void confirm()}
    >
      Events keep its values. It returns with the next event that has it, unless the schema is locked.
    </Confirm>
  );
}
