import { Button } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';

/** Links to a workflow in the Temporal UI. Renders nothing without a workflow or a configured UI address. */
export function WorkflowLink({ url }: { url: string | null }) {
  if (url === null) return null;
  return (
    <Button
      component="a"
      href={url}
      target="_blank"
      rel="noreferrer"
      variant="default"
      rightSection={<IconExternalLink size={16} aria-hidden />}
    >
      Workflow
    </Button>
  );
}
