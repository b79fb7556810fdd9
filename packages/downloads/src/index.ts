export { readInBatches, streamCsv, streamRows, streamSpooled } from './downloads.ts';
