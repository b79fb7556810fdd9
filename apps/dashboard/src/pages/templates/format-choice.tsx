import { Radio, Stack } from '@mantine/core';
import type { ContentFormat } from '../../generated/graphql.ts';

/** The content format. It is final, because HTML can't be converted to MJML. */
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
