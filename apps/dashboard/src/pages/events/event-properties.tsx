import './event-properties.css';
import { Code, Text } from '@mantine/core';

/** The characters of properties that are shown without a click. */
const SHOWN_CHARACTERS = 160;

/** The properties of an event in a line; the rest on demand. */
export function EventProperties({ of: properties }: { of: unknown }) {
  const text = Object.entries(properties as Record<string, unknown>)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
  if (text === '') return null;
  if (text.length <= SHOWN_CHARACTERS)
    return (
      <Text size="sm" c="dimmed" className="breakable">
        {text}
      </Text>
    );
  return (
    <details className="event-properties">
      <summary className="breakable">{text.slice(0, SHOWN_CHARACTERS)}…</summary>
      <Code block className="breakable">
        {JSON.stringify(properties, null, 2)}
      </Code>
    </details>
  );
}
