export { type Definition, reentryOf, type Step, type StepOf } from './definition.ts';
export { contactsWhere } from './enrollments.ts';
export { dateEntries } from './entry-scans.ts';
export { checkDefinition, getJourney, pauseAfterRestore } from './journeys.ts';
export { quietUntil, zoneOf } from './local-time.ts';
export { scanKey } from './listeners.ts';
export { matches, withDefaults } from './properties.ts';
export {
  arrive,
  enters,
  getStep,
  type Happening,
  leave,
  type Leaving,
  reactTo,
  type Refusal,
  refusalOf,
} from './rules.ts';
export { definitionOf } from './versions.ts';
