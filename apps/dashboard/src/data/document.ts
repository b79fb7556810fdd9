import type { TypedDocumentNode } from '@urql/core';

/** The text of a document: what `graphql()` returns is the text itself, typed by what it asks and answers. */
export function textOf<Data, Variables>(document: TypedDocumentNode<Data, Variables>): string {
  return document as unknown as string;
}
