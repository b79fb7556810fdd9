import type { Client } from '@temporalio/client';

/**
 * Ends the workflows of a project whose rows are no longer in this cell. They would find nothing to do, some of them only after weeks.
 * @returns their number.
 */
export async function endWorkflowsOf(client: Client, projectId: string): Promise<number> {
  let ended = 0;
  const query = `projectId = '${projectId}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of client.workflow.list({ query })) {
    // It may end by itself meanwhile.
    await client.workflow
      .getHandle(workflowId)
      .terminate('The project was moved to another cell.')
      .catch(() => {});
    ended++;
  }
  return ended;
}
