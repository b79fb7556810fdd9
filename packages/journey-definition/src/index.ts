export { camelKeys } from './camel-keys.ts';
export { graphProblems } from './check-graph.ts';
export {
  customFieldKey,
  type Definition,
  type DefinitionProblem,
  durationMs,
  exitsOf,
  MAX_STEP_ID_LENGTH,
  parseDefinition,
  type PropertyCondition,
  reentryOf,
  type Step,
  type StepOf,
} from './definition.ts';
export { dateOf, datesOf, type Entry, type EntryOf, localDays, scanKey } from './entries.ts';
export { matches, withDefaults } from './properties.ts';
export { EVERY_DAY, zoneOf } from './zones.ts';
