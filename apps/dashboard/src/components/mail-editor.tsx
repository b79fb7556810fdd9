import '@mantine/core/styles/List.css';
import { Anchor, Box, Button, Grid, Group, List, Menu, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconBraces } from '@tabler/icons-react';
import { lazy, Suspense, useRef, useState } from 'react';
import { useApiQuery } from '../data/api-query.ts';
import type { ContentFormat } from '../generated/graphql.ts';
import { CUSTOM_FIELDS } from '../pages/audience/field-values.tsx';
import { type ContentProblem, useContentCheck } from './content-check.ts';
import { FORMAT_LABELS } from './format-labels.ts';
import type { EditorHandle, Placeholder } from './html-editor.tsx';
import { MAX_PREVIEW_HEIGHT } from './preview-height.ts';
import { SampledPreview } from './sampled-preview.tsx';

const HtmlEditor = lazy(() => import('./html-editor.tsx'));

const BUILT_IN: Placeholder[] = [
  { key: 'name', label: 'Name' },
  { key: 'email', label: 'Address' },
  { key: 'unsubscribe_url', label: 'Unsubscribe link' },
  { key: 'view_in_browser_url', label: 'Web version' },
  { key: 'postal_address', label: 'Postal address' },
];

/** Tags and filters to start from, shown as they are inserted. */
const LOGIC = [
  { label: 'Condition', text: '{% if name %}…{% else %}…{% endif %}' },
  { label: 'Loop', text: '{% for item in items %}{{ item }}{% endfor %}' },
  { label: 'Date', text: '{{ "now" | date: "%d %B %Y" }}' },
  { label: 'Amount', text: '{{ 9.5 | currency: "EUR" }}' },
];

/** The placeholders available in this project. */
export function usePlaceholders(): Placeholder[] {
  const fields = useApiQuery(CUSTOM_FIELDS, {}).data?.customFields.nodes ?? [];
  return [...BUILT_IN, ...fields.map(({ key, label }) => ({ key, label }))];
}

interface MailEditorProps {
  value: string;
  format: ContentFormat;
  /** The compiled HTML of saved MJML, shown until the first check. */
  made?: string;
  readOnly?: boolean;
  onChange: (value: string) => void;
}

/**
 * An email's source and preview, side by side on wide screens. Problems are marked in the source and listed below.
 */
export function MailEditor(props: MailEditorProps) {
  // Switching the format resets the editor.
  return <FormatEditor key={props.format} {...props} />;
}

function FormatEditor({ value, format, made, readOnly = false, onChange }: MailEditorProps) {
  const label = FORMAT_LABELS[format];
  const placeholders = usePlaceholders();
  const editor = useRef<EditorHandle>(null);
  const narrow = useMediaQuery('(max-width: 62em)');
  const [shown, setShown] = useState<'write' | 'preview'>('write');
  const { problems, html } = useContentCheck(value, format, made);
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
      <Box h={narrow ? 420 : 560}>
        <Suspense fallback={<Skeleton h="100%" />}>
          <HtmlEditor
            ref={editor}
            value={value}
            format={format}
            label={label}
            placeholders={placeholders}
            problems={problems}
            readOnly={readOnly}
            onChange={onChange}
          />
        </Suspense>
      </Box>
    </Stack>
  );
  const preview = <SampledPreview html={html} title={`Preview: ${label}`} height={MAX_PREVIEW_HEIGHT} />;
  const show = (problem: ContentProblem) => {
    setShown('write');
    // On phones the editor mounts only when its tab is shown.
    setTimeout(() => editor.current?.show(problem));
  };
  return (
    <Stack gap="xs">
      {narrow && (
        <SegmentedControl
          fullWidth
          aria-label="View"
          value={shown}
          onChange={(next) => setShown(next as 'write' | 'preview')}
          data={[
            { value: 'write', label: 'Write' },
            { value: 'preview', label: 'Preview' },
          ]}
        />
      )}
      {narrow ? (
        shown === 'write' ? (
          source
        ) : (
          preview
        )
      ) : (
        <Grid gap="md">
          <Grid.Col span={6}>{source}</Grid.Col>
          <Grid.Col span={6}>{preview}</Grid.Col>
        </Grid>
      )}
      <Problems label={label} problems={problems} onShow={show} />
    </Stack>
  );
}

/** The maximum number of problems listed. */
const MOST = 5;

function Problems({
  label,
  problems,
  onShow,
}: {
  label: string;
  problems: readonly ContentProblem[];
  onShow: (problem: ContentProblem) => void;
}) {
  return (
    <div aria-live="polite">
      {problems.length > 0 && (
        <List size="sm" aria-label={`Problems in the ${label}`} listStyleType="none">
          {problems.slice(0, MOST).map((problem, index) => (
            <List.Item key={index} c="var(--mantine-color-error)">
              {problem.line !== null && (
                <>
                  <Anchor component="button" type="button" size="sm" c="inherit" onClick={() => onShow(problem)}>
                    Line {problem.line}
                    {problem.column !== null && `, column ${problem.column}`}
                  </Anchor>
                  :{' '}
                </>
              )}
              {problem.message}
            </List.Item>
          ))}
          {problems.length > MOST && <List.Item c="dimmed">And {problems.length - MOST} more.</List.Item>}
        </List>
      )}
    </div>
  );
}

/** Inserts a placeholder or tag at the cursor. Names get a default for contacts without one. */
export function PlaceholderMenu({
  placeholders,
  field,
  onChoose,
}: {
  placeholders: Placeholder[];
  /** Where it is inserted, if there are several menus. */
  field?: string;
  onChoose: (text: string) => void;
}) {
  return (
    // In a low window it may cover its button.
    <Menu width={280} returnFocus={false} middlewares={{ flip: true, shift: { crossAxis: true } }}>
      <Menu.Target>
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconBraces size={15} aria-hidden />}
          {...(field !== undefined && { 'aria-label': `Insert a placeholder: ${field}` })}
        >
          Insert a placeholder
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Box mah={320} className="scrolling">
          {placeholders.map(({ key, label }) => (
            <Item key={key} label={label} text={key === 'name' ? '{{name|there}}' : `{{${key}}}`} onChoose={onChoose} />
          ))}
        </Box>
        <Menu.Divider />
        {LOGIC.map(({ label, text }) => (
          <Item key={label} label={label} text={text} onChoose={onChoose} />
        ))}
        <Menu.Divider />
        <Text size="xs" c="dimmed" px="sm" py={6}>
          To set a default, add a bar: {'{{city|your town}}'}. Filters follow a bar too: default, upcase, date, number,
          currency, truncate, join and others.
        </Text>
      </Menu.Dropdown>
    </Menu>
  );
}

function Item({ label, text, onChoose }: { label: string; text: string; onChoose: (text: string) => void }) {
  return (
    <Menu.Item className="breakable" onClick={() => onChoose(text)}>
      {label}
      <Text size="xs" c="dimmed" className="mono">
        {text}
      </Text>
    </Menu.Item>
  );
}
