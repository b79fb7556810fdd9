import type { Client, Connection } from '@temporalio/client';
import { logger, SEARCH_ATTRIBUTES } from '@postroom/platform';

/** Temporal's enum value for keyword attributes (`INDEXED_VALUE_TYPE_KEYWORD`). */
const KEYWORD = 2;

/** Whether the last attempt failed, so that a failure that lasts is logged once. */
let hasFailed = false;

/**
 * Creates missing search attributes in the namespace, so that workflows can be found by them. Where that is not allowed, as in
 * Temporal Cloud, logs what to create by hand; workflows start without attributes until then.
 */
export async function ensureSearchAttributes(client: Client): Promise<void> {
  const { operatorService } = client.connection as Connection;
  const { namespace } = client.options;
  try {
    const missing = await missingSearchAttributes(client);
    hasFailed = false;
    if (missing.length === 0) return;
    const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
    await operatorService.addSearchAttributes({ namespace, searchAttributes });
    logger.info({ namespace, searchAttributes: missing }, 'created search attributes in the Temporal namespace');
  } catch (error) {
    if (hasFailed) return;
    hasFailed = true;
    logger.warn(
      { err: error, namespace, searchAttributes: SEARCH_ATTRIBUTES },
      'could not check or create the keyword search attributes of the Temporal namespace; create those that are missing',
    );
  }
}

/** The search attributes that the namespace lacks. */
export async function missingSearchAttributes({ connection, options: { namespace } }: Client): Promise<string[]> {
  const { customAttributes } = await (connection as Connection).operatorService.listSearchAttributes({ namespace });
  return SEARCH_ATTRIBUTES.filter((name) => !(name in (customAttributes ?? {})));
}
