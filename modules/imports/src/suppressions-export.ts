import { listSuppressions, type SuppressionReason } from '@postroom/contacts';
import type { StreamExchange } from '@postroom/platform';
import { csvLine, guard } from '@postroom/csv';
import { streamCsv } from '@postroom/downloads';

const AT_ONCE = 1000;

/** The lines of a CSV file of the project's suppressions, newest first. Erased addresses are left out: only a hash is known. */
async function* lines(projectId: string, reason: SuppressionReason | null): AsyncGenerator<string, void> {
  yield csvLine(['email', 'reason', 'origin', 'created_at']);
  for (let after: string | null = null; ;) {
    const { edges, pageInfo } = await listSuppressions(projectId, { reason, first: AT_ONCE, after });
    yield edges
      .filter(({ node }) => node.email !== 'erased')
      .map(({ node }) =>
        csvLine([guard(node.email), node.reason, guard(node.origin ?? ''), node.createdAt.toISOString()]),
      )
      .join('');
    if (!pageInfo.hasNextPage) return;
    after = pageInfo.endCursor;
  }
}

/** Streams the suppression list as a CSV file that can be imported again. */
export async function streamSuppressions(exchange: StreamExchange): Promise<undefined> {
  const { reason } = exchange.options as { reason?: SuppressionReason | null };
  const name = `suppressions-${new Date().toISOString().slice(0, 10)}.csv`;
  await streamCsv(exchange, name, () => lines(exchange.projectId, reason ?? null));
}
