import '@mantine/core/styles/Switch.css';
import { Card, Switch } from '@mantine/core';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { FormProblem } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { QueryResult, RowsSkeleton } from '../../components/states.tsx';

const SETTINGS = graphql(`
  query NotificationSettings {
    notificationSettings {
      emails
    }
  }
`);

const UPDATE = graphql(`
  mutation UpdateNotificationSettings($input: NotificationSettingsInput!) {
    updateNotificationSettings(input: $input) {
      notificationSettings {
        emails
      }
    }
  }
`);

/** Whether notifications are emailed to the user. The bell shows them regardless. */
export function Notifications() {
  const settings = useApiQuery(SETTINGS, {});
  const update = useApiMutation(UPDATE);
  const change = async (emails: boolean) => {
    if ((await update.run({ input: { emails } })) === undefined) return;
    notifySuccess(emails ? 'Notification emails are on.' : 'Notification emails are off.');
  };
  return (
    <Section title="Notifications">
      <Card>
        <FormProblem problem={update.problem} />
        <QueryResult of={settings} skeleton={<RowsSkeleton rows={1} />}>
          {({ notificationSettings: { emails } }) => (
            <Switch
              label="Email me notifications"
              description="When a campaign or journey is paused automatically, a sender is blocked or a webhook endpoint is disabled, in projects that you own or administer. The bell at the top of each page shows them as well."
              checked={emails}
              disabled={update.running}
              onChange={(event) => void change(event.currentTarget.checked)}
            />
          )}
        </QueryResult>
      </Card>
    </Section>
  );
}
