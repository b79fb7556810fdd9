import type { Client, Connection } from '@temporalio/client';
import { logger, SEARCH_ATTRIBUTES } from '@postroom/platform';

/** Temporal's enum value for keyword attributes (`INDEXED_VALUE_TYPE_KEYWORD`). */
const KEYWORD = 2;

/**
 * Creates missing search attributes in the namespace, because Temporal rejects workflows with unknown ones. Where
 * that is not allowed, as in Temporal Cloud, logs what to create by hand.
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
    logger.info({ namespace, searchAttributes: missing }, 'created search attributes in the Temporal namespace');
  } catch (error) {
    logger.warn(
      { err: error, namespace, searchAttributes: SEARCH_ATTRIBUTES },
      'whether the Temporal namespace has these keyword search attributes is not known; make those that are missing',
    );
  }
}
