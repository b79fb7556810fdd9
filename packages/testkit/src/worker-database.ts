/** The database of the tests whose process runs a worker, and the prefix of its task queues. */
export const WORKER_DATABASE = 'postroom_with_worker';
