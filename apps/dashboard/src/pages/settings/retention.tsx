import { Card, Select, Stack } from '@mantine/core';
import { useMay, useProject } from '../../app/session.tsx';
import { useChange } from '../../data/change.ts';
import { useRead } from '../../data/read.ts';
import { graphql } from '../../generated/gql.ts';
import { FormProblem } from '../../parts/form.tsx';
import { tell } from '../../parts/notify.tsx';
import { Section } from '../../parts/page.tsx';
import { Answer } from '../../parts/states.tsx';

const RETENTION = graphql(`
  query MessageRetention {
    projects {
      id
      messageRetentionDays
      keptMessageDays
    }
  }
`);

const CHANGE = graphql(`
  mutation SetMessageRetention($days: Int) {
    setMessageRetention(days: $days) {
      id
    }
  }
`);

const CHOICES = [30, 90, 180, 365, 730, 1825];

const daysWord = (days: number) =>
  days % 365 === 0 ? `${days / 365} ${days === 365 ? 'year' : 'years'}` : `${days} days`;

/** How long it is kept who got which mail, and what became of it. */
export function Retention() {
  const { id } = useProject();
  const manages = useMay()('manage');
  const retention = useRead(RETENTION, {});
  const change = useChange(CHANGE);
  const set = async (value: string | null) => {
    if ((await change.run({ days: value === null ? null : Number(value) })) === undefined) return;
    tell('What is older is deleted within the hour.');
  };
  return (
    <Section
      title="Messages"
      about="How long it is kept who got which mail and what became of it. Counts of campaigns and links stay, and so do suppressions."
    >
      <Answer of={retention}>
        {({ projects }) => {
          const project = projects.find((each) => each.id === id);
          const own = project?.messageRetentionDays ?? null;
          const given = project?.keptMessageDays ?? null;
          const days = own === null || CHOICES.includes(own) ? CHOICES : [...CHOICES, own].sort((a, b) => a - b);
          return (
            <Card>
              <Stack>
                <FormProblem problem={change.problem} />
                <Select
                  label="Keep messages"
                  placeholder={
                    own === null && given !== null ? `${daysWord(given)}, as set for all projects` : 'For ever'
                  }
                  clearable
                  data={days.map((each) => ({ value: String(each), label: daysWord(each) }))}
                  value={own === null ? null : String(own)}
                  disabled={!manages}
                  onChange={(value) => void set(value)}
                />
              </Stack>
            </Card>
          );
        }}
      </Answer>
    </Section>
  );
}
