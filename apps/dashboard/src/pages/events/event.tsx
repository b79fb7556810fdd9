import { Button, Card, Textarea } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { StatusBadge } from '../../components/badge.tsx';
import { Chart } from '../../components/chart.tsx';
import { ChartFigure } from '../../components/chart-figure.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { DialogForm } from '../../components/form.tsx';
import { TextLink } from '../../components/link.tsx';
import { MoreMenu } from '../../components/more-menu.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { BackLabel, Page } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { number } from '../campaigns/campaign-labels.ts';
import { LatestEvents } from './latest-events.tsx';
import { Properties } from './properties.tsx';
import { type Definition, EVENT_DEFINITION, UPDATE } from './event-definition.ts';

const DELETE = graphql(`
  mutation DeleteEventDefinition($id: ID!) {
    deleteCustomEventDefinition(id: $id) {
      deletedId
    }
  }
`);

/** One event name: daily counts, properties and latest events. */
export function Event() {
  const { definitionId } = useParams({ from: '/auth/p/$projectId/events/$definitionId' });
  const { id: projectId } = useProject();
  const definition = useApiQuery(EVENT_DEFINITION, { id: definitionId });
  const row = definition.data?.customEventDefinition;
  return (
    <Page
      title={row?.name ?? 'Event'}
      about={row?.description}
      mark={row?.locked === true && <StatusBadge tone="quiet">Locked</StatusBadge>}
      back={
        <TextLink to="/p/$projectId/events" params={{ projectId }} size="sm">
          <BackLabel>Events</BackLabel>
        </TextLink>
      }
      actions={row && <Actions definition={row} />}
    >
      <QueryResult of={definition}>
        {({ customEventDefinition: known }) => (
          <>
            <Days definition={known} />
            <Properties definition={known} />
            <LatestEvents name={known.name} />
          </>
        )}
      </QueryResult>
    </Page>
  );
}

const date = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

function Days({ definition: { days, eventCount } }: { definition: Definition }) {
  const points = days.map((each) => ({ ...each, when: date.format(new Date(each.day)) }));
  return (
    <Card>
      <ChartFigure
        title="Events by day"
        about={`${number(eventCount)} in the last 30 days, by day in UTC.`}
        columns={['Day', 'Events']}
        rows={points.map((point) => [point.when, number(point.eventCount)])}
      >
        <Chart kind="bars" points={points} series={[{ name: 'eventCount', label: 'Events', color: 'pine.6' }]} />
      </ChartFigure>
    </Card>
  );
}

function Actions({ definition: { id, name, description, locked } }: { definition: Definition }) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const canWrite = usePermission('write');
  const [asked, setAsked] = useState<'description' | 'lock'>();
  const update = useApiMutation(UPDATE);
  const remove = useApiMutation(DELETE);
  const close = () => setAsked(undefined);
  if (!canWrite) return null;
  const lock = async () => {
    if ((await update.run({ id, input: { locked: !locked } })) === undefined) return;
    notifySuccess(locked ? 'The schema is unlocked.' : 'The schema is locked.');
    close();
  };
  const confirmDelete = async () => {
    if ((await remove.run({ id })) === undefined) return;
    notifySuccess(`${name} was deleted.`);
    void navigate({ to: '/p/$projectId/events', params: { projectId }, replace: true });
  };
  return (
    <>
      <Button variant="default" onClick={() => setAsked('description')}>
        Edit description
      </Button>
      <Button variant="default" onClick={() => setAsked('lock')}>
        {locked ? 'Unlock schema' : 'Lock schema'}
      </Button>
      <MoreMenu
        name={name}
        remove={{
          title: 'Delete this event name?',
          about:
            'The name and its properties are deleted. Its events are kept, and the name returns with the next event.',
          run: () => void confirmDelete(),
          running: remove.running,
          problem: remove.problem,
        }}
      />
      <Confirm
        opened={asked === 'lock'}
        onClose={close}
        title={locked ? 'Unlock the schema?' : 'Lock the schema?'}
        action={locked ? 'Unlock' : 'Lock'}
        harmless
        running={update.running}
        problem={update.problem}
        onConfirm={() => void lock()}
      >
        {locked
          ? 'Events with new properties, or with values of other types, are accepted again.'
          : 'Events with properties that are not listed, or with values of other types, are rejected.'}
      </Confirm>
      <Dialog opened={asked === 'description'} onClose={close} title="Edit description">
        <EditDescription id={id} description={description} onClose={close} />
      </Dialog>
    </>
  );
}

function EditDescription({ id, description, onClose }: { id: string; description: string; onClose: () => void }) {
  const update = useApiMutation(UPDATE);
  return (
    <DialogForm
      values={{ description }}
      mutation={update}
      save={async (input) => {
        if ((await update.run({ id, input })) === undefined) return;
        notifySuccess('Saved.');
        onClose();
      }}
      submit="Save"
      onClose={onClose}
    >
      {(form) => <Textarea label="Description" data-autofocus autosize {...form.getInputProps('description')} />}
    </DialogForm>
  );
}
