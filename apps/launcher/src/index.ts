export { SMALL_MEMORY } from './apps.ts';
export { runFile } from './data-folder.ts';
