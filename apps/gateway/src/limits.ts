import { readFileSync } from 'node:fs';
import { blockFieldSuggestionsPlugin } from '@escape.tech/graphql-armor-block-field-suggestions';
import { maxAliasesPlugin } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthPlugin } from '@escape.tech/graphql-armor-max-depth';
import { maxDirectivesPlugin } from '@escape.tech/graphql-armor-max-directives';
import { maxTokensPlugin } from '@escape.tech/graphql-armor-max-tokens';
import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations';
import { config } from '@postroom/platform';
import { type GraphQLError, NoSchemaIntrospectionCustomRule } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/** Limits per document, checked before it runs. Its cost is limited at runtime, by the builder. */
const LIMITS = { tokens: 2_000, depth: 12, aliases: 30, directives: 30 };

/** Errors of these plugins have no code, or that of a syntax error. */
const coded = {
  onReject: [(_: unknown, { extensions }: GraphQLError) => void (extensions['code'] = 'validation_error')],
};

/** The plugins that limit documents. */
export function limitPlugins() {
  return [
    maxTokensPlugin({ n: LIMITS.tokens, ...coded }),
    maxDepthPlugin({ n: LIMITS.depth, ...coded }),
    maxAliasesPlugin({ n: LIMITS.aliases, ...coded }),
    maxDirectivesPlugin({ n: LIMITS.directives, ...coded }),
    ...(config.GRAPHQL_EXPLORER ? [] : [blockFieldSuggestionsPlugin(), withoutIntrospection()]),
    ...trustedDocuments(),
  ];
}

function withoutIntrospection(): Plugin {
  return { onValidate: ({ addValidationRule }) => addValidationRule(NoSchemaIntrospectionCustomRule) };
}

/**
 * Trusted documents by hash: `{"<sha256>": "query …"}` in the configured file. Clients send
 * `extensions.persistedQuery.sha256Hash`; with GRAPHQL_TRUSTED_ONLY, all other documents are rejected.
 */
function trustedDocuments() {
  if (config.GRAPHQL_TRUSTED_DOCUMENTS === undefined) return [];
  const documents = readTrustedDocuments(config.GRAPHQL_TRUSTED_DOCUMENTS);
  return [
    usePersistedOperations({
      allowArbitraryOperations: !config.GRAPHQL_TRUSTED_ONLY,
      getPersistedOperation: (hash) => documents.get(hash) ?? null,
    }),
  ];
}

/** Reads a JSON object of documents by hash. @throws Error that names the setting. */
export function readTrustedDocuments(file: string): Map<string, string> {
  try {
    return new Map(Object.entries<string>(JSON.parse(readFileSync(file, 'utf8'))));
  } catch (error) {
    throw new Error(`GRAPHQL_TRUSTED_DOCUMENTS: ${file} can't be read: ${(error as Error).message}`, { cause: error });
  }
}
