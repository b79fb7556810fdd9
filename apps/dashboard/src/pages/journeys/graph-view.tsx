import { Text } from '@mantine/core';
import { type Ref, useImperativeHandle, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { countOf } from '../../components/numbers.ts';
import { notifyError, notifySuccess } from '../../components/notify.tsx';
import type { CanvasEdit } from './canvas-state.ts';
import { Canvas, type CanvasHandle } from './canvas.tsx';
import type { Choices } from './choices.ts';
import { rememberSteps } from './clipboard.ts';
import type { Counts } from './counts.ts';
import { connect, insertSteps, moveStep, removeStep, renameStep } from './definition.ts';
import type { Definition, Step } from './definition-types.ts';
import type { PanelHandle } from './panel.tsx';
import { RULES, SelectionPanel, type PanelEdit } from './step-panel.tsx';
import { entrySummary } from './summaries.ts';

export interface GraphViewHandle {
  /** Selects a step, the entry or the rules, and moves the focus there. */
  select: (id: string) => void;
}

interface GraphViewProps {
  label: string;
  definition: Definition;
  choices: Choices;
  journeyId: string;
  isActive: boolean;
  counts: Counts | undefined;
  problems?: ReadonlyMap<string, readonly string[]>;
  /** Omitted if the journey may not be changed. */
  edit?: Pick<PanelEdit, 'apply' | 'setIncomplete' | 'revision'> | undefined;
  isPhone: boolean;
  ref?: Ref<GraphViewHandle>;
}

/** A version of a journey: its graph, and next to it what is selected. */
export function GraphView({ label, definition, choices, edit, isPhone, ref, ...props }: GraphViewProps) {
  const [selected, setSelected] = useState<string>();
  const canvas = useRef<CanvasHandle>(null);
  const panel = useRef<PanelHandle>(null);
  /** Selects before the next line, so that what is shown can be focused. */
  const select = (id: string | undefined) => {
    flushSync(() => {
      setSelected(id);
      edit?.setIncomplete(false);
    });
    if (id !== undefined) canvas.current?.show(id);
  };
  useImperativeHandle(ref, () => ({
    select: (id) => {
      select(id);
      if (id === RULES || isPhone) panel.current?.focus();
      else canvas.current?.focus(id);
    },
  }));
  const copied = (steps: readonly Step[]) => {
    rememberSteps(steps);
    notifySuccess(steps.length === 1 ? `${steps[0]?.id} is copied.` : `${countOf(steps.length, 'step')} are copied.`);
  };
  const rename = (to: string) => {
    if (selected === undefined) return;
    edit?.apply(renameStep(definition, selected, to));
    setSelected(to);
  };
  const changes: CanvasEdit | undefined = edit && {
    insert: (place, steps, isNew) => {
      const added = insertSteps(definition, place, steps);
      flushSync(() => edit.apply(added.definition));
      select(added.id);
      // The fields of a new step are filled in next.
      if (isNew) panel.current?.focus();
      else canvas.current?.focus(added.id);
    },
    remove: (ids) => edit.apply(ids.reduce(removeStep, definition)),
    move: (id, place) => edit.apply(moveStep(definition, id, place)),
    connect: (place, to) => edit.apply(connect(definition, place, to)),
    copied,
    refused: notifyError,
  };
  const isShown =
    selected !== undefined && (selected.startsWith(':') || definition.steps.some(({ id }) => id === selected));
  return (
    <>
      <div className="journey-workspace" data-panel={isShown || undefined}>
        <Canvas
          ref={canvas}
          label={label}
          definition={definition}
          names={choices.names}
          entry={entrySummary(definition.entry, choices.names)}
          problems={props.problems}
          counts={props.counts}
          selected={selected}
          edit={changes}
          isStatic={isPhone}
          onSelect={(id, byKeyboard) => {
            select(id);
            if (byKeyboard || isPhone) panel.current?.focus();
          }}
        />
        {isShown && (
          <SelectionPanel
            {...props}
            ref={panel}
            selected={selected}
            definition={definition}
            choices={choices}
            edit={edit && { ...edit, copied, rename }}
            onClose={() => {
              select(undefined);
              canvas.current?.focus(selected);
            }}
          />
        )}
      </div>
      {edit && (
        <Text size="xs" c="dimmed" className="with-keyboard">
          Keyboard: the arrow keys move between steps, Enter edits a step, A adds one after it, Delete removes it, and
          Ctrl+C and Ctrl+V copy it and paste after it. Hold Shift with a click, an arrow key or Enter to select
          several.
        </Text>
      )}
    </>
  );
}
