import { SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export type DescriptionItem = readonly [label: string, value: ReactNode];

/** What is known of a thing, each item under what it is called; `false` for one that does not apply. */
export function DescriptionList({ items }: { items: readonly (DescriptionItem | false)[] }) {
  return (
    <SimpleGrid
      component="dl"
      className="description-list"
      m={0}
      cols={{ base: 1, xs: 2, md: 3 }}
      spacing="md"
      verticalSpacing="sm"
    >
      {items.map(
        (item) =>
          item !== false && (
            <div key={item[0]}>
              <Text component="dt" size="xs" c="dimmed">
                {item[0]}
              </Text>
              <Text component="dd" m={0} size="sm" className="breakable">
                {item[1]}
              </Text>
            </div>
          ),
      )}
    </SimpleGrid>
  );
}
