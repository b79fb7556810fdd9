/** Workflow metadata shown in the Temporal UI. Ids only, never an address. */
export interface WorkflowLabels {
  /** One line of at most 200 bytes for the workflow list. */
  summary?: string;
  /** Markdown for the workflow's page. */
  details?: string;
  searchAttributes?: Partial<Record<SearchAttribute, string>>;
  /**
   * Whether a workflow of this id may start again after it has closed. Its rows say what is left to do, so that a repeated start
   * does nothing that has been done.
   */
  restartable?: boolean;
  /** The trace context that its cause ran in. */
  traceparent?: string | null;
}

/** The keyword search attributes of every Postroom namespace. */
export const SEARCH_ATTRIBUTES = ['projectId', 'campaignId', 'endpointId', 'eventType', 'deliveryStatus'] as const;
export type SearchAttribute = (typeof SEARCH_ATTRIBUTES)[number];
