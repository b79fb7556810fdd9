/** The first attempts of transactional mail that wait for the dispatcher: the predicate of the index by project and time. */
export const FIRST_ATTEMPT =
  'campaign_id IS NULL AND dispatched_at IS NULL AND mailbox_id IS NULL AND deferred_at IS NULL';

/** Mail of mailbox accounts, and deferred mail: the predicate of the index by time. It is batched separately from first attempts. */
export const SEPARATE = `campaign_id IS NULL AND dispatched_at IS NULL AND (mailbox_id IS NOT NULL OR deferred_at IS NOT NULL)`;
