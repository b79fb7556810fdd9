import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { type Client, useClient } from 'urql';
import { graphql } from '../generated/gql.ts';
import type { ContentCheckQuery, ContentFormat } from '../generated/graphql.ts';

const CHECK = graphql(`
  query ContentCheck($body: String!, $format: ContentFormat!) {
    contentCheck(body: $body, format: $format) {
      html
      problems {
        line
        column
        message
      }
    }
  }
`);

export type ContentProblem = ContentCheckQuery['contentCheck']['problems'][number];

/** Checks content on the server once; undefined if the server is unreachable. */
export async function checkContent(client: Client, body: string, format: ContentFormat) {
  const { data } = await client.query(CHECK, { body, format }, { requestPolicy: 'network-only' }).toPromise();
  return data?.contentCheck;
}

/** The check state of content being edited. */
export interface ContentCheck {
  /** Problems found by the last check. */
  problems: readonly ContentProblem[];
  /** The HTML to preview: the latest valid version. */
  html: string;
}

const TYPING_MS = 350;
const NOTHING: readonly ContentProblem[] = [];

/**
 * Checks content on the server whenever typing pauses. HTML previews as written. MJML previews as last compiled
 * without errors, initially `made`.
 */
export function useContentCheck(value: string, format: ContentFormat, made = ''): ContentCheck {
  const client = useClient();
  const [settled] = useDebouncedValue(value, TYPING_MS);
  const [compiled, setCompiled] = useState(made);
  const [problems, setProblems] = useState(NOTHING);
  useEffect(() => {
    let isCurrent = true;
    const look = async () => {
      if (settled.trim() === '') return { html: '', problems: NOTHING };
      return checkContent(client, settled, format);
    };
    void look().then((found) => {
      if (!isCurrent || found === undefined) return;
      setProblems(found.problems);
      if (found.html !== null) setCompiled(found.html);
    });
    return () => {
      isCurrent = false;
    };
  }, [client, settled, format]);
  return { problems, html: format === 'html' ? settled : compiled };
}
