import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { recordSizes } from './segment-sizes.ts';

/** Records today's size of each segment that has none yet. @returns the number of sizes recorded. */
export const recordSegmentSizes = (): Promise<number> => recordSizes(cancellationSignal(), () => heartbeat());
