export { Parameters } from './parameters.ts';
export {
  compileFilter,
  type Condition,
  type EventDays,
  isBehavioral,
  type ReadFilter,
  readFilter,
  type SegmentFilter,
} from './segment-filter.ts';
export { SEGMENT_FIELDS, type ValueKind } from './segment-operators.ts';
