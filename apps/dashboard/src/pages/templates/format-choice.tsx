import { Radio, Stack } from '@mantine/core';
import type { ContentFormat } from '../../generated/graphql.ts';

/** What a text is to be written in. It can not be changed afterwards, since HTML can not be made into MJML. */
export function FormatChoice({ value, onChange }: { value: ContentFormat; onChange: (format: ContentFormat) => void }) {
  return (
    <Radio.Group label="Format" value={value} onChange={(format) => onChange(format as ContentFormat)}>
      <Stack gap="xs" mt={6}>
        <Radio value="html" label="HTML" description="Sent exactly as written." />
        <Radio
          value="mjml"
          label="MJML"
          description="Concise markup that compiles to responsive HTML for all email clients."
        />
      </Stack>
    </Radio.Group>
  );
}
