import { durableWork, type DurableWork, type OpenWork, restartWorkflow } from '@postroom/platform/durable-work';
import { workflowOf } from './backtests.ts';

const OPEN = `SELECT id AS "workflowId", id, project_id AS "projectId" FROM backtests WHERE status = 'running'`;

export const work: readonly DurableWork[] = [
  durableWork<OpenWork & { id: string; projectId: string }>({
    name: 'backtests',
    workflows: ['runBacktest'],
    open: OPEN,
    recover: restartWorkflow(workflowOf),
  }),
];
