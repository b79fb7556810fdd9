import './copy.css';
import { ActionIcon, Box, Code, Group, ScrollArea, Stack, Text, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';

const SHOWN_MS = 1500;

/** Copies text and confirms it briefly, also to screen readers. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    await write(text);
    setCopied(true);
  };
  return (
    <Tooltip label={copied ? 'Copied' : label} openDelay={100}>
      <ActionIcon onClick={() => void copy()} aria-label={label} color={copied ? 'green' : 'gray'} size="md">
        {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
        <span role="status" className="visually-hidden">
          {copied ? 'Copied' : ''}
        </span>
      </ActionIcon>
    </Tooltip>
  );
}

/** The clipboard API requires a secure context; plain HTTP falls back to execCommand. */
async function write(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

/** A labeled value with a copy button. */
export function CopyField({ label, value, shown = value }: { label: string; value: string; shown?: string }) {
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500}>
        {label}
      </Text>
      <CopyLine text={value} shown={shown} label={`Copy: ${label}`} />
    </Stack>
  );
}

/** A value in a box with its copy button. */
export function CopyLine({ text, shown = text, label }: { text: string; shown?: string; label: string }) {
  return (
    <Group gap={4} wrap="nowrap" align="flex-start" className="copy-line">
      <Code className="breakable" flex={1} px="xs" py={6}>
        {shown}
      </Code>
      <CopyButton text={text} label={label} />
    </Group>
  );
}

/** A scrollable code block with a copy button. */
export function CodeBlock({
  text,
  copied = text,
  label,
  maxHeight = 360,
}: {
  text: string;
  /** The text to copy, if it differs from the text shown. */
  copied?: string;
  label: string;
  maxHeight?: number;
}) {
  return (
    <Box pos="relative">
      <ScrollArea.Autosize
        mah={maxHeight}
        type="auto"
        viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': label }}
        className="code-block"
      >
        <pre className="mono">{text}</pre>
      </ScrollArea.Autosize>
      <Box pos="absolute" top={6} right={6} className="code-copy">
        <CopyButton text={copied} label={`Copy: ${label}`} />
      </Box>
    </Box>
  );
}
