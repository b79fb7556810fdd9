import { Alert, Anchor, Button, Card, Group, Skeleton, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { IconAlertTriangle, IconCloudOff, type IconKey, IconMoodEmpty } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Problem } from '../data/problem.ts';
import type { ApiQuery } from '../data/api-query.ts';
import { When } from './when.tsx';

/**
 * Renders a query result: a skeleton while loading, an error, or `children` with the data. If a refetch fails, stale
 * data stays with a note of its age.
 */
export function QueryResult<Data>({
  of: { data, at, problem, again },
  skeleton = <LinesSkeleton />,
  children,
}: {
  of: ApiQuery<Data>;
  skeleton?: ReactNode;
  children: (data: Data) => ReactNode;
}) {
  if (data === undefined) {
    return problem === undefined ? (
      <div aria-busy="true" aria-label="Loading" role="status">
        {skeleton}
      </div>
    ) : (
      <Failure problem={problem} again={again} />
    );
  }
  return (
    <>
      {problem !== undefined && at !== undefined && (
        <Alert color="yellow" icon={<IconCloudOff aria-hidden />} role="status">
          <Text size="sm">{problem.message}</Text>
          <Group gap="xs">
            <Text size="sm">
              Last updated <When at={new Date(at).toISOString()} />.
            </Text>
            <Anchor component="button" type="button" size="sm" onClick={again}>
              Try again
            </Anchor>
          </Group>
        </Alert>
      )}
      {children(data)}
    </>
  );
}

/** What stands in place of a few words that are not there yet. */
export const stateOf = ({ problem }: Pick<ApiQuery<unknown>, 'problem'>): string => problem?.message ?? 'Loading…';

/** An error with a retry button. */
function Failure({ problem, again }: { problem: Problem; again: () => void }) {
  if (problem.code === 'not_found') {
    return (
      <Empty title="Not found" icon={IconMoodEmpty}>
        {problem.message} It may have been deleted, or it belongs to another project.
      </Empty>
    );
  }
  return (
    <Empty
      title={problem.code === 'unreachable' ? 'No connection' : 'Something went wrong'}
      icon={problem.code === 'unreachable' ? IconCloudOff : IconAlertTriangle}
      color="red"
      action={
        problem.code === 'forbidden' ? undefined : (
          <Button variant="default" onClick={again}>
            Try again
          </Button>
        )
      }
    >
      {problem.message}
      {problem.requestId !== undefined && (
        <Text component="span" display="block" size="xs" mt="xs" className="mono">
          Request {problem.requestId}
        </Text>
      )}
    </Empty>
  );
}

/** An empty state with one next step. */
export function Empty({
  title,
  icon: Icon,
  color = 'gray',
  action,
  children,
}: {
  title: string;
  icon: typeof IconKey;
  color?: string;
  action?: ReactNode;
  children: ReactNode;
}) {
  return (
    <Card py={48}>
      <Stack align="center" gap="sm">
        <ThemeIcon variant="light" color={color} size={48} radius="xl">
          <Icon size={24} stroke={1.6} aria-hidden />
        </ThemeIcon>
        <Title order={2} ta="center">
          {title}
        </Title>
        <Text c="dimmed" size="sm" ta="center" maw={460}>
          {children}
        </Text>
        {action}
      </Stack>
    </Card>
  );
}

/** A list skeleton. */
export function RowsSkeleton({ rows = 6 }: { rows?: number }) {
  return (
    <Card p={0}>
      {Array.from({ length: rows }, (_, index) => (
        <Group key={index} px="md" py={14} wrap="nowrap" gap="xl">
          <Skeleton h={12} w="30%" />
          <Skeleton h={12} w="20%" />
          <Skeleton h={12} w="15%" visibleFrom="sm" />
        </Group>
      ))}
    </Card>
  );
}

/** A detail page skeleton. */
export function LinesSkeleton({ lines = 5 }: { lines?: number }) {
  return (
    <Card>
      <Stack>
        {Array.from({ length: lines }, (_, index) => (
          <Skeleton key={index} h={14} w={`${90 - ((index * 17) % 50)}%`} />
        ))}
      </Stack>
    </Card>
  );
}
