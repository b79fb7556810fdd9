export { batchLoader, batchLoaders } from './batch-loader.ts';
export { cachedAggregate } from './cached-aggregate.ts';
export { coalesce, coalesceReads, togetherByProject } from './coalesce.ts';
export { FairSemaphore, type FairSemaphoreOptions } from './fair-semaphore.ts';
export { FairShare } from './fair-share.ts';
export { answerText, lengthOf, limitText, readLimited, tooMuchText } from './request-text.ts';
export { onThread, ThreadError, type ThreadFunction } from './thread-pool.ts';
export { TokenBucket } from './token-bucket.ts';
