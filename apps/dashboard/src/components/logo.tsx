import { Group, Text } from '@mantine/core';

/** The logo and product name. */
export function Logo() {
  return (
    <Group gap={10} wrap="nowrap">
      <img src="/app/icon.svg" width={26} height={26} alt="" />
      <Text fw={650} size="lg" lh={1}>
        Postroom
      </Text>
    </Group>
  );
}
