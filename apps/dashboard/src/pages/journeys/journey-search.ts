import type { Tone } from '../../components/badge.tsx';
import { type PageSearch, pageSearch } from '../../data/paging.ts';
import type { EnrollmentStatus, JourneyStatus } from '../../generated/graphql.ts';

export const JOURNEY_STATUS: Record<JourneyStatus, [Tone, string]> = {
  draft: ['quiet', 'Draft'],
  active: ['good', 'Active'],
  paused: ['warn', 'Paused'],
  archived: ['quiet', 'Archived'],
};

export const ENROLLMENT_STATUS: Record<EnrollmentStatus, [Tone, string]> = {
  active: ['busy', 'In progress'],
  paused: ['warn', 'Paused'],
  completed: ['good', 'Completed'],
  exited: ['quiet', 'Left early'],
};

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
