import { durableWork, type DurableWork, type OpenWork, restartWorkflow } from '@postroom/platform/durable-work';
import { verificationOf } from './domains.ts';

/**
 * Domains whose check is overdue: a worker that was briefly down catches up on its own, and until its next check is due a domain
 * misses nothing.
 */
const OVERDUE = `
  SELECT id AS "workflowId", id, project_id AS "projectId", domain FROM domains
  WHERE mail_from_domain IS NOT NULL AND coalesce(next_check_at, created_at) < now() - interval '2 minutes'`;

interface Overdue extends OpenWork {
  id: string;
  projectId: string;
  domain: string;
}

export const work: readonly DurableWork[] = [
  durableWork<Overdue>({
    name: 'domains',
    workflows: ['verifyDomain'],
    open: OVERDUE,
    recover: restartWorkflow(verificationOf),
  }),
];
