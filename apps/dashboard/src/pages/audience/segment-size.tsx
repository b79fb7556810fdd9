import { Card, Text } from '@mantine/core';
import { Chart } from '../../components/chart.tsx';
import { Section } from '../../components/page.tsx';
import { formatUtcDay } from '../../components/when.tsx';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { number } from '../campaigns/campaign-labels.ts';

const SIZES = graphql(`
  query SegmentSizes($id: ID!) {
    segment(id: $id) {
      id
      sizes(days: 90) {
        day
        size
      }
    }
  }
`);

const shortDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** The size of a segment on each of the last 90 days. */
export function SegmentSize({ id }: { id: string }) {
  const sizes = useApiQuery(SIZES, { id }).data?.segment.sizes;
  if (sizes === undefined) return null;
  const [first, last] = [sizes[0], sizes.at(-1)];
  return (
    <Section title="Size over time" about="Counted once a day, for the last 90 days.">
      <Card component="figure" m={0} aria-label="Size over time">
        {first === undefined || last === undefined ? (
          <Text size="sm" c="dimmed">
            The size is recorded once a day. The first value appears within an hour.
          </Text>
        ) : (
          <>
            <Text size="sm" mb="xs" component="figcaption">
              {number(last.size)} on {formatUtcDay(last.day)}
              {sizes.length > 1 && `, ${number(first.size)} on ${formatUtcDay(first.day)}`}
            </Text>
            <Chart
              kind="areas"
              height={160}
              points={sizes.map(({ day: at, size }) => ({ size, when: shortDay.format(new Date(at)) }))}
              series={[{ name: 'size', label: 'Contacts', color: 'pine.6' }]}
            />
          </>
        )}
      </Card>
    </Section>
  );
}
