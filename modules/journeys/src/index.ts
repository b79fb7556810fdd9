export { pauseAfterRestore } from './journeys.ts';
