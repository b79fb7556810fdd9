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

/** Has the server look at a text once; undefined when it can not be reached. */
export async function checkContent(client: Client, body: string, format: ContentFormat) {
  const { data } = await client.query(CHECK, { body, format }, { requestPolicy: 'network-only' }).toPromise();
  return data?.contentCheck;
}

/** What is known of a text that is being written. */
export interface ContentCheck {
  /** What is wrong with it, as of the last look. */
  problems: readonly ContentProblem[];
  /** What to show as its preview: the last of it that could be shown. */
  html: string;
}

const TYPING_MS = 350;
const NOTHING: readonly ContentProblem[] = [];

/**
 * Has the server look at a text whenever typing pauses. HTML is shown as it is written, MJML as what it was made into the last
 * time that it was right; at first that is `made`.
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
