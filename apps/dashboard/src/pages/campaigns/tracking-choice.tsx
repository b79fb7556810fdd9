import { Card, Select, SimpleGrid } from '@mantine/core';
import { useProject } from '../../app/session.tsx';
import { useApiQuery } from '../../data/api-query.ts';
import { Section } from '../../components/page.tsx';
import { TRACKING } from '../settings/tracking.tsx';
import type { PartProps } from './use-draft.ts';

/** Tracking settings: the project default unless the campaign overrides it. */
export function TrackingChoice({ draft, set, readOnly }: PartProps) {
  const { id } = useProject();
  const project = useApiQuery(TRACKING, {}).data?.projects.find((each) => each.id === id);
  return (
    <Section title="Tracking" about="Applies from the start of the campaign. Test emails are never tracked.">
      <Card>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Switches
            label="Opens"
            description="Adds a tracking pixel to the email."
            ofProject={project?.trackOpens}
            value={draft.trackOpens}
            readOnly={readOnly}
            onChange={(trackOpens) => set({ trackOpens })}
          />
          <Switches
            label="Clicks"
            description="Rewrites links to pass through this server."
            ofProject={project?.trackClicks}
            value={draft.trackClicks}
            readOnly={readOnly}
            onChange={(trackClicks) => set({ trackClicks })}
          />
        </SimpleGrid>
      </Card>
    </Section>
  );
}

const CHOICES = { project: null, on: true, off: false } as const;

type Choice = keyof typeof CHOICES;

function Switches({
  label,
  description,
  ofProject,
  value,
  readOnly,
  onChange,
}: {
  label: string;
  description: string;
  /** The project default; undefined while loading. */
  ofProject: boolean | undefined;
  value: boolean | null;
  readOnly: boolean;
  onChange: (value: boolean | null) => void;
}) {
  const words = ofProject === undefined ? '' : ofProject ? ': tracked' : ': not tracked';
  return (
    <Select
      size="sm"
      label={label}
      description={description}
      allowDeselect={false}
      data={[
        { value: 'project', label: `Project default${words}` },
        { value: 'on', label: 'Tracked' },
        { value: 'off', label: 'Not tracked' },
      ]}
      value={value === null ? 'project' : value ? 'on' : 'off'}
      readOnly={readOnly}
      onChange={(choice) => onChange(CHOICES[(choice ?? 'project') as Choice])}
    />
  );
}
