import { Card, Checkbox, Input, Radio, SimpleGrid, Stack, Text } from '@mantine/core';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { QueryResult, LinesSkeleton } from '../../components/states.tsx';
import { byHeading } from './event-families.ts';

const EVENT_TYPES = graphql(`
  query EventTypes {
    webhookEventTypes {
      name
      fires
    }
  }
`);

const ALL = '*';

interface EventChoiceProps {
  value: string[];
  onChange: (events: string[]) => void;
  error?: string | undefined;
}

/** Event subscription: all types, including future ones, or selected types. */
export function EventChoice({ value, onChange, error }: EventChoiceProps) {
  const all = value.includes(ALL);
  return (
    <Stack gap="sm">
      <Radio.Group
        label="Events"
        value={all ? 'all' : 'some'}
        onChange={(choice) => onChange(choice === 'all' ? [ALL] : [])}
      >
        <Stack gap={6} mt={6}>
          <Radio value="all" label="All events, including types added later" />
          <Radio value="some" label="Selected events" />
        </Stack>
      </Radio.Group>
      {!all && <Types value={value} onChange={onChange} />}
      {error !== undefined && <Input.Error role="alert">{error}</Input.Error>}
    </Stack>
  );
}

function Types({ value, onChange }: Pick<EventChoiceProps, 'value' | 'onChange'>) {
  const types = useApiQuery(EVENT_TYPES, {});
  return (
    <QueryResult of={types} skeleton={<LinesSkeleton lines={8} />}>
      {({ webhookEventTypes }) => (
        <Checkbox.Group value={value} onChange={onChange} aria-label="Event types">
          <Stack>
            {byHeading(webhookEventTypes).map(([heading, family]) => (
              <Card key={heading} p="md">
                <Text size="sm" fw={600} mb="sm">
                  {heading}
                </Text>
                <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
                  {family.map(({ name, fires }) => (
                    <Checkbox
                      key={name}
                      size="sm"
                      value={name}
                      label={<code>{name}</code>} // Descriptions are Markdown, as the reference has them.
                      description={fires.replaceAll('`', '')}
                    />
                  ))}
                </SimpleGrid>
              </Card>
            ))}
          </Stack>
        </Checkbox.Group>
      )}
    </QueryResult>
  );
}
