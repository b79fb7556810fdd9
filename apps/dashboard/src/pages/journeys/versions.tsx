import { SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { JourneyQuery } from '../../generated/graphql.ts';
import { When } from '../../components/when.tsx';
import { Canvas } from './canvas.tsx';
import type { Choices } from './choices.ts';
import { differencesOf, type Mark } from './compare.ts';
import type { Counts } from './counts.ts';
import { type Definition, readDefinition, type Step } from './definition.ts';
import { GraphView } from './graph-view.tsx';
import { ENTRY } from './graph.ts';
import { Panel } from './panel.tsx';
import { stepSummary, stepTitle } from './step-types.ts';
import { entrySummary, list, type Names, rulesInWords } from './summaries.ts';

type Row = JourneyQuery['journey'];

export type Shown = 'draft' | 'published' | 'compare';

/** Chooses between what is edited, what contacts enter, and both. */
export function WhichVersion({ value, onChange }: { value: Shown; onChange: (value: Shown) => void }) {
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
        {rulesInWords(definition, choices.names).join(' ')}
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

/** The draft next to the published version, with the steps that differ marked. */
export function Compare({ journey, draft, choices, counts, isPhone }: VersionProps & { draft: Definition }) {
  const { names } = choices;
  const [selected, setSelected] = useState<string>();
  const published = readDefinition(journey.publishedDefinition);
  const { steps: marks, entry, rules } = differencesOf(draft, published);
  const of = (wanted: Mark) => [...marks].flatMap(([id, mark]) => (mark === wanted ? [id] : []));
  const sentences = [
    ...(entry ? ['How contacts enter differs.'] : []),
    ...(rules ? ['The rules differ.'] : []),
    ...(['added', 'changed', 'removed'] as const).flatMap((mark) =>
      of(mark).length === 0 ? [] : [`${MARKED[mark]}: ${list.format(of(mark))}.`],
    ),
  ];
  const columns = [
    { title: 'Draft', definition: draft },
    { title: `Published, version ${journey.publishedVersion}`, definition: published },
  ];
  return (
    <Stack gap="sm">
      <Text size="sm" role="status">
        {sentences.length === 0 ? 'The draft is what is published.' : sentences.join(' ')}
      </Text>
      <div className="journey-versions">
        {columns.map(({ title, definition }) => (
          <Stack key={title} gap={6} miw={0}>
            <Title order={3}>{title}</Title>
            <Text size="sm" c="dimmed">
              {rulesInWords(definition, names).join(' ')}
            </Text>
            <Canvas
              label={`${title} steps`}
              definition={definition}
              names={names}
              entry={entrySummary(definition.entry, names)}
              counts={counts}
              marks={entry ? new Map([...marks, [ENTRY, 'changed' as const]]) : marks}
              selected={selected}
              isStatic={isPhone}
              onSelect={setSelected}
            />
          </Stack>
        ))}
      </div>
      {selected !== undefined && (
        <Panel title={selected === ENTRY ? 'Entry' : selected} onClose={() => setSelected(undefined)}>
          {columns.map(({ title, definition }) => (
            <Text key={title} size="sm">
              <b>{title}:</b> {described(selected, definition, names)}
            </Text>
          ))}
        </Panel>
      )}
    </Stack>
  );
}

const MARKED: Record<Mark, string> = { added: 'New', changed: 'Changed', removed: 'Removed' };

function described(id: string, { entry, steps }: Definition, names: Names): string {
  if (id === ENTRY) return `${entrySummary(entry, names)}, at step ${steps[0]?.id ?? 'none'}.`;
  const step: Step | undefined = steps.find((each) => each.id === id);
  if (step === undefined) return 'There is no such step.';
  return [stepTitle(step, names), stepSummary(step, names)].filter((part) => part !== '').join('. ');
}
