import { Box, Button, Grid, Group, Menu, ScrollArea, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconBraces } from '@tabler/icons-react';
import { lazy, Suspense, useRef, useState } from 'react';
import { useRead } from '../data/read.ts';
import { CUSTOM_FIELDS } from '../pages/audience/field-values.tsx';
import type { EditorHandle, Placeholder } from './html-editor.tsx';
import { MailFrame } from './mail-frame.tsx';

const HtmlEditor = lazy(() => import('./html-editor.tsx'));

const BUILT_IN: Placeholder[] = [
  { key: 'name', label: 'Name' },
  { key: 'email', label: 'Address' },
  { key: 'unsubscribe_url', label: 'Link to unsubscribe by' },
];

const SAMPLE = { name: 'Ada Lovelace', email: 'ada@example.com', unsubscribe_url: '#' };

/** What placeholders can name in this project. */
export function usePlaceholders(): Placeholder[] {
  const fields = useRead(CUSTOM_FIELDS, {}).data?.customFields.nodes ?? [];
  return [...BUILT_IN, ...fields.map(({ key, label }) => ({ key, label }))];
}

/** Source and preview of a mail, side by side where there is room. */
export function MailEditor({
  value,
  label,
  readOnly = false,
  onChange,
}: {
  value: string;
  label: string;
  readOnly?: boolean;
  onChange: (value: string) => void;
}) {
  const placeholders = usePlaceholders();
  const editor = useRef<EditorHandle>(null);
  const narrow = useMediaQuery('(max-width: 62em)');
  const [shown, setShown] = useState<'write' | 'preview'>('write');
  const source = (
    <Stack gap="xs">
      <Group justify="space-between" mih={30} gap="xs">
        {!narrow && (
          <Text size="sm" fw={500}>
            {label}
          </Text>
        )}
        {!readOnly && <PlaceholderMenu placeholders={placeholders} onChoose={(text) => editor.current?.insert(text)} />}
      </Group>
      <Box h={560}>
        <Suspense fallback={<Skeleton h="100%" />}>
          <HtmlEditor
            ref={editor}
            value={value}
            label={label}
            placeholders={placeholders}
            readOnly={readOnly}
            onChange={onChange}
          />
        </Suspense>
      </Box>
    </Stack>
  );
  const preview = <MailFrame html={value} values={SAMPLE} title={`Preview: ${label}`} />;
  if (narrow) {
    return (
      <Stack gap="xs">
        <SegmentedControl
          fullWidth
          aria-label="What is shown"
          value={shown}
          onChange={(next) => setShown(next as 'write' | 'preview')}
          data={[
            { value: 'write', label: 'Write' },
            { value: 'preview', label: 'Preview' },
          ]}
        />
        {shown === 'write' ? source : preview}
      </Stack>
    );
  }
  return (
    <Grid gap="md">
      <Grid.Col span={6}>{source}</Grid.Col>
      <Grid.Col span={6}>{preview}</Grid.Col>
    </Grid>
  );
}

/** Puts a placeholder where the cursor is; names come with a default, which those without one see. */
export function PlaceholderMenu({
  placeholders,
  onChoose,
}: {
  placeholders: Placeholder[];
  onChoose: (text: string) => void;
}) {
  return (
    <Menu width={280} returnFocus={false}>
      <Menu.Target>
        <Button variant="default" size="compact-sm" leftSection={<IconBraces size={15} aria-hidden />}>
          Insert a placeholder
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <ScrollArea.Autosize mah={320} type="auto">
          {placeholders.map(({ key, label }) => (
            <Menu.Item
              key={key}
              onClick={() => onChoose(key === 'name' ? '{{name|there}}' : `{{${key}}}`)}
              rightSection={
                <Text size="xs" c="dimmed" className="mono">
                  {key}
                </Text>
              }
            >
              {label}
            </Menu.Item>
          ))}
        </ScrollArea.Autosize>
        <Menu.Divider />
        <Text size="xs" c="dimmed" px="sm" py={6}>
          A default stands behind a bar: {'{{city|your town}}'}
        </Text>
      </Menu.Dropdown>
    </Menu>
  );
}
