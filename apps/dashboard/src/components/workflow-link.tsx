import { Anchor } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import type { DescriptionItem } from './description-list.tsx';

/** Links to a workflow in the Temporal UI. Renders nothing without a workflow or a configured UI address. */
export function WorkflowLink({ url }: { url: string | null }) {
  if (url === null) return null;
  return (
    <Anchor href={url} target="_blank" rel="noreferrer" size="sm" className="nowrap">
      Open in Temporal <IconExternalLink size={14} aria-hidden />
    </Anchor>
  );
}

/** The link as the last of the details of what the workflow does: it is for operators. */
export const workflowItem = (url: string | null): DescriptionItem | false =>
  url !== null && ['Workflow', <WorkflowLink key="workflow" url={url} />];
