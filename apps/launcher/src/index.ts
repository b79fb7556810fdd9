export { SMALL_MEMORY } from './apps.ts';
export { runFile } from './data-folder.ts';
export { StartError } from '@postroom/embedded';
export { freePorts } from '@postroom/embedded';
export { startPostgres } from '@postroom/embedded';
export { run, type Start } from '@postroom/embedded';
export { startTemporal } from '@postroom/embedded';
export { temporalBinary } from '@postroom/embedded';
export { ROOT } from './options.ts';
