import { Alert, Button, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { usePermission } from '../../app/session.tsx';
import { FormProblem } from '../../components/form.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import type { CampaignRow } from './campaign-row.ts';

const ACKNOWLEDGE = graphql(`
  mutation AcknowledgeCampaign($id: ID!) {
    acknowledgeCampaign(id: $id) {
      id
    }
  }
`);

/** Warns that results after completion blocked further campaigns from this domain until a user allows them. */
export function Blocking({ campaign: { id, pauseReason } }: { campaign: CampaignRow }) {
  const acknowledge = useApiMutation(ACKNOWLEDGE);
  const canWrite = usePermission('write');
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title="Campaigns from this domain are paused">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{pauseReason} Clean up your audience before you send again.</Text>
        <FormProblem problem={acknowledge.problem} />
        {canWrite && (
          <Button variant="default" loading={acknowledge.running} onClick={() => void acknowledge.run({ id })}>
            Allow campaigns again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
