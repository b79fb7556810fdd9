import { DomainError, type Tx } from '@postroom/platform';
import type { Move, Run } from './transitions.ts';

/** A run that is due, with what its step needs to know of the contact. */
export interface DueRun extends Run {
  email: string;
  name: string;
}

/** What a step does to the runs that are due at it, prepared without locks. */
export interface Plan {
  moves: Move[];
  /** Runs whose step is carried out later. */
  postponed: { run: DueRun; until: Date }[];
  /** Checks what may have changed since it was planned. Runs before `before`, so that its lock is taken first everywhere. */
  recheck?: (tx: Tx) => Promise<void>;
  /** Whether it notifies, which a transaction does once. */
  notifies?: true;
  /** Whether it writes contacts, which takes a lock that comes before all others but the journey's. */
  writesContacts?: true;
  /** Takes locks before runs are moved. */
  before?: (tx: Tx) => Promise<void>;
  /** Has the effects on the runs that moved, in the same transaction. */
  apply?: (tx: Tx, moved: ReadonlySet<string>) => Promise<void>;
  /** Called when the transaction has ended, with the runs that moved: none if it failed. */
  settle?: (moved: ReadonlySet<string>) => Promise<void>;
}

/** A step can't be carried out for any contact, such as after its template was deleted. The journey is paused. */
export class StepProblem extends Error {
  constructor(stepId: string, problem: string) {
    super(`Step "${stepId}": ${problem}`);
  }
}

/** Turns what rules reject into a problem of the step. */
export async function withStepProblem<T>(stepId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DomainError && error.code !== 'rate_limited') throw new StepProblem(stepId, error.message);
    throw error;
  }
}
