export { SMALL_MEMORY } from './apps.ts';
export { runFile } from './data-folder.ts';
export { StartError } from './errors.ts';
export { freePorts } from './ports.ts';
export { startPostgres } from './postgres.ts';
export { run, type Start } from './programs.ts';
export { startTemporal } from './temporal.ts';
export { temporalBinary } from './temporal-binary.ts';
