/** SQL of contacts, and values of their columns, that other modules compose. This file imports nothing, so that modules below contacts may use it. */

/** Where a contact came from. */
export const CONTACT_SOURCES = ['api', 'import', 'dashboard', 'form'] as const;

/** Why an address must not be mailed, the strongest reason first; the strongest is the suppression status. */
export const SUPPRESSION_REASONS = ['complained', 'bounced', 'manual', 'unsubscribed'] as const;

/** The suppression status that contacts show. */
export const SUPPRESSION_STATUSES = ['none', ...SUPPRESSION_REASONS] as const;

/** Whether the address of the contact `c` is suppressed for a reason; `comparison` is SQL, such as `= $2`. */
export const hasReason = (comparison: string): string =>
  `EXISTS (SELECT FROM suppressions s WHERE s.project_id = c.project_id AND s.email_key = c.email_key AND s.reason ${comparison})`;
