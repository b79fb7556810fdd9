export { databaseNow, databaseTime, setDatabaseTime } from './clock.ts';
export { keepDatabaseTime } from './keep.ts';
export { parseUtc } from './parse-utc.ts';
