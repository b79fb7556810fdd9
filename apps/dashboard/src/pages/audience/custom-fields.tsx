import { keyFrom } from '@postroom/csv';
import { Button, Code, Group, Select, TagsInput, Text, TextInput } from '@mantine/core';
import { IconForms, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { usePermission } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { CustomFieldType } from '../../generated/graphql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { changedOf, DialogForm, required } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Page } from '../../components/page.tsx';
import { QueryResult, Empty, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { CUSTOM_FIELDS, type CustomField, FIELD_TYPES } from './field-values.tsx';

const CREATE = graphql(`
  mutation CreateCustomField($input: CreateCustomFieldInput!) {
    createCustomField(input: $input) {
      id
    }
  }
`);

const UPDATE = graphql(`
  mutation UpdateCustomField($id: ID!, $input: UpdateCustomFieldInput!) {
    updateCustomField(id: $id, input: $input) {
      id
    }
  }
`);

const DELETE = graphql(`
  mutation DeleteCustomField($id: ID!) {
    customFieldDelete(id: $id) {
      deletedId
    }
  }
`);

/** The project's custom fields. */
export function CustomFields() {
  const fields = useApiQuery(CUSTOM_FIELDS, {});
  const [editing, setEditing] = useState<CustomField | 'new'>();
  const [deleting, setDeleting] = useState<CustomField>();
  const canWrite = usePermission('write');
  const create = canWrite && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEditing('new')}>
      New field
    </Button>
  );
  return (
    <Page
      title="Custom fields"
      about="Extra information about contacts. Use a field’s key in placeholders and segments."
      actions={create}
    >
      <QueryResult of={fields} skeleton={<RowsSkeleton />}>
        {({ customFields: { nodes } }) =>
          nodes.length === 0 ? (
            <Empty title="No custom fields yet" icon={IconForms} action={create}>
              Add a field such as plan or city to personalize email with {'{{city|your town}}'}, and to build segments.
            </Empty>
          ) : (
            <DataTable
              label="Custom fields"
              rows={nodes}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: 'Field',
                  cell: ({ label, key }) => (
                    <>
                      <Text size="sm" fw={550}>
                        {label}
                      </Text>
                      <Code>{key}</Code>
                    </>
                  ),
                },
                { title: 'Type', from: 'sm', width: 140, cell: ({ type }) => FIELD_TYPES[type] },
                { title: 'Choices', from: 'sm', cell: ({ options }) => options.join(', ') || '–' },
                {
                  title: 'Change',
                  silent: true,
                  align: 'right',
                  cell: (field) =>
                    canWrite && (
                      <Group gap={4} justify="flex-end">
                        <Button size="compact-sm" variant="subtle" color="gray" onClick={() => setEditing(field)}>
                          Edit<span className="visually-hidden"> {field.label}</span>
                        </Button>
                        <Button size="compact-sm" variant="subtle" color="red" onClick={() => setDeleting(field)}>
                          Delete<span className="visually-hidden"> {field.label}</span>
                        </Button>
                      </Group>
                    ),
                },
              ]}
            />
          )
        }
      </QueryResult>
      <Dialog
        opened={editing !== undefined}
        onClose={() => setEditing(undefined)}
        title={editing === 'new' ? 'New field' : 'Edit field'}
      >
        {editing === 'new' && <NewField onClose={() => setEditing(undefined)} />}
        {typeof editing === 'object' && <EditField field={editing} onClose={() => setEditing(undefined)} />}
      </Dialog>
      <Delete field={deleting} onClose={() => setDeleting(undefined)} />
    </Page>
  );
}

const NO_CHOICES = 'Enter at least one choice';

function NewField({ onClose }: { onClose: () => void }) {
  const create = useApiMutation(CREATE);
  return (
    <DialogForm
      values={{ label: '', key: '', type: 'text' as CustomFieldType, options: [] as string[] }}
      validate={{
        label: required('Enter a name'),
        options: (options, { type }) => (type === 'select' && options.length === 0 ? NO_CHOICES : null),
      }}
      mutation={create}
      save={async ({ label, key, type, options }) => {
        const input = {
          label,
          key: key.trim() === '' ? keyFrom(label) : key,
          type,
          ...(type === 'select' ? { options } : {}),
        };
        if ((await create.run({ input })) === undefined) return;
        notifySuccess(`${label} was added.`);
        onClose();
      }}
      submit="Add"
      onClose={onClose}
    >
      {(form) => (
        <>
          <TextInput
            label="Name"
            placeholder="City"
            autoComplete="off"
            data-autofocus
            {...form.getInputProps('label')}
          />
          <TextInput
            label="Key"
            description="Used in placeholders and the API. It can't be changed later."
            placeholder={keyFrom(form.values.label) || 'city'}
            autoComplete="off"
            {...form.getInputProps('key')}
          />
          <Select
            label="Type"
            description="It can't be changed later."
            allowDeselect={false}
            data={Object.entries(FIELD_TYPES).map(([value, label]) => ({ value, label }))}
            {...form.getInputProps('type')}
          />
          {form.values.type === 'select' && (
            <TagsInput
              size="sm"
              label="Choices"
              description="Press Enter after each choice."
              {...form.getInputProps('options')}
            />
          )}
        </>
      )}
    </DialogForm>
  );
}

function EditField({ field, onClose }: { field: CustomField; onClose: () => void }) {
  const update = useApiMutation(UPDATE);
  return (
    <DialogForm
      values={{ label: field.label, options: field.options }}
      validate={{
        label: required('Enter a name'),
        options: (options) => (field.type === 'select' && options.length === 0 ? NO_CHOICES : null),
      }}
      mutation={update}
      save={async (values, form) => {
        const { label, options } = changedOf(values, form);
        const input = { label, options: field.type === 'select' ? options : undefined };
        if ((await update.run({ id: field.id, input })) === undefined) return;
        notifySuccess('Saved.');
        onClose();
      }}
      submit="Save"
      onClose={onClose}
    >
      {(form) => (
        <>
          <TextInput label="Name" autoComplete="off" data-autofocus {...form.getInputProps('label')} />
          {field.type === 'select' && (
            <TagsInput
              size="sm"
              label="Choices"
              description="Existing contact values are kept."
              {...form.getInputProps('options')}
            />
          )}
        </>
      )}
    </DialogForm>
  );
}

function Delete({ field, onClose }: { field: CustomField | undefined; onClose: () => void }) {
  const remove = useApiMutation(DELETE);
  const confirm = async () => {
    if (field === undefined || (await remove.run({ id: field.id })) === undefined) return;
    notifySuccess(`${field.label} was deleted.`);
    onClose();
  };
  return (
    <Confirm
      opened={field !== undefined}
      onClose={onClose}
      title="Delete this field?"
      action="Delete"
      confirmationText={field?.key ?? ''}
      running={remove.running}
      problem={remove.problem}
      onConfirm={() => void confirm()}
    >
      Its values are deleted from all contacts. This cannot be undone.
    </Confirm>
  );
}
