import '@mantine/core/styles/Switch.css';
import { Card, Stack, Switch } from '@mantine/core';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { FormProblem } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';

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

/** The project's tracking defaults. */
export function Tracking() {
  const { id } = useProject();
  const canManage = usePermission('manage');
  const tracking = useApiQuery(TRACKING, {});
  const change = useApiMutation(CHANGE);
  const set = async (part: { opens?: boolean; clicks?: boolean }) => {
    if ((await change.run({ opens: part.opens ?? null, clicks: part.clicks ?? null })) === undefined) return;
    notifySuccess('Saved. Applies to new email.');
  };
  return (
    <Section title="Tracking" about="The default for campaigns and emails that do not specify it.">
      <QueryResult of={tracking}>
        {({ projects }) => {
          const project = projects.find((each) => each.id === id);
          return (
            <Card>
              <Stack>
                <FormProblem problem={change.problem} />
                <Switch
                  label="Track opens"
                  description="Adds a tracking pixel to each email. Opens by bots are counted separately."
                  checked={project?.trackOpens ?? false}
                  disabled={!canManage}
                  onChange={(event) => void set({ opens: event.currentTarget.checked })}
                />
                <Switch
                  label="Track clicks"
                  description="Rewrites links to pass through this server, which redirects to the target."
                  checked={project?.trackClicks ?? false}
                  disabled={!canManage}
                  onChange={(event) => void set({ clicks: event.currentTarget.checked })}
                />
              </Stack>
            </Card>
          );
        }}
      </QueryResult>
    </Section>
  );
}
