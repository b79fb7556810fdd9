/**
 * State changes of ledger rows as SQL, for modules that select the rows in the same statement. Each begins an UPDATE of
 * `messages m`; the caller adds FROM, WHERE and RETURNING. This file imports nothing.
 */

/**
 * Whether sending is not held, and this is the database, or a later state of the database, that a reservation or a claim was made in. Rows with
 * that claim which are not recorded as sent have then not been sent.
 * @param epoch SQL of the epoch when it was made.
 * @param number SQL of the number of the reservation, or of the last one that the claim's process has made.
 */
export const isSameDatabase = (epoch: string, number: string): string =>
  `EXISTS (SELECT FROM installation i WHERE i.id = 1 AND i.epoch = ${epoch} AND i.number >= ${number} AND i.held_reason IS NULL
     AND i.timeline = current_timeline())`;

/**
 * Whether reserved mail may be claimed. A statement that a frozen server executes late must not claim what has become due since the
 * reservation ended: no witness knows that it may be sent.
 * @param reserved SQL of the reservation's epoch, number and end.
 */
export const mayClaim = ({ epoch, number, until }: Record<'epoch' | 'number' | 'until', string>): string =>
  `${isSameDatabase(epoch, number)} AND now() <= ${until}::timestamptz`;

/** Whether neither a campaign `c` nor its project has a rate limit. */
export const IS_UNLIMITED =
  'c.rate_per_second IS NULL AND NOT EXISTS (SELECT FROM sending_policies p WHERE p.project_id = c.project_id AND p.rate_per_second IS NOT NULL)';

/** Claims rows that have no `not_before`. */
export const claimUntried = (claim: string): string =>
  `UPDATE messages m SET state = 'claimed', claim = ${claim}, claimed_at = now()`;

/** Claims rows that are due. */
export const claimDue = (claim: string): string => `${claimUntried(claim)}, not_before = NULL`;

/** Claims due rows that no workflow has yet, for the given one. */
export const claimQueued = (claim: string, workflowId: string): string =>
  `${claimDue(claim)}, dispatched_at = now(), workflow_id = ${workflowId}`;

/** Claims rows, or suppresses those with a problem. @param problem SQL of the reason; NULL if there is none. */
export const claimOrSuppress = (claim: string, problem: string): string =>
  `UPDATE messages m SET state = CASE WHEN ${problem} IS NULL THEN 'claimed' ELSE 'suppressed' END::message_state,
      claim = ${claim}, claimed_at = now(), not_before = NULL, answer = coalesce(${problem}, m.answer),
      unsent_at = CASE WHEN ${problem} IS NOT NULL THEN now() END`;

/** Closes planned rows unsent. @param answer shown to users, as an SQL expression. */
export const closeUnsent = (state: 'suppressed' | 'canceled', answer: string): string =>
  `UPDATE messages m SET state = '${state}', unsent_at = now(), not_before = NULL, answer = ${answer}`;

/** Makes planned rows due, so that the campaign's run claims them wherever its cursor is. */
export const MAKE_DUE = 'UPDATE messages m SET not_before = now()';

/** Assigns rows to a workflow. */
export const assignTo = (workflowId: string): string =>
  `UPDATE messages m SET dispatched_at = now(), workflow_id = ${workflowId}`;

/** Returns planned rows of a workflow to the dispatcher. */
export const UNASSIGN = 'UPDATE messages m SET dispatched_at = NULL, workflow_id = NULL';
/** The same for rows that a claim has taken from the queue, which lost their time. */
export const REQUEUE = `${UNASSIGN}, not_before = coalesce(m.not_before, now())`;

/** When a provider first reported on the row of `messages`, which proves that it was sent. */
export const REPORTED_AT =
  'least(delivered_at, bounced_at, complained_at, rejected_at, opened_at, clicked_at, machine_opened_at, machine_clicked_at, unsubscribed_at)';

/**
 * Sets the timestamps of reported facts, each only once; a row proved to have been sent becomes accepted. No fact is earlier than the
 * claim and the acceptance: reports have the time of another clock.
 * @param facts names of columns without `_at`.
 * @param of SQL of the value that was reported of the row, by the name of the fact or detail.
 * @param proof SQL of the rows to accept, and of the time.
 * @param details other columns that are set once, with their types.
 */
export const recordFacts = (
  facts: readonly string[],
  of: (name: string, type?: string) => string,
  proof: { when: string; at: string },
  details: Readonly<Record<string, string>> = {},
): string =>
  `UPDATE messages m SET ${facts.map((fact) => `${fact}_at = coalesce(m.${fact}_at, CASE WHEN ${of(fact)} IS NOT NULL THEN greatest(${of(fact)}, m.claimed_at, m.accepted_at) END)`).join(', ')},
      ${Object.entries(details)
        .map(([name, type]) => `${name} = coalesce(m.${name}, ${of(name, type)}),`)
        .join(' ')}
      state = CASE WHEN ${proof.when} THEN 'accepted' ELSE m.state END,
      accepted_at = CASE WHEN ${proof.when} THEN greatest(${proof.at}, m.claimed_at) ELSE m.accepted_at END,
      unsent_at = CASE WHEN ${proof.when} THEN NULL ELSE m.unsent_at END,
      not_before = CASE WHEN ${proof.when} THEN NULL ELSE m.not_before END`;

/** A recipient unsubscribed, for the first time or after an undo. */
export const MARK_UNSUBSCRIBED = `UPDATE messages m SET unsubscribed_at = now(), resubscribed_at = NULL
  WHERE (m.unsubscribed_at IS NULL OR m.resubscribed_at IS NOT NULL)`;

/** A recipient who had unsubscribed subscribed again. */
export const MARK_RESUBSCRIBED = `UPDATE messages m SET resubscribed_at = now()
  WHERE m.unsubscribed_at IS NOT NULL AND m.resubscribed_at IS NULL`;

/** Adds the rows of a campaign. `select` yields the columns in this order. */
export const insertRecipients = (select: string): string =>
  `INSERT INTO messages (id, project_id, campaign_id, mailbox_id, contact_id, email, email_key, state, answer, unsent_at, not_before)
   ${select}`;

/** Whether the message `m` counts towards a frequency cap: mail that needs consent, of campaigns only once it was claimed. */
export const countsForFrequencyCap = (m: string): string =>
  `CASE WHEN ${m}.campaign_id IS NULL THEN ${m}.needs_consent AND ${m}.state IN ('planned', 'claimed', 'accepted', 'unknown')
       ELSE ${m}.state IN ('claimed', 'accepted', 'unknown') END`;

/**
 * SQL of whether a contact has had `messages` or more messages that need consent, of campaigns and journeys, in `days` days. Those that
 * a campaign has yet to claim do not count: the campaign decides when it claims them. Callers hold the lock `frequencyCapLock`.
 * @param contact SQL of the contact's id.
 * @param except SQL of the id of a message that does not count.
 */
export const isAtFrequencyCap = (
  contact: string,
  { messages, days, except }: { messages: string; days: string; except?: string },
): string =>
  `EXISTS (SELECT FROM messages counted WHERE counted.contact_id = ${contact} ${except === undefined ? '' : `AND counted.id <> ${except}`}
     AND ${countsForFrequencyCap('counted')}
     AND coalesce(counted.claimed_at, counted.created_at) > now() - ${days} * interval '1 day'
   OFFSET ${messages} - 1)`;

/** The lock (see `lockUntilCommit`) under which a project's campaigns and journeys decide who is below the frequency cap. */
export const frequencyCapLock = (projectId: string): string => `frequency cap ${projectId}`;

/** Whether a campaign `c` has shards. */
export const hasShards = (c: string): string => `EXISTS (SELECT FROM campaign_shards s WHERE s.campaign_id = ${c}.id)`;

/**
 * Adds to the counters of the shard with a fencing token, and moves its cursor.
 * @param changes SQL of the number to add, by counter.
 */
export const advanceShard = (
  token: string,
  changes: Record<'claimed' | 'suppressed', string>,
  cursor: string,
): string =>
  `UPDATE campaign_shards s SET ${Object.entries(changes)
    .map(([name, change]) => `${name}_count = ${name}_count + ${change}`)
    .join(', ')}, cursor = ${cursor} WHERE s.fencing_token = ${token}`;

/** The ids of those contacts in `$1` that have reached the cap of `$3` messages in `$2` days. */
export const CONTACTS_AT_FREQUENCY_CAP = `
  SELECT k.id FROM unnest($1::text[]) AS k(id)
  WHERE ${isAtFrequencyCap('k.id', { messages: '$3::int', days: '$2::int' })}`;
