import { SegmentedControl, Select, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { JourneyQuery } from '../../generated/graphql.ts';
import { list } from '../../components/numbers.ts';
import { LinesSkeleton } from '../../components/states.tsx';
import { When } from '../../components/when.tsx';
import { Canvas } from './canvas.tsx';
import type { Choices } from './choices.ts';
import { type Differences, differencesOf, type Mark } from './compare.ts';
import type { Counts } from './counts.ts';
import { readDefinition } from './definition.ts';
import type { Definition, Step } from './definition-types.ts';
import { GraphView } from './graph-view.tsx';
import { ENTRY } from './graph.ts';
import { Panel } from './panel.tsx';
import { stepSummary, stepTitle } from './step-types.ts';
import { describeRules, entrySummary, type Names } from './summaries.ts';
import { DRAFT, useVersion, useVersionOptions } from './use-version.ts';

type Row = JourneyQuery['journey'];

export type Shown = 'draft' | 'published' | 'compare';

/** Chooses between what is edited, what contacts enter, and both. */
export function VersionSwitch({ value, onChange }: { value: Shown; onChange: (value: Shown) => void }) {
  return (
    <SegmentedControl
      aria-label="Version"
      size="xs"
      data={[
        { value: 'draft', label: 'Draft' },
        { value: 'published', label: 'Published' },
        { value: 'compare', label: 'Compare' },
      ]}
      value={value}
      onChange={(chosen) => onChange(chosen as Shown)}
    />
  );
}

interface VersionProps {
  journey: Row;
  choices: Choices;
  counts: Counts | undefined;
  isPhone: boolean;
}

/** The version that contacts enter, to look at. */
export function Published({ journey, choices, counts, isPhone }: VersionProps) {
  const definition = readDefinition(journey.publishedDefinition);
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        Version {journey.publishedVersion}, published{' '}
        {journey.publishedAt === null ? '' : <When at={journey.publishedAt} />}.{' '}
        {describeRules(definition, choices.names).join(' ')}
      </Text>
      <GraphView
        label="Published steps"
        definition={definition}
        choices={choices}
        journeyId={journey.id}
        isActive={journey.status === 'active'}
        counts={counts}
        isPhone={isPhone}
      />
    </Stack>
  );
}

/** Two versions next to each other, at first the draft and what is published, with the steps that differ marked. */
export function Compare({ journey, draft, choices, counts, isPhone }: VersionProps & { draft: Definition }) {
  const { names } = choices;
  const { id, publishedVersion, publishedDefinition } = journey;
  const [selected, setSelected] = useState<string>();
  // Until another one is chosen, what is published is compared, also once that is a new version.
  const [picked, setPicked] = useState<{ one?: string; other?: string }>({});
  const chosen = [picked.one ?? DRAFT, picked.other ?? String(publishedVersion)] as const;
  const options = useVersionOptions(id);
  const numbers = chosen.map((each) =>
    each === DRAFT || Number(each) === publishedVersion ? undefined : Number(each),
  );
  const older = [useVersion(id, numbers[0]), useVersion(id, numbers[1])];
  const titleOf = (which: string) =>
    which === DRAFT ? 'Draft' : `${Number(which) === publishedVersion ? 'Published, version' : 'Version'} ${which}`;
  const definitionOf = (index: 0 | 1) =>
    chosen[index] === DRAFT
      ? draft
      : (older[index] ?? (numbers[index] === undefined ? readDefinition(publishedDefinition) : undefined));
  const [one, other] = [definitionOf(0), definitionOf(1)];
  const differences = one && other && differencesOf(one, other);
  const marks = differences?.entry ? new Map([...differences.steps, [ENTRY, 'changed' as const]]) : differences?.steps;
  const columns = [
    {
      key: 'one',
      label: 'First version',
      title: titleOf(chosen[0]),
      definition: one,
      choose: (next: string) => setPicked({ ...picked, one: next }),
    },
    {
      key: 'other',
      label: 'Second version',
      title: titleOf(chosen[1]),
      definition: other,
      choose: (next: string) => setPicked({ ...picked, other: next }),
    },
  ];
  return (
    <Stack gap="sm">
      <Text size="sm" role="status">
        {differences && inWords(differences)}
      </Text>
      <div className="journey-versions">
        {columns.map(({ key, label, title, definition, choose }, index) => (
          <Stack key={key} gap={6} miw={0}>
            <Select
              aria-label={label}
              allowDeselect={false}
              data={options}
              value={chosen[index] ?? DRAFT}
              onChange={(next) => next !== null && choose(next)}
            />
            <Title order={3}>{title}</Title>
            {definition === undefined ? (
              <LinesSkeleton />
            ) : (
              <>
                <Text size="sm" c="dimmed">
                  {describeRules(definition, names).join(' ')}
                </Text>
                <Canvas
                  label={`${title} steps`}
                  definition={definition}
                  names={names}
                  entry={entrySummary(definition.entry, names)}
                  counts={counts}
                  marks={marks}
                  selected={selected}
                  isStatic={isPhone}
                  onSelect={setSelected}
                />
              </>
            )}
          </Stack>
        ))}
      </div>
      {selected !== undefined && (
        <Panel title={selected === ENTRY ? 'Entry' : selected} onClose={() => setSelected(undefined)}>
          {columns.map(({ key, title, definition }) => (
            <Text key={key} size="sm">
              <b>{title}:</b> {definition && describeNode(selected, definition, names)}
            </Text>
          ))}
        </Panel>
      )}
    </Stack>
  );
}

/** How the first version differs from the second. */
function inWords({ steps, entry, rules }: Differences): string {
  const of = (wanted: Mark) => [...steps].flatMap(([id, mark]) => (mark === wanted ? [id] : []));
  const sentences = [
    ...(entry ? ['How contacts enter differs.'] : []),
    ...(rules ? ['The rules differ.'] : []),
    ...(['added', 'changed', 'removed'] as const).flatMap((mark) =>
      of(mark).length === 0 ? [] : [`${MARKED[mark]}: ${list.format(of(mark))}.`],
    ),
  ];
  return sentences.length === 0 ? 'Both are the same.' : sentences.join(' ');
}

const MARKED: Record<Mark, string> = { added: 'New', changed: 'Changed', removed: 'Removed' };

function describeNode(id: string, { entry, steps }: Definition, names: Names): string {
  if (id === ENTRY) return `${entrySummary(entry, names)}, at step ${steps[0]?.id ?? 'none'}.`;
  const step: Step | undefined = steps.find((each) => each.id === id);
  if (step === undefined) return 'There is no such step.';
  return [stepTitle(step, names), stepSummary(step, names)].filter((part) => part !== '').join('. ');
}
