/** Rows buffered per reader, however far behind it is. Not measured. */
export const STREAM_PAGE_SIZE = 100;
/** Events are polled at this interval, and only while there are readers. Not measured. */
export const POLL_INTERVAL_MS = 200;
/** An event is committed within this time of getting its id, and clocks differ by less. */
export const MAX_COMMIT_DELAY_MS = 3 * 24 * 60 * 60 * 1000;
