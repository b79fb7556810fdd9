import { Card, SimpleGrid, TextInput } from '@mantine/core';
import { Section } from '../../components/page.tsx';
import type { PartProps } from './use-draft.ts';

const PARAMETERS = [
  ['utmSource', 'utm_source', 'newsletter'],
  ['utmMedium', 'utm_medium', 'email'],
  ['utmCampaign', 'utm_campaign', 'autumn'],
  ['utmTerm', 'utm_term', ''],
  ['utmContent', 'utm_content', ''],
] as const;

/** UTM parameters, which web analytics read. */
export function UtmParameters({ draft, set, errors, readOnly }: PartProps) {
  return (
    <Section
      title="UTM parameters"
      about="Added to the links, so that web analytics can attribute visits. Parameters that a link already has are kept."
    >
      <Card>
        <SimpleGrid cols={{ base: 1, xs: 2, sm: 3 }}>
          {PARAMETERS.map(([field, label, placeholder]) => (
            <TextInput
              key={field}
              label={label}
              placeholder={placeholder}
              maxLength={200}
              autoComplete="off"
              value={draft[field]}
              error={errors[field]}
              readOnly={readOnly}
              onChange={(event) => set({ [field]: event.currentTarget.value })}
            />
          ))}
        </SimpleGrid>
      </Card>
    </Section>
  );
}
