import type { FormSubmissionStatus } from '../../generated/graphql.ts';
import type { Tone } from '../../components/badge.tsx';

type Label = [tone: Tone, label: string];

/** Of a submission that can't be confirmed, because mail to its address is suppressed. */
export const BLOCKED: Label = ['bad', 'Suppressed address'];

/** The tone and label of each state of a submission. */
export const SUBMISSION_STATUS: Record<FormSubmissionStatus, Label> = {
  pending: ['warn', 'Waiting to confirm'],
  confirmed: ['good', 'Confirmed'],
  expired: ['quiet', 'Expired'],
};
