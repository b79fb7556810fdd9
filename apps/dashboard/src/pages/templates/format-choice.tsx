import { Radio, Stack } from '@mantine/core';
import type { ContentFormat } from '../../generated/graphql.ts';

/** What a text is to be written in. It can not be changed afterwards, since HTML can not be made into MJML. */
export function FormatChoice({ value, onChange }: { value: ContentFormat; onChange: (format: ContentFormat) => void }) {
  return (
    <Radio.Group label="Written in" value={value} onChange={(format) => onChange(format as ContentFormat)}>
      <Stack gap="xs" mt={6}>
        <Radio value="html" label="HTML" description="Sent as it is written." />
        <Radio
          value="mjml"
          label="MJML"
          description="Shorter to write; made into HTML that mail programs and phones show well."
        />
      </Stack>
    </Radio.Group>
  );
}
