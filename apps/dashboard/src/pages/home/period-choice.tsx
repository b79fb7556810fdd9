import { Button, Group, SegmentedControl, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { dayText, type HomeSearch, PERIODS, rangeProblem } from './period.ts';
import { useShowSearch } from '../../data/show-search.ts';

const CUSTOM = 'custom';

/** Chooses a preset period or a range of days. */
export function PeriodChoice({ search }: { search: HomeSearch }) {
  const show: (search: HomeSearch) => void = useShowSearch();
  const [isChoosing, setChoosing] = useState(false);
  const isCustom = search.from !== undefined || isChoosing;
  const choose = (value: string) => {
    setChoosing(value === CUSTOM);
    if (value !== CUSTOM) show({ period: value as keyof typeof PERIODS });
  };
  return (
    <Group gap="xs" justify="flex-end">
      <SegmentedControl
        size="xs"
        aria-label="Period"
        value={isCustom ? CUSTOM : (search.period ?? '30d')}
        data={[
          ...Object.entries(PERIODS).map(([value, { label }]) => ({ value, label })),
          { value: CUSTOM, label: 'Custom' },
        ]}
        onChange={choose}
      />
      {isCustom && <Range key={`${search.from} ${search.to}`} search={search} onShow={show} />}
    </Group>
  );
}

function Range({ search, onShow }: { search: HomeSearch; onShow: (search: HomeSearch) => void }) {
  const today = dayText(new Date());
  const [from, setFrom] = useState(search.from ?? today);
  const [to, setTo] = useState(search.to ?? today);
  const [problem, setProblem] = useState<string>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = rangeProblem(from, to);
    setProblem(found);
    if (found === undefined) onShow({ from, to });
  };
  return (
    <form onSubmit={submit} noValidate aria-label="Range of days">
      <Group gap="xs" justify="flex-end">
        <TextInput
          type="date"
          size="xs"
          aria-label="First day"
          max={today}
          value={from}
          error={problem !== undefined}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <Text size="sm" c="dimmed">
          to
        </Text>
        <TextInput
          type="date"
          size="xs"
          aria-label="Last day"
          max={today}
          value={to}
          error={problem !== undefined}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        <Button type="submit" size="xs" variant="default">
          Show
        </Button>
      </Group>
      {problem !== undefined && (
        <Text size="sm" c="error" ta="right" role="alert" mt={4}>
          {problem}
        </Text>
      )}
    </form>
  );
}
