import { config } from '@postroom/platform';
import { Client, Connection } from '@temporalio/client';
import { afterAll } from 'vitest';

/** A client of the Temporal server of the tests. A test file calls this before its tests; it closes after them. */
export async function temporalClient(): Promise<Client> {
  const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS });
  afterAll(() => connection.close());
  return new Client({ connection });
}
