/** A workflow without arguments that runs by the clock. */
export interface ScheduledWorkflow {
  /** Unique in the system, such as `delete-old`; also the workflow's id. */
  id: string;
  /** The workflow's type. */
  workflow: string;
  /** The interval, such as `1 hour`. A run that is due while the previous one is still going is skipped. */
  every: `${number} ${'minute' | 'minutes' | 'hour' | 'hours' | 'day' | 'days'}`;
  /** One line for Temporal's UI. */
  summary: string;
}
