export { endTimersAfterRestore } from './ab-tests.ts';
