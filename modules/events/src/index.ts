export {
  ALL_EVENTS,
  bodySchema,
  EVENT_TYPE_NAMES,
  EVENT_TYPES,
  eventTypeProblems,
  type EventTypeName,
  MAX_TYPE_LENGTH,
} from './event-types.ts';
export { oldestUnseen, POLL } from './event-poller.ts';
export { currentCursor, READ_UNSEEN, resolveCursor, runStreamRead } from './event-stream.ts';
export { STREAM_PAGE_SIZE } from './policy.ts';
