import { SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';

type Fact = readonly [label: string, value: ReactNode];

/** What is known of a thing, each fact under what it is called; `false` for one that does not apply. */
export function Facts({ facts }: { facts: readonly (Fact | false)[] }) {
  return (
    <SimpleGrid component="dl" m={0} cols={{ base: 1, xs: 2, md: 3 }} spacing="md" verticalSpacing="sm">
      {facts.map(
        (fact) =>
          fact !== false && (
            <div key={fact[0]}>
              <Text component="dt" size="xs" c="dimmed">
                {fact[0]}
              </Text>
              <Text component="dd" m={0} size="sm" className="breakable">
                {fact[1]}
              </Text>
            </div>
          ),
      )}
    </SimpleGrid>
  );
}
