import { countOf } from '../../components/numbers.ts';
import { Button, Group, Paper } from '@mantine/core';
import { Panel } from '@xyflow/react';
import { useState } from 'react';
import type { PlacedNode } from './graph.ts';

/** Steps that are copied, cut or removed together. */
export interface Selection {
  /** In reading order; empty if no more than the focused step is meant. */
  ids: readonly string[];
  /** Adds a step, or takes it out. `selected` is the one that the panel shows: it belongs to the first choice. */
  toggle: (id: string, selected: string | undefined) => void;
  add: (...ids: readonly string[]) => void;
  clear: () => void;
}

export function useSelection(placed: readonly PlacedNode[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const isStep = (id: string | undefined) => placed.some((node) => node.id === id && node.step !== undefined);
  // Those that were removed meanwhile, by an undo for example, are not in the graph.
  const ids = placed.flatMap(({ id, step }) => (step !== undefined && chosen.has(id) ? [id] : []));
  const set = (next: readonly (string | undefined)[]) =>
    setChosen(new Set(next.filter((id): id is string => isStep(id))));
  return {
    ids,
    toggle: (id, selected) =>
      set(ids.includes(id) ? ids.filter((each) => each !== id) : [...(ids.length === 0 ? [selected] : ids), id]),
    add: (...more) => set([...ids, ...more]),
    clear: () => setChosen(new Set()),
  };
}

/** Says how many steps are selected, and what may be done to them. */
export function SelectionBar({
  selection: { ids, clear },
  onCopy,
  onRemove,
}: {
  selection: Selection;
  onCopy: () => void;
  onRemove: () => void;
}) {
  return (
    <Panel position="top-right">
      <Paper role="group" aria-label="Selected steps" withBorder={ids.length > 0} p={ids.length > 0 ? 6 : 0}>
        <Group gap={6}>
          <span role="status" className="journey-selected">
            {ids.length > 0 && `${countOf(ids.length, 'step')} selected`}
          </span>
          {ids.length > 0 && (
            <>
              <Button size="compact-sm" variant="default" onClick={onCopy}>
                Copy
              </Button>
              <Button size="compact-sm" variant="default" onClick={onRemove}>
                Remove
              </Button>
              <Button size="compact-sm" variant="subtle" onClick={clear}>
                Clear selection
              </Button>
            </>
          )}
        </Group>
      </Paper>
    </Panel>
  );
}
