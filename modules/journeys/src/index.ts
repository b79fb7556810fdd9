export { contactsMatching } from './enrollments.ts';
export { dateEntries } from './entry-scans.ts';
export { checkDefinition, getJourney, MAX_DEFINITION_LENGTH, pauseAfterRestore } from './journeys.ts';
export { quietUntil } from './local-time.ts';
export {
  computeArrival,
  computeDeparture,
  computeTriggeredDeparture,
  type Departure,
  getStep,
  isEntryTrigger,
  type JourneyTrigger,
  outcomesOf,
  refusalOf,
} from './rules.ts';
export { definitionOf } from './versions.ts';
