export { databaseNow, databaseTime, setDatabaseTime } from './clock.ts';
export { keepDatabaseTime } from './keep.ts';
