import type { z } from 'zod';

/** An event type: when it fires, the schema of its `data`, and an example. */
export interface EventType {
  fires: string;
  data: z.ZodObject;
  example: Record<string, unknown>;
}
