export {
  ALL_EVENTS,
  bodySchema,
  EVENT_TYPE_NAMES,
  EVENT_TYPES,
  eventTypeProblems,
  type EventTypeName,
  MAX_TYPE_LENGTH,
} from './event-types.ts';
export { lowestUnseenId, POLL_FOR_EVENTS } from './event-poller.ts';
export { currentCursor, READ_UNSEEN_EVENTS, resolveCursor, runStreamRead } from './event-stream.ts';
export { STREAM_PAGE_SIZE } from './policy.ts';
