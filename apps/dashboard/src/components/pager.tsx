import { Group, Text } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { isFirstPage, nextPage, type PageSearch, previousPage } from '../data/paging.ts';
import { ButtonLink } from './link.tsx';

interface PageInfo {
  hasNextPage: boolean;
  endCursor?: string | null;
}

/** Cursor pagination. Cursors live in the URL, so that a page can be reloaded and shared. Rows are never counted. */
export function Pager({ search, pageInfo, shown }: { search: PageSearch; pageInfo: PageInfo; shown: number }) {
  if (isFirstPage(search) && !pageInfo.hasNextPage) return null;
  const withCursor = (page: PageSearch) => (previous: object) => ({ ...previous, after: page.after });
  return (
    <Group component="nav" aria-label="Pagination" justify="space-between">
      <Text size="sm" c="dimmed" role="status">
        {shown} shown
      </Text>
      <Group gap="xs">
        <ButtonLink
          to="."
          search={withCursor(previousPage(search)) as never}
          variant="default"
          disabled={isFirstPage(search)}
          leftSection={<IconChevronLeft size={16} aria-hidden />}
        >
          Previous
        </ButtonLink>
        <ButtonLink
          to="."
          search={withCursor(pageInfo.endCursor == null ? search : nextPage(search, pageInfo.endCursor)) as never}
          variant="default"
          disabled={!pageInfo.hasNextPage}
          rightSection={<IconChevronRight size={16} aria-hidden />}
        >
          Next
        </ButtonLink>
      </Group>
    </Group>
  );
}
