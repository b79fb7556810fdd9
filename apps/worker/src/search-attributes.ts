import type { Client, Connection } from '@temporalio/client';
import { logger, SEARCH_ATTRIBUTES } from '@postroom/platform';

/** Temporal's number for attributes that are compared as a whole (`INDEXED_VALUE_TYPE_KEYWORD`). */
const KEYWORD = 2;

/**
 * Makes the search attributes that workflows are started with where the namespace has not got them: Temporal refuses
 * workflows with an unknown one. Where that is not allowed, as in Temporal Cloud, it is said what to make by hand.
 */
export async function ensureSearchAttributes({ connection, options }: Client): Promise<void> {
  const { operatorService } = connection as Connection;
  const { namespace } = options;
  try {
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
    const missing = SEARCH_ATTRIBUTES.filter((name) => !(name in (customAttributes ?? {})));
    if (missing.length === 0) return;
    const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
    await operatorService.addSearchAttributes({ namespace, searchAttributes });
    logger.info({ namespace, searchAttributes: missing }, 'search attributes were made in the Temporal namespace');
  } catch (error) {
    logger.warn(
      { err: error, namespace, searchAttributes: SEARCH_ATTRIBUTES },
      'whether the Temporal namespace has these keyword search attributes is not known; make those that are missing',
    );
  }
}
