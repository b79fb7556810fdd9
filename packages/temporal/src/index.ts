export type { ScheduledWorkflow } from './scheduled-workflow.ts';
export { ROLE_OF, taskQueueOf, webhooksQueue, WORK_KINDS, type WorkerRole, type WorkKind } from './task-queues.ts';
export { workflowUrl } from './temporal-ui.ts';
export { SEARCH_ATTRIBUTES, type SearchAttribute, type WorkflowLabels } from './workflow-labels.ts';
