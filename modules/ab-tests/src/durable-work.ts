import { durableWork, type DurableWork, type OpenWork, restartWorkflow } from '@postroom/platform/durable-work';
import { workflowOf } from './ab-tests.ts';

/** Tests that end within a minute or are overdue. Before that, no one misses a lost workflow. */
const DUE = `SELECT id AS "workflowId", id, project_id AS "projectId" FROM ab_tests
  WHERE status = 'testing' AND ends_at < now() + interval '1 minute'`;

export const work: readonly DurableWork[] = [
  durableWork<OpenWork & { id: string; projectId: string }>({
    name: 'A/B tests',
    workflows: ['endAbTest'],
    open: DUE,
    recover: restartWorkflow(workflowOf),
  }),
];
