import type { Ask } from './api-query.ts';

interface List {
  nodes: readonly object[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

/** Asks for all pages of a list, which takes `$after`, and answers with them as one. */
export function everyPageOf<Name extends string>(list: Name) {
  return function ask<Data extends Record<Name, List>>(...request: Parameters<Ask<Data>>): () => void {
    const [client, query, variables, context, answer] = request;
    let stopRest = () => {};
    const subscription = client.query(query, variables, context).subscribe((result) => {
      stopRest();
      const first = result.data?.[list];
      if (first?.pageInfo.hasNextPage !== true) return answer(result);
      const after = first.pageInfo.endCursor;
      stopRest = ask(client, query, { ...variables, after }, context, ({ data, ...rest }) => {
        const all = data && { ...data, [list]: { ...data[list], nodes: [...first.nodes, ...data[list].nodes] } };
        answer({ ...rest, ...(all && { data: all }), stale: result.stale || rest.stale });
      });
    });
    return () => {
      stopRest();
      subscription.unsubscribe();
    };
  };
}
