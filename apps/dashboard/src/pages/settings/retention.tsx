import { Card, Select, Stack } from '@mantine/core';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { FormProblem } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';

const RETENTION = graphql(`
  query Retention {
    projects {
      id
      messageRetentionDays
      keptMessageDays
      eventRetentionDays
      keptEventDays
      customEventRetentionDays
      keptCustomEventDays
    }
  }
`);

const KEEP_MESSAGES = graphql(`
  mutation SetMessageRetention($days: Int) {
    setMessageRetention(days: $days) {
      id
    }
  }
`);

const KEEP_EVENTS = graphql(`
  mutation SetEventRetention($days: Int) {
    setEventRetention(days: $days) {
      id
    }
  }
`);

const KEEP_CUSTOM_EVENTS = graphql(`
  mutation SetCustomEventRetention($days: Int) {
    setCustomEventRetention(days: $days) {
      id
    }
  }
`);

const daysWord = (days: number) =>
  days % 365 === 0 ? `${days / 365} ${days === 365 ? 'year' : 'years'}` : days === 1 ? '1 day' : `${days} days`;

/** Retention of messages, events and custom events. */
export function Retention() {
  const { id } = useProject();
  const retention = useApiQuery(RETENTION, {});
  const messages = useApiMutation(KEEP_MESSAGES);
  const events = useApiMutation(KEEP_EVENTS);
  const customEvents = useApiMutation(KEEP_CUSTOM_EVENTS);
  return (
    <Section
      title="Retention"
      about="Older data is deleted within an hour. Campaign and link statistics and suppressions are kept."
    >
      <QueryResult of={retention}>
        {({ projects }) => {
          const project = projects.find((each) => each.id === id);
          return (
            <Card>
              <Stack>
                <FormProblem problem={messages.problem ?? events.problem ?? customEvents.problem} />
                <KeptFor
                  label="Keep messages"
                  about="Recipients, delivery status and content of sent messages."
                  own={project?.messageRetentionDays ?? null}
                  kept={project?.keptMessageDays ?? null}
                  choices={[30, 90, 180, 365, 730, 1825]}
                  set={(days) => messages.run({ days })}
                />
                <KeptFor
                  label="Keep events"
                  about="Events with their webhook deliveries and attempts. They can be replayed until they are deleted."
                  own={project?.eventRetentionDays ?? null}
                  kept={project?.keptEventDays ?? null}
                  choices={[7, 14, 30, 60, 90, 180, 365]}
                  set={(days) => events.run({ days })}
                />
                <KeptFor
                  label="Keep custom events"
                  about="What contacts did in your product."
                  own={project?.customEventRetentionDays ?? null}
                  kept={project?.keptCustomEventDays ?? null}
                  choices={[30, 90, 180, 365, 730, 1825, 3650]}
                  set={(days) => customEvents.run({ days })}
                />
              </Stack>
            </Card>
          );
        }}
      </QueryResult>
    </Section>
  );
}

interface KeptForProps {
  label: string;
  about: string;
  /** The project's setting, in days; null uses the server default. */
  own: number | null;
  /** The effective value, in days; null means forever. */
  kept: number | null;
  choices: readonly number[];
  /** Undefined if rejected. */
  set: (days: number | null) => Promise<unknown>;
}

function KeptFor({ label, about, own, kept, choices, set }: KeptForProps) {
  const canManage = usePermission('manage');
  const days = own === null || choices.includes(own) ? choices : [...choices, own].sort((a, b) => a - b);
  // The server default is known only while it applies.
  const asInstalled =
    own === null ? `${kept === null ? 'Forever' : daysWord(kept)}, the server default` : 'Server default';
  const change = async (value: string | null) => {
    const chosen = value === AS_INSTALLED ? null : Number(value);
    if ((await set(chosen)) === undefined) return;
    notifySuccess(chosen === null ? 'Using the server default.' : `Kept for ${daysWord(chosen)} from now on.`);
  };
  return (
    <Select
      label={label}
      description={about}
      allowDeselect={false}
      data={[
        { value: AS_INSTALLED, label: asInstalled },
        ...days.map((each) => ({ value: String(each), label: daysWord(each) })),
      ]}
      value={own === null ? AS_INSTALLED : String(own)}
      disabled={!canManage}
      onChange={(value) => void change(value)}
    />
  );
}

const AS_INSTALLED = 'installation';
