import type { TypedDocumentNode } from '@urql/core';

/** The text of a document: at runtime, `graphql()` returns a plain string. */
export function textOf<Data, Variables>(document: TypedDocumentNode<Data, Variables>): string {
  return document as unknown as string;
}
