import { countOf } from '@postroom/errors';
import { logger } from '@postroom/platform';
import type { Client } from '@temporalio/client';
import { connectTemporal } from '../temporal.ts';

/** How long to wait for Temporal, in milliseconds. */
const CONNECT_TIMEOUT_MS = 30_000;

/**
 * Ends the workflows of a project whose rows are gone, and prints their number. The rest is done by then, so a Temporal that does not
 * respond is no reason to fail.
 */
export async function endWorkflows(projectId: string, reason: string): Promise<void> {
  try {
    const { client, close } = await connectTemporal(AbortSignal.timeout(CONNECT_TIMEOUT_MS));
    const ended = await endWorkflowsOf(client, projectId, reason).finally(close);
    console.log(`Ended ${countOf(ended, 'workflow')} of the project here.`);
  } catch (error) {
    logger.warn({ err: error }, "the project's workflows here were not ended; they will find nothing to do");
  }
}

/**
 * Ends the workflows of a project whose rows are no longer in this cell. They would find nothing to do, some of them only after weeks.
 * The workflow that deletes the project goes on, and ends by itself. @returns their number.
 */
export async function endWorkflowsOf(client: Client, projectId: string, reason: string): Promise<number> {
  let ended = 0;
  const query = `projectId = '${projectId}' AND ExecutionStatus = 'Running' AND WorkflowType != 'deleteProject'`;
  for await (const { workflowId } of client.workflow.list({ query })) {
    // It may end by itself meanwhile.
    await client.workflow
      .getHandle(workflowId)
      .terminate(reason)
      .catch(() => {});
    ended++;
  }
  return ended;
}
