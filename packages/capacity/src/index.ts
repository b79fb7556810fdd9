import costs from './costs.json' with { type: 'json' };
import mixes from './mixes.json' with { type: 'json' };
import type { Costs } from './operations.ts';
import type { Mix } from './validation.ts';

export { type Demand, demandOf, demandParts, type Rates } from './demand.ts';
export * from './operations.ts';
export { type Parameter, readParameters, type Settings, SETTINGS, type Workload, WORKLOAD } from './parameters.ts';
export { delayAt, predict, type Prediction } from './predict.ts';
export { printPrediction, round, size } from './print.ts';
export { erlangC, type Jobs, waitAt } from './queueing.ts';
export { measureSpeed, SpeedProbe } from './reference.ts';
export { type Comparison, errorsOf, fitSharing, type Mix } from './validation.ts';

/** What `npm run bench -- capacity` measured last. */
export const COSTS: Costs = costs;

/** What `npm run bench -- capacity --mix` measured last. */
export const MIXES: readonly Mix[] = mixes;
