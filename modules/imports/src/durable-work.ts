import { durableWork, type DurableWork, type OpenWork, restartWorkflow } from '@postroom/platform/durable-work';
import { workflowOf } from './imports.ts';

const OPEN = `
  SELECT id AS "workflowId", id, project_id AS "projectId" FROM imports WHERE status IN ('queued', 'running')`;

export const work: readonly DurableWork[] = [
  durableWork<OpenWork & { id: string; projectId: string }>({
    name: 'imports',
    workflows: ['importContacts'],
    open: OPEN,
    recover: restartWorkflow(workflowOf),
  }),
];
