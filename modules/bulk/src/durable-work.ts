import { durableWork, type DurableWork, type OpenWork, restartWorkflow } from '@postroom/platform/durable-work';
import { type BulkAction, workflowOf } from './operations.ts';

const OPEN = `
  SELECT id AS "workflowId", id, project_id AS "projectId", action FROM bulk_operations WHERE status = 'running'`;

export const work: readonly DurableWork[] = [
  durableWork<OpenWork & { id: string; projectId: string; action: BulkAction }>({
    name: 'bulk operations',
    workflows: ['runBulkOperation'],
    open: OPEN,
    recover: restartWorkflow(workflowOf),
  }),
];
