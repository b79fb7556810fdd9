import { Button, Group, Menu, TextInput } from '@mantine/core';
import { IconBookmark, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { DialogForm, required } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { stateOf } from '../../components/states.tsx';
import { useApiAction } from '../../components/use-api-action.ts';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { useShowSearch } from '../../data/show-search.ts';
import { type ContactSearch, contactSearch, viewOf } from './contact-search.ts';

const VIEWS = graphql(`
  query ContactViews {
    contactViews {
      viewId
      name
      search
    }
  }
`);

const SAVE = graphql(`
  mutation SaveContactView($input: CreateContactViewInput!) {
    createContactView(input: $input) {
      viewId
    }
  }
`);

const DELETE = graphql(`
  mutation DeleteContactView($id: ID!) {
    contactViewDelete(id: $id) {
      deletedId
    }
  }
`);

/** The user's saved views of the contact list: filters and order under a name. */
export function ViewsMenu({ search }: { search: ContactSearch }) {
  const read = useApiQuery(VIEWS, {});
  const views = read.data?.contactViews;
  const remove = useApiAction(DELETE);
  const show = useShowSearch();
  const [saving, setSaving] = useState(false);
  const isDefault = Object.keys(viewOf(search)).length === 0;
  const forget = async (viewId: string, name: string) => {
    if ((await remove.run({ id: viewId })) !== undefined) notifySuccess(`The view “${name}” was deleted.`);
  };
  return (
    <>
      <Menu width={280} position="bottom-end">
        <Menu.Target>
          <Button variant="default" px="sm" leftSection={<IconBookmark size={16} aria-hidden />}>
            Views
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {views === undefined && <Menu.Label>{stateOf(read)}</Menu.Label>}
          {views?.length === 0 && <Menu.Label>No saved views yet</Menu.Label>}
          {views?.map(({ viewId, name, search: saved }) => (
            <Group key={viewId} gap={0} wrap="nowrap">
              <Menu.Item className="breakable" onClick={() => show(contactSearch(saved as Record<string, unknown>))}>
                {name}
              </Menu.Item>
              <Menu.Item
                w={44}
                aria-label={`Delete the view ${name}`}
                closeMenuOnClick={false}
                onClick={() => void forget(viewId, name)}
              >
                <IconTrash size={16} aria-hidden />
              </Menu.Item>
            </Group>
          ))}
          <Menu.Divider />
          <Menu.Item disabled={isDefault} onClick={() => setSaving(true)}>
            Save this view
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Dialog opened={saving} onClose={() => setSaving(false)} title="Save this view">
        <SaveForm search={viewOf(search)} onClose={() => setSaving(false)} />
      </Dialog>
    </>
  );
}

function SaveForm({ search, onClose }: { search: ContactSearch; onClose: () => void }) {
  const save = useApiMutation(SAVE);
  return (
    <DialogForm
      values={{ name: '' }}
      validate={{ name: required('Enter a name') }}
      mutation={save}
      save={async ({ name }) => {
        if ((await save.run({ input: { name, search } })) === undefined) return;
        notifySuccess(`The view “${name.trim()}” was saved.`);
        onClose();
      }}
      submit="Save"
      onClose={onClose}
    >
      {(form) => (
        <TextInput
          label="Name"
          description="Keeps the search, the filters and the order. Only you see it."
          maxLength={200}
          data-autofocus
          autoComplete="off"
          {...form.getInputProps('name')}
        />
      )}
    </DialogForm>
  );
}
