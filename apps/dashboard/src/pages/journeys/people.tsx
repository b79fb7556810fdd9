import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { IconUserPlus, IconUsers } from '@tabler/icons-react';
import { useState } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { cursorOf } from '../../data/paging.ts';
import { usePolling } from '../../data/polling.ts';
import { useShowSearch } from '../../data/show-search.ts';
import { useUnsavedChanges } from '../../data/unsaved-changes.ts';
import { graphql } from '../../generated/gql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { countOf } from '../../components/numbers.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { FormButtons, FormError, FormProblem } from '../../components/form.tsx';
import { RowLink } from '../../components/link.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { Empty, QueryResult, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { formatDayAndTime, When } from '../../components/when.tsx';
import { labelOf } from '../audience/contact-link.tsx';
import { ContactPicker, type Picked } from '../audience/contact-picker.tsx';
import type { JourneySearch } from './journey-search.ts';
import { ENROLLMENT_STATUS } from './journey-search.ts';
import { END_REASONS } from './labels.ts';

const ENROLLMENTS = graphql(`
  query Enrollments($journeyId: ID!, $after: String, $stepId: String, $status: EnrollmentStatus) {
    enrollments(first: 30, after: $after, journeyId: $journeyId, stepId: $stepId, status: $status) {
      nodes {
        id
        status
        stepId
        dueAt
        waitsFor
        enteredAt
        endReason
        contact {
          id
          name
          hasName
          email
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const ENROLL = graphql(`
  mutation EnrollContacts($id: ID!, $input: EnrollContactsInput!) {
    enrollContacts(id: $id, input: $input) {
      enrolled
    }
  }
`);

/** The contacts of a journey, filtered by step and status. */
export function People({
  journeyId,
  search,
  steps,
  isActive,
}: {
  journeyId: string;
  search: JourneySearch;
  /** Ids of the steps to choose from. */
  steps: readonly string[];
  isActive: boolean;
}) {
  const { id: projectId } = useProject();
  const show = useShowSearch();
  const canWrite = usePermission('write');
  const [enrolling, setEnrolling] = useState(false);
  const { after: _first, ...filters } = search;
  const { step, status } = search;
  const enrollments = useApiQuery(ENROLLMENTS, {
    journeyId,
    after: cursorOf(search) ?? null,
    stepId: step ?? null,
    status: status ?? null,
  });
  usePolling(enrollments.again, isActive);
  const offered = step === undefined || steps.includes(step) ? steps : [...steps, step];
  return (
    <div id="people">
      <Section
        title="Contacts"
        actions={
          canWrite &&
          isActive && (
            <Button
              variant="default"
              leftSection={<IconUserPlus size={16} aria-hidden />}
              onClick={() => setEnrolling(true)}
            >
              Enroll contacts
            </Button>
          )
        }
      >
        <Stack gap="sm">
          <Group gap="xs">
            <Select
              aria-label="Step"
              placeholder="Any step"
              clearable
              w={220}
              data={offered}
              value={step ?? null}
              onChange={(chosen) => show({ ...filters, step: chosen })}
            />
            <Select
              aria-label="Status"
              placeholder="Any status"
              clearable
              w={180}
              data={Object.entries(ENROLLMENT_STATUS).map(([value, [, label]]) => ({ value, label }))}
              value={status ?? null}
              onChange={(chosen) => show({ ...filters, status: chosen })}
            />
          </Group>
          <QueryResult of={enrollments} skeleton={<RowsSkeleton />}>
            {({ enrollments: { nodes, pageInfo } }) =>
              nodes.length === 0 ? (
                <Empty
                  title={step === undefined && status === undefined ? 'No contacts yet' : 'No matching contacts'}
                  icon={IconUsers}
                >
                  Contacts appear here when they enter the journey, with the step they are at.
                </Empty>
              ) : (
                <>
                  <DataTable
                    label="Contacts in the journey"
                    rows={nodes}
                    keyOf={({ id }) => id}
                    columns={[
                      {
                        title: 'Contact',
                        cell: ({ id, contact }) => (
                          <RowLink
                            to="/p/$projectId/enrollments/$enrollmentId"
                            params={{ projectId, enrollmentId: id }}
                          >
                            {contact === null ? 'Deleted' : labelOf(contact)}
                          </RowLink>
                        ),
                      },
                      {
                        title: 'Status',
                        width: 120,
                        cell: (row) => {
                          const [tone, label] = ENROLLMENT_STATUS[row.status];
                          return <StatusBadge tone={tone}>{label}</StatusBadge>;
                        },
                      },
                      { title: 'Step', from: 'sm', cell: ({ stepId }) => stepId },
                      { title: 'Next', from: 'sm', cell: nextOf },
                      { title: 'Entered', from: 'sm', width: 150, cell: ({ enteredAt }) => <When at={enteredAt} /> },
                    ]}
                  />
                  <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
                </>
              )
            }
          </QueryResult>
        </Stack>
      </Section>
      <Dialog opened={enrolling} onClose={() => setEnrolling(false)} title="Enroll contacts">
        <Enroll journeyId={journeyId} onClose={() => setEnrolling(false)} />
      </Dialog>
    </div>
  );
}

/** What a run waits for, or why it ended. */
export function nextOf({
  dueAt,
  waitsFor,
  endReason,
}: {
  dueAt: string | null;
  waitsFor: string | null;
  endReason: string | null;
}): string {
  if (endReason !== null) return END_REASONS[endReason] ?? endReason;
  const until = dueAt === null ? '' : formatDayAndTime(dueAt);
  if (waitsFor !== null) return `Waits for “${waitsFor}”${until === '' ? '' : ` until ${until}`}`;
  return until;
}

function Enroll({ journeyId, onClose }: { journeyId: string; onClose: () => void }) {
  const [picked, setPicked] = useState<Picked[]>([]);
  useUnsavedChanges(picked.length > 0);
  const [refused, setRefused] = useState<string>();
  const enroll = useApiMutation(ENROLL);
  const submit = async () => {
    setRefused(undefined);
    const data = await enroll.run({ id: journeyId, input: { contactIds: picked.map(({ id }) => id) } });
    if (data === undefined) return;
    const { enrolled } = data.enrollContacts;
    const others = picked.length - enrolled;
    if (enrolled === 0) return setRefused('Nobody entered: they are in the journey already, or may not enter now.');
    notifySuccess(
      `${countOf(enrolled, 'contact')} entered the journey.${others === 0 ? '' : ` ${countOf(others, 'other')} may not enter now.`}`,
    );
    onClose();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Stack>
        <FormProblem problem={enroll.problem} />
        <FormError>{refused}</FormError>
        <Text size="sm" c="dimmed">
          They enter at the first step if the conditions of the entry and the rules for entering again allow it.
        </Text>
        <ContactPicker label="Contacts" picked={picked} onPick={setPicked} />
        <FormButtons submit="Enroll" running={enroll.running} disabled={picked.length === 0} onCancel={onClose} />
      </Stack>
    </form>
  );
}
