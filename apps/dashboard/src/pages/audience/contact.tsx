import { Badge, Button, Card, Grid, Group, Menu, Stack, Text, TextInput, Title } from '@mantine/core';
import { IconBan, IconDownload, IconEraser, IconMailCheck, IconMailOff, IconTrash } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useUnsavedChanges } from '../../data/unsaved-changes.ts';
import { useVersionedForm } from '../../data/versioned-form.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { ContactQuery } from '../../generated/graphql.ts';
import { ConflictAlert } from '../../components/conflict-alert.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { DotsMenu } from '../../components/dots-menu.tsx';
import { FormButtons, FormProblem } from '../../components/form.tsx';
import { TextLink } from '../../components/link.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { BackLabel, Page, Section } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { When } from '../../components/when.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { labelOf } from './contact-link.tsx';
import { SOURCES } from './contact-search.ts';
import { ContactTimeline } from './contact-timeline.tsx';
import { Erase } from './erase.tsx';
import { FieldInputs } from './field-inputs.tsx';
import { CUSTOM_FIELDS, type CustomField, FieldValue, ofField, type Values } from './field-values.tsx';
import { useSavePersonData } from './person-data.ts';
import { explainReason, type Reason, Subscription } from './subscription.tsx';

const CONTACT = graphql(`
  query Contact($id: ID!) {
    contact(id: $id) {
      id
      name
      hasName
      email
      source
      suppressionStatus
      customFields
      createdAt
      updatedAt
      groups {
        id: groupId
        name
      }
      segments {
        id: segmentId
        name
      }
      activity {
        type
        at
        detail
        origin
        actorName
        messageId
        subject
        campaignId
        campaignName
        journeyId
        journeyName
      }
      events(latest: 50) {
        id
        name
        properties
        occurredAt
      }
    }
  }
`);

const UPDATE = graphql(`
  mutation UpdateContact($id: ID!, $input: UpdateContactInput!) {
    updateContact(id: $id, input: $input) {
      id
      updatedAt
    }
  }
`);

const DELETE = graphql(`
  mutation DeleteContact($id: ID!) {
    contactDelete(id: $id) {
      deletedId
    }
  }
`);

const SUPPRESS = graphql(`
  mutation SuppressContact($email: String!) {
    addSuppression(input: { email: $email }) {
      created
    }
  }
`);

type ContactRow = ContactQuery['contact'];

/** One contact: details, memberships and activity. */
export function Contact() {
  const { contactId } = useParams({ from: '/auth/p/$projectId/contacts/$contactId' });
  const { id: projectId } = useProject();
  const contact = useApiQuery(CONTACT, { id: contactId });
  const fields = useApiQuery(CUSTOM_FIELDS, {});
  const row = contact.data?.contact;
  return (
    <Page
      title={row === undefined ? 'Contact' : labelOf(row)}
      mark={row && <Subscription status={row.suppressionStatus} />}
      about={
        row && (
          <Group component="span" gap={4} wrap="nowrap">
            <span className="breakable">{row.hasName ? row.email : 'No name'}</span>
            <CopyButton text={row.email} label="Copy address" />
          </Group>
        )
      }
      back={
        <TextLink to="/p/$projectId/contacts" params={{ projectId }} size="sm">
          <BackLabel>Contacts</BackLabel>
        </TextLink>
      }
      actions={row && <Actions contact={row} />}
    >
      <QueryResult of={contact}>
        {({ contact: known }) => (
          <QueryResult of={fields}>
            {({ customFields }) => <Details contact={known} fields={customFields.nodes} />}
          </QueryResult>
        )}
      </QueryResult>
    </Page>
  );
}

function Details({ contact, fields }: { contact: ContactRow; fields: CustomField[] }) {
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Stack gap="lg">
          <DescriptionList contact={contact} fields={fields} />
          <Belongs contact={contact} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Section title="Activity">
          <Card>
            <ContactTimeline activity={contact.activity} events={contact.events} />
          </Card>
        </Section>
      </Grid.Col>
    </Grid>
  );
}

function DescriptionList({ contact, fields }: { contact: ContactRow; fields: CustomField[] }) {
  const [editing, setEditing] = useState(false);
  const canWrite = usePermission('write');
  const { suppressionStatus } = contact;
  return (
    <Section
      title="Details"
      actions={
        canWrite &&
        !editing && (
          <Button variant="default" size="compact-sm" onClick={() => setEditing(true)}>
            Edit
          </Button>
        )
      }
    >
      <Card>
        {editing ? (
          <EditForm contact={contact} fields={fields} onDone={() => setEditing(false)} />
        ) : (
          <Stack gap="sm" component="dl" m={0}>
            {suppressionStatus !== 'none' && (
              <DescriptionItem name="Not mailed">{reasonOf(contact, suppressionStatus)}</DescriptionItem>
            )}
            {fields.map((field) => (
              <DescriptionItem key={field.key} name={field.label}>
                <FieldValue of={field} values={contact.customFields} />
              </DescriptionItem>
            ))}
            <DescriptionItem name="Source">{SOURCES[contact.source]}</DescriptionItem>
            <DescriptionItem name="Added">
              <When at={contact.createdAt} />
            </DescriptionItem>
            <DescriptionItem name="Changed">
              <When at={contact.updatedAt} />
            </DescriptionItem>
          </Stack>
        )}
      </Card>
    </Section>
  );
}

/** Who suppressed the contact and why, from its activity. */
function reasonOf({ activity }: ContactRow, reason: Reason): string {
  const cause = activity.find(({ type, detail }) => type === 'contact.suppressed' && detail === reason);
  return explainReason(reason, cause?.origin ?? null, cause?.actorName);
}

/** A term and its value inside a `dl`. */
export function DescriptionItem({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <Group align="flex-start" gap="md" style={{ rowGap: 0 }}>
      <Text component="dt" size="sm" c="dimmed" w={110} className="breakable">
        {name}
      </Text>
      <Text component="dd" size="sm" m={0} className="breakable" flex="1 1 6rem">
        {children}
      </Text>
    </Group>
  );
}

/** Prefixes custom field keys in the form values. */
const OWN = 'customFields.';

function contentOf({ name, hasName, email, customFields }: ContactRow, fields: CustomField[]): Record<string, unknown> {
  const values = customFields as Values;
  const keys = new Set([...fields.map(({ key }) => key), ...Object.keys(values)]);
  return {
    name: hasName ? name : '',
    email,
    ...Object.fromEntries([...keys].map((key) => [OWN + key, ofField(values, key) ?? null])),
  };
}

const valuesOf = (content: Record<string, unknown>): Values =>
  Object.fromEntries(
    Object.entries(content)
      .filter(([key, value]) => key.startsWith(OWN) && value !== null)
      .map(([key, value]) => [key.slice(OWN.length), value]),
  );

function EditForm({ contact, fields, onDone }: { contact: ContactRow; fields: CustomField[]; onDone: () => void }) {
  const update = useApiMutation(UPDATE);
  const edited = useVersionedForm(
    { content: contentOf(contact, fields), version: contact.updatedAt },
    { mutation: update },
  );
  const { content, set, conflict, problem } = edited;
  useUnsavedChanges(!edited.isSaved);
  const values = valuesOf(content);
  const readOnly = conflict?.seesTheirs === true;
  const save = () =>
    edited.save(async ({ name, email, ...others }, updatedAt) => {
      const changed = String(email).trim() === contact.email ? {} : { email: String(email) };
      const input = { name: String(name), ...changed, customFields: valuesOf(others), updatedAt: String(updatedAt) };
      const data = await update.run({ id: contact.id, input });
      if (data === undefined) return undefined;
      notifySuccess('Saved.');
      return data.updateContact.updatedAt;
    }, onDone);
  const setValues = (next: Values) =>
    set(Object.fromEntries(fields.map(({ key }) => [OWN + key, ofField(next, key) ?? null])));
  const labels = Object.fromEntries(fields.map(({ key, label }) => [OWN + key, label]));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
      noValidate
    >
      <Stack gap="sm">
        <ConflictAlert
          conflict={conflict}
          of={{ editedById: null, editedByName: null, updatedAt: contact.updatedAt }}
          labels={{ name: 'name', email: 'address', ...labels }}
          onKeep={() => void save()}
        />
        <FormProblem problem={problem} fields={['email', 'name', ...fields.map(({ key }) => key)]} />
        <TextInput
          label="Name"
          description="Without one, templates use their fallback."
          data-autofocus
          autoComplete="off"
          value={String(content.name)}
          error={problem?.fields.name}
          readOnly={readOnly}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        <TextInput
          label="Email"
          type="email"
          autoComplete="off"
          value={String(content.email)}
          error={problem?.fields.email}
          readOnly={readOnly}
          onChange={(event) => set({ email: event.currentTarget.value })}
        />
        <FieldInputs fields={fields} values={values} errors={problem?.fields ?? {}} onChange={setValues} />
        <FormButtons submit="Save" running={update.running} disabled={conflict !== undefined} onCancel={onDone} />
      </Stack>
    </form>
  );
}

function Belongs({ contact: { groups, segments } }: { contact: ContactRow }) {
  const { id: projectId } = useProject();
  const list = (kind: 'group' | 'segment', rows: { id: string; name: string }[]) =>
    rows.length === 0 ? (
      <Text size="sm" c="dimmed">
        Not in any {kind}.
      </Text>
    ) : (
      <Group gap={6}>
        {rows.map(({ id, name }) => (
          <TextLink
            key={id}
            to="/p/$projectId/contacts"
            params={{ projectId }}
            search={{ [kind]: id }}
            underline="never"
          >
            <Badge color="gray" size="lg" className="linked">
              {name}
            </Badge>
          </TextLink>
        ))}
      </Group>
    );
  return (
    <Section title="Groups and segments">
      <Card>
        <Stack gap="md">
          <Stack gap={6}>
            <Title order={3}>Groups</Title>
            {list('group', groups)}
          </Stack>
          <Stack gap={6}>
            <Title order={3}>Segments</Title>
            {list('segment', segments)}
          </Stack>
        </Stack>
      </Card>
    </Section>
  );
}

function Actions({ contact }: { contact: ContactRow }) {
  const update = useApiMutation(UPDATE);
  const suppress = useApiMutation(SUPPRESS);
  const [asked, setAsked] = useState<'delete' | 'erase'>();
  const savePersonData = useSavePersonData();
  const canWrite = usePermission('write');
  const canManage = usePermission('manage');
  const close = () => setAsked(undefined);
  if (!canWrite) return null;
  const { id, email, suppressionStatus } = contact;
  const name = labelOf(contact);
  const subscribe = async (subscribed: boolean) => {
    if ((await update.run({ id, input: { subscribed } })) === undefined) return;
    notifySuccess(subscribed ? `${name} is subscribed again.` : `${name} is unsubscribed.`);
  };
  const block = async () => {
    if ((await suppress.run({ email })) !== undefined) notifySuccess(`${email} is suppressed.`);
  };
  return (
    <>
      {suppressionStatus === 'unsubscribed' && (
        <Button
          variant="default"
          leftSection={<IconMailCheck size={16} aria-hidden />}
          loading={update.running}
          onClick={() => void subscribe(true)}
        >
          Resubscribe
        </Button>
      )}
      {suppressionStatus === 'none' && (
        <Button
          variant="default"
          leftSection={<IconMailOff size={16} aria-hidden />}
          loading={update.running}
          onClick={() => void subscribe(false)}
        >
          Unsubscribe
        </Button>
      )}
      <DotsMenu label={`More for ${name}`}>
        {suppressionStatus === 'none' && (
          <Menu.Item leftSection={<IconBan size={16} aria-hidden />} onClick={() => void block()}>
            Suppress address
          </Menu.Item>
        )}
        {canManage && (
          <Menu.Item leftSection={<IconDownload size={16} aria-hidden />} onClick={() => void savePersonData(contact)}>
            Export personal data
          </Menu.Item>
        )}
        <Menu.Item
          color="var(--mantine-color-error)"
          leftSection={<IconTrash size={16} aria-hidden />}
          onClick={() => setAsked('delete')}
        >
          Delete
        </Menu.Item>
        {canManage && (
          <Menu.Item
            color="var(--mantine-color-error)"
            leftSection={<IconEraser size={16} aria-hidden />}
            onClick={() => setAsked('erase')}
          >
            Erase personal data
          </Menu.Item>
        )}
      </DotsMenu>
      <Delete contact={contact} opened={asked === 'delete'} onClose={close} />
      <Erase contact={contact} opened={asked === 'erase'} onClose={close} />
      <FormProblem problem={update.problem ?? suppress.problem} />
    </>
  );
}

function Delete({ contact, opened, onClose }: { contact: ContactRow; opened: boolean; onClose: () => void }) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const remove = useApiMutation(DELETE);
  const confirm = async () => {
    if ((await remove.run({ id: contact.id })) === undefined) return;
    notifySuccess(`${contact.email} was deleted.`);
    void navigate({ to: '/p/$projectId/contacts', params: { projectId }, ignoreBlocker: true, replace: true });
  };
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title="Delete this contact?"
      action="Delete"
      confirmationText={contact.email}
      running={remove.running}
      problem={remove.problem}
      onConfirm={() => void confirm()}
    >
      The contact and its data are permanently deleted. If the address is suppressed, it stays suppressed.
    </Confirm>
  );
}
