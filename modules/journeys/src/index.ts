export { dateEntries } from './entry-scans.ts';
export { checkDefinition, getJourney, pauseAfterRestore } from './journeys.ts';
export { quietUntil } from './local-time.ts';
export { arrive, enters, getStep, type Happening, leave, type Leaving, reactTo, refusalOf } from './rules.ts';
export { definitionOf } from './versions.ts';
