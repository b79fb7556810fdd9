import './thumbnail.css';
import { useInViewport } from '@mantine/hooks';
import { useState } from 'react';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { PostedFrame } from '../../components/email-preview.tsx';

const THUMBNAIL = graphql(`
  query TemplateThumbnail($id: ID!) {
    template(id: $id) {
      id
      body
    }
  }
`);

/** The top of a template, scaled down. Decorative: it takes no focus, and is loaded once it is in view. */
export function Thumbnail({ id }: { id: string }) {
  const { ref, inViewport } = useInViewport<HTMLDivElement>();
  const [seen, setSeen] = useState(false);
  if (inViewport && !seen) setSeen(true);
  const html = useApiQuery(THUMBNAIL, { id }, { pause: !seen }).data?.template.body;
  return (
    <div ref={ref} className="mail-thumbnail" aria-hidden inert>
      {html !== undefined && <PostedFrame html={html} values="{}" images={false} height={750} />}
    </div>
  );
}
