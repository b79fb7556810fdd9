import { randomBytes } from 'node:crypto';

/**
 * A new claim id. Each activity attempt writes its own into the rows that it claims. For transactional mail it begins with the id of the
 * workflow, which a closed row stores nowhere else.
 */
export const newClaim = (workflowId?: string): string =>
  `${workflowId === undefined ? '' : `${workflowId}/`}${randomBytes(9).toString('base64url')}`;

/** The workflow of a transactional message: the one that it is assigned to, or that claimed it last. */
export function workflowOf({ workflowId, claim }: { workflowId: string | null; claim: string | null }): string | null {
  if (workflowId !== null) return workflowId;
  const length = claim?.lastIndexOf('/') ?? -1;
  return length === -1 ? null : (claim as string).slice(0, length);
}

/** Selects the ledger rows of a campaign, or of a workflow that sends transactional mail. */
export type Scope = { campaignId: string } | { workflowId: string };

/** The column that selects a scope's rows, and its value. */
export function scopeColumn(scope: Scope): ['campaign_id' | 'workflow_id', string] {
  return 'campaignId' in scope ? ['campaign_id', scope.campaignId] : ['workflow_id', scope.workflowId];
}

/** A claim, and the rows that it may have claimed. */
export interface ClaimKey {
  claim: string;
  scope: Scope;
  /** The installation's epoch when the claim began: a database restored since then is another one. */
  epoch: number;
}
