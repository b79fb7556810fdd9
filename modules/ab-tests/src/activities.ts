import { endIfDue } from './ab-tests.ts';

/** Ends an A/B test whose time is up. Idempotent. @returns the milliseconds until then, or null if it has ended. */
export const endDueAbTest = (id: string): Promise<number | null> => endIfDue(id);
