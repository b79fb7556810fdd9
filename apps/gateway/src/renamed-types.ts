import { type DocumentNode, visit } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/** Types that were renamed, by their former names. GraphQL cannot deprecate a type, so fragments on these still work. */
const RENAMED_TYPES = new Map([['MailboxConnection', 'MailboxConsent']]);

/** Lets documents name a renamed type as it was. */
export function renamedTypes(): Plugin {
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
