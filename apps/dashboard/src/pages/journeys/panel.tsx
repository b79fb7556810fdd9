import { Card, CloseButton, Group, Title } from '@mantine/core';
import { type KeyboardEvent, type ReactNode, type Ref, useImperativeHandle, useRef } from 'react';

export interface PanelHandle {
  /** Moves the focus to the heading, from where the Tab key leads to the fields. */
  focus: () => void;
}

/** What is next to the graph: what is known of the step, the entry or the rules that are selected. */
export function Panel({
  title,
  actions,
  onClose,
  children,
  ref,
}: {
  title: string;
  actions?: ReactNode;
  onClose: () => void;
  children: ReactNode;
  ref?: Ref<PanelHandle>;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useImperativeHandle(ref, () => ({ focus: () => heading.current?.focus() }));
  const press = (event: KeyboardEvent) => {
    // Escape closes an open list of options, a menu or a dialog first.
    const isInside = event.target instanceof Element && event.currentTarget.contains(event.target);
    if (event.key !== 'Escape' || !isInside || (event.target as Element).matches('[aria-expanded=true]')) return;
    event.preventDefault();
    onClose();
  };
  return (
    <Card component="section" p="md" className="journey-panel" aria-label={title} onKeyDown={press}>
      <Group justify="space-between" wrap="nowrap" align="flex-start" mb="sm" gap="xs">
        <Title order={3} ref={heading} tabIndex={-1} className="breakable journey-panel-title">
          {title}
        </Title>
        <Group gap={4} wrap="nowrap">
          {actions}
          <CloseButton aria-label="Close the panel" onClick={onClose} />
        </Group>
      </Group>
      {children}
    </Card>
  );
}
