export { deleteOld } from './statistics-counts.ts';
