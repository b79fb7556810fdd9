import type { Parameters } from '@postroom/contacts';
import type { ContactRange } from '@postroom/groups';
import { messageKeySql } from '@postroom/platform';

/** Shares of an audience are in parts of this. */
export const WHOLE_AUDIENCE = 10_000;

/** A part of the audience, from the first number up to, but not including, the second. */
export interface Share {
  from: number;
  to: number;
}

interface ShareRow {
  abTestId: string;
  shareFrom: number | null;
  shareTo: number | null;
}

/**
 * The SQL condition that selects the share of a test's campaign from contacts `c`. A contact's place depends only on its id and that of
 * the test, so the shares of variants have no one in common, however often and whenever a range is taken.
 *
 * The campaign for the rest leaves out everyone who has a message of a variant, by contact or, among contacts that are newer than a
 * variant's snapshot, by address. While a variant is still taking its snapshot, and after its recipients were deleted, its messages
 * don't tell, so the whole share is left out. All of this is one statement, which sees a variant's messages and its end at once.
 */
export function shareSql(
  { abTestId, shareFrom, shareTo }: ShareRow,
  parameters: Parameters,
  range: ContactRange,
): string {
  const test = parameters.add(abTestId);
  const place = `(('x' || left(md5(c.id || ${test}::text), 7))::bit(28)::int % ${WHOLE_AUDIENCE})`;
  if (shareFrom !== null && shareTo !== null)
    return `${place} >= ${parameters.add(shareFrom)} AND ${place} < ${parameters.add(shareTo)}`;
  const variants = `FROM campaigns v WHERE v.ab_test_id = ${test} AND v.share_to IS NOT NULL`;
  const ofVariant = `m.campaign_id = ANY (ARRAY(SELECT v.id ${variants}))`;
  return `NOT coalesce(${place} <@ (SELECT range_agg(int4range(v.share_from, v.share_to)) ${variants}
      AND (v.recipients_deleted_at IS NOT NULL OR v.frozen_at IS NULL AND v.status <> 'canceled')), false)
    AND NOT EXISTS (SELECT FROM messages m WHERE m.contact_id = c.id AND ${range('m.contact_id')} AND ${ofVariant})
    AND (c.id <= coalesce((SELECT min(v.snapshot_until) ${variants}), '')
      OR NOT EXISTS (SELECT FROM messages m WHERE ${ofVariant} AND ${messageKeySql('m')} = c.email_key))`;
}
