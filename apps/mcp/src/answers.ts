import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { PostroomError } from '../../../sdk/typescript/src/index.ts';

/** The annotations of tools that change nothing. */
export const READS = { readOnlyHint: true, openWorldHint: false } as const;

/** The annotations of tools that send to many people, which can't be undone. */
export const SENDS = { destructiveHint: true, idempotentHint: false, openWorldHint: true } as const;

/** The inputs of lists. */
export const paging = {
  limit: z.number().int().min(1).max(100).default(20).describe('Maximum number of results, newest first.'),
  cursor: z.string().optional().describe('The next_cursor of the previous page.'),
};

/** A page of a list. */
export const page = ({
  data,
  has_more,
  next_cursor,
}: {
  data: object[];
  has_more: boolean;
  next_cursor: string | null;
}) => ({
  data,
  has_more,
  next_cursor,
});

/** Builds a structured result. API errors are returned to the model so that it can correct its call. */
export async function answer(work: () => Promise<object>): Promise<CallToolResult> {
  try {
    const result = await work();
    return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: { ...result } };
  } catch (error) {
    if (!(error instanceof PostroomError)) throw error;
    // The message states the first problem.
    const problems = error.details.map(({ field, message }) => `${field}: ${message}`);
    const others = problems.filter((problem) => problem !== error.message);
    const text = [`${error.code}: ${error.message}`, ...others].join('\n');
    return { content: [{ type: 'text', text }], isError: true };
  }
}
