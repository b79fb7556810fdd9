import { createHash } from 'node:crypto';
import { heldReason } from '@postroom/ledger';
import { NOW, pool, webhooksQueue, type WorkflowStart } from '@postroom/platform';
import { isHere } from '@postroom/projects/sql';
import { type DispatchSource, startAll } from '@postroom/platform/dispatcher';
import { DUE_HOSTS } from './calls.ts';
import { JOURNEYS } from './journeys.ts';

/**
 * Active journeys with something to do, and those in which a publication or the archiving is still to be applied to runs. Each is four
 * probes of an index, whatever number of contacts waits in it; between journeys that become due, nothing runs.
 */
const DUE = `
  SELECT j.id, j.project_id AS "projectId" FROM journeys j
  WHERE ${isHere('j.project_id')} AND (j.status = 'active' AND (
      EXISTS (SELECT FROM enrollments e WHERE e.journey_id = j.id AND e.status = 'active' AND e.due_at <= ${NOW})
      OR EXISTS (SELECT FROM journey_triggers t WHERE t.journey_id = j.id)
      OR EXISTS (SELECT FROM journey_entry_scans s WHERE s.journey_id = j.id AND s.due_at <= ${NOW}))
    OR EXISTS (SELECT FROM journey_versions v WHERE v.journey_id = j.id AND v.unapplied IS NOT NULL))
  ORDER BY j.id`;

/** Starts the workflow of each journey that has something to do. A workflow that is running is left alone. */
export const source: DispatchSource = {
  name: JOURNEYS,
  role: 'campaigns',
  dispatch: async (client) => {
    // In a restored database runs are at earlier steps, and would repeat the later ones.
    if ((await heldReason()) !== undefined) return { more: false };
    const { rows } = await pool.query<{ id: string; projectId: string }>({ name: 'journeys-dispatch', text: DUE });
    const hosts = await pool.query<{ projectId: string; host: string }>({ name: 'journeys-hosts', text: DUE_HOSTS });
    await startAll(client, [...rows.map(workflowOf), ...hosts.rows.map(callsOf)], () => Promise.resolve());
    return { more: false };
  },
};

/** The workflow of a journey. What is due is in its rows, so it may start any number of times. */
const workflowOf = ({ id, projectId }: { id: string; projectId: string }): WorkflowStart => ({
  workflowId: id,
  type: 'runJourney',
  args: [id],
  summary: 'Journey: carry out what is due',
  searchAttributes: { projectId },
  restartable: true,
});

/** A workflow id has at most 255 characters in Temporal's databases, and a host of a URL may have more. */
const MAX_HOST = 150;
const nameOf = (host: string) =>
  host.length <= MAX_HOST ? host : createHash('sha256').update(host).digest('base64url');

/** The workflow that makes the calls of a project to one host, so that a host that hangs delays no other. */
const callsOf = ({ projectId, host }: { projectId: string; host: string }) => ({
  workflowId: `journey-calls ${projectId} ${nameOf(host)}`,
  type: 'callJourneyHost',
  args: [projectId, host],
  taskQueue: webhooksQueue(),
  summary: 'Journeys: call URLs',
  searchAttributes: { projectId },
  restartable: true,
});
