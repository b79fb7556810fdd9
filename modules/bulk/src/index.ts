export { type BulkOperation, getOperation, listOperations, startOperation } from './operations.ts';
