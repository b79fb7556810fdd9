import type { Route, StreamRoute } from '@postroom/platform';
import { streamEntries } from './export.ts';

export const routes: Route[] = [];

/** API keys may not read the audit log, so `/v1` has no route for it. */
export const downloads: StreamRoute[] = [
  {
    method: 'GET',
    path: '/v1/audit-log/export',
    needs: 'full',
    tag: 'Audit log',
    operationId: 'exportAuditLog',
    summary: 'Export the audit log as a CSV file, newest first',
    description: "Entries that pass every filter. Values that a spreadsheet would run as a formula begin with a `'`.",
    options: 'AuditLogFilter',
    answers: { status: 200, description: 'The entries.', content: { 'text/csv': { type: 'string' } } },
    answer: streamEntries,
  },
];
