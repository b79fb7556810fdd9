import { MAX_STEP_ID_LENGTH } from '@postroom/journey-definition';
import { atMost } from '@postroom/platform';

/** The longest id of a step. */
export const STEP_ID = atMost(MAX_STEP_ID_LENGTH);
/** The longest of the words that say how a step or a run ended. */
export const SHORT = atMost(50);

export const journeyId = { required: true, description: 'Journey id.' } as const;
