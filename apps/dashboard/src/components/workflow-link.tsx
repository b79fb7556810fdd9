import { Button } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';

/** Opens a workflow in the Temporal UI; nothing where it has none, or operators have not said where that UI is. */
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
