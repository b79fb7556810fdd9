import { Card, Stack, Switch } from '@mantine/core';
import { useMay, useProject } from '../../app/session.tsx';
import { useChange } from '../../data/change.ts';
import { useRead } from '../../data/read.ts';
import { graphql } from '../../generated/gql.ts';
import { FormProblem } from '../../components/form.tsx';
import { tell } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { Answer } from '../../components/states.tsx';

export const TRACKING = graphql(`
  query Tracking {
    projects {
      id
      trackOpens
      trackClicks
    }
  }
`);

const CHANGE = graphql(`
  mutation UpdateTracking($opens: Boolean, $clicks: Boolean) {
    updateTracking(opens: $opens, clicks: $clicks) {
      id
    }
  }
`);

/** Whether opens and clicks are tracked where a campaign or a message does not say. */
export function Tracking() {
  const { id } = useProject();
  const manages = useMay()('manage');
  const tracking = useRead(TRACKING, {});
  const change = useChange(CHANGE);
  const set = async (part: { opens?: boolean; clicks?: boolean }) => {
    if ((await change.run({ opens: part.opens ?? null, clicks: part.clicks ?? null })) === undefined) return;
    tell('It holds for mail from now on.');
  };
  return (
    <Section title="Tracking" about="Where a campaign or a message does not say itself.">
      <Answer of={tracking}>
        {({ projects }) => {
          const project = projects.find((each) => each.id === id);
          return (
            <Card>
              <Stack>
                <FormProblem problem={change.problem} />
                <Switch
                  label="Count opens"
                  description="By a small picture in each mail. Programs that load it are counted apart from people."
                  checked={project?.trackOpens ?? false}
                  disabled={!manages}
                  onChange={(event) => void set({ opens: event.currentTarget.checked })}
                />
                <Switch
                  label="Count clicks"
                  description="Links lead by way of this server, which forwards to their targets."
                  checked={project?.trackClicks ?? false}
                  disabled={!manages}
                  onChange={(event) => void set({ clicks: event.currentTarget.checked })}
                />
              </Stack>
            </Card>
          );
        }}
      </Answer>
    </Section>
  );
}
