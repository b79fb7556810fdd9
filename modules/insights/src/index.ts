export { activitiesOf, type Activity } from './activity.ts';
export { statistics, STEPS, type Statistics, type Step } from './statistics.ts';
