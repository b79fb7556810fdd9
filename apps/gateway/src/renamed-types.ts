import { type DocumentNode, visit } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/**
 * Renamed types, by their old names. GraphQL can't deprecate types, so this keeps fragments on the old names working.
 */
const RENAMED_TYPES = new Map([['MailboxConnection', 'MailboxConsent']]);

/** Lets documents use the old name of a renamed type. */
export function acceptOldTypeNames(): Plugin {
  const former = new RegExp(`\\b(?:${[...RENAMED_TYPES.keys()].join('|')})\\b`);
  return {
    onParse({ params: { source } }) {
      if (!former.test(typeof source === 'string' ? source : source.body)) return undefined;
      return ({ result, replaceParseResult }) => {
        if (isDocument(result)) replaceParseResult(withNewNames(result));
      };
    },
  };
}

const isDocument = (result: unknown): result is DocumentNode =>
  typeof result === 'object' && result !== null && 'kind' in result;

function withNewNames(document: DocumentNode): DocumentNode {
  return visit(document, {
    NamedType: (node) => {
      const value = RENAMED_TYPES.get(node.name.value);
      return value === undefined ? undefined : { ...node, name: { ...node.name, value } };
    },
  });
}
