export { archiveTo, type Column, configuredArchive, type Store, storeAt, toParquet } from './archive.ts';
export {
  type PartitionedTable,
  type Partition,
  type PartitionLength,
  weekOrMonth,
  listPartitions,
  extendPartitions,
  type Archive,
  type DropOptions,
  type Dropped,
  dropPartitions,
  analyzeChanged,
  withTableLocked,
  longestRetention,
} from './partitions.ts';
