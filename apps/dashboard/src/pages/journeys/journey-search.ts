import { type PageSearch, pageSearch } from '../../data/paging.ts';
import type { EnrollmentStatus, JourneyStatus } from '../../generated/graphql.ts';
import { ENROLLMENT_STATUS, JOURNEY_STATUS } from './labels.ts';

/** Search parameters of the list of journeys. */
export interface JourneysSearch extends PageSearch {
  status?: JourneyStatus;
}

export const journeysSearch = ({ status, ...rest }: Record<string, unknown>): JourneysSearch => ({
  ...pageSearch(rest),
  ...(typeof status === 'string' && status in JOURNEY_STATUS ? { status: status as JourneyStatus } : {}),
});

/** Search parameters of a journey: they filter the contacts in it. */
export interface JourneySearch extends PageSearch {
  status?: EnrollmentStatus;
  step?: string;
}

export const journeySearch = ({ status, step, ...rest }: Record<string, unknown>): JourneySearch => ({
  ...pageSearch(rest),
  ...(typeof status === 'string' && status in ENROLLMENT_STATUS ? { status: status as EnrollmentStatus } : {}),
  ...(typeof step === 'string' ? { step } : {}),
});
