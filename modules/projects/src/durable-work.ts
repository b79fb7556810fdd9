import { durableWork, type DurableWork, type OpenWork, restartWorkflow } from '@postroom/platform/durable-work';
import { deletionOf } from './deletion.ts';

/** Projects whose deletion has begun. Their own row is the last one to go. */
const BEING_DELETED = `
  SELECT 'delete-' || c.project_id AS "workflowId", c.project_id AS "projectId" FROM project_cells c JOIN projects p ON p.id = c.project_id
  WHERE c.state = 'deleted' AND c.changed_at < now() - interval '1 minute'`;

interface BeingDeleted extends OpenWork {
  projectId: string;
}

export const work: readonly DurableWork[] = [
  durableWork<BeingDeleted>({
    name: 'deletions',
    workflows: ['deleteProject'],
    open: BEING_DELETED,
    recover: restartWorkflow(({ projectId }) => deletionOf(projectId)),
  }),
];
