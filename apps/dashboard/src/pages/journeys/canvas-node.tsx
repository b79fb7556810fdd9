import { countOf } from '../../components/numbers.ts';
import { ActionIcon, Menu } from '@mantine/core';
import { IconAlertTriangle, IconClipboard, IconLogin2, IconPlus, IconTarget, IconUser } from '@tabler/icons-react';
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { useState } from 'react';
import { number } from '../campaigns/campaign-labels.ts';
import { type CanvasEdit, useCanvas } from './canvas-state.ts';
import { rememberedSteps } from './clipboard.ts';
import type { Mark } from './compare.ts';
import { newStep } from './definition.ts';
import type { Step, StepType } from './definition-types.ts';
import { ENTRY, type PlacedEdge, type PlacedNode } from './graph.ts';
import { STEP_ICONS, stepIconOf } from './step-icons.ts';
import { STEP_TYPES, stepSummary, stepTitle } from './step-types.ts';
import type { Names } from './summaries.ts';

type Props = NodeProps<Node<{ placed: PlacedNode }>>;

const MARKS: Record<Mark, string> = { added: 'New', changed: 'Changed', removed: 'Removed' };

/** The entry or a step, with the labels of the edges that leave it. */
export function StepNode({ data: { placed }, isConnectable }: Props) {
  const canvas = useCanvas();
  const { names, counts } = canvas;
  const { id, step } = placed;
  const Icon = step === undefined ? IconLogin2 : stepIconOf(step);
  const title = step === undefined ? 'Entry' : stepTitle(step, names);
  const summary = step === undefined ? canvas.entry : [step.id, stepSummary(step, names)].filter(Boolean).join(' · ');
  const problems = canvas.problems?.get(id) ?? [];
  const mark = canvas.marks?.get(id);
  const here = step && counts ? counts.here(id) : 0;
  const reached = step && counts ? (counts.outcomes(id).find(({ outcome }) => outcome === 'goal')?.count ?? 0) : 0;
  const isActive = canvas.active === id;
  return (
    <div
      className="journey-node"
      data-entry={id === ENTRY || undefined}
      data-problem={problems.length > 0 || undefined}
      data-mark={mark}
    >
      {id !== ENTRY && (
        <Handle type="target" position={Position.Top} isConnectable={isConnectable} isConnectableStart={false} />
      )}
      <button
        type="button"
        className="journey-node-button"
        ref={(button) => canvas.drawn(id, button)}
        data-node={id}
        tabIndex={isActive ? 0 : -1}
        aria-pressed={canvas.selected.includes(id)}
        onFocus={() => canvas.setActive(id)}
        // A click without a button of the mouse comes from the keyboard.
        onClick={({ detail, shiftKey }) => (shiftKey ? canvas.toggle(id) : canvas.select(id, detail === 0))}
        onKeyDown={(event) => canvas.press(event, id)}
        onCopy={(event) => canvas.clipboard(event, id)}
        onCut={(event) => canvas.clipboard(event, id)}
        onPaste={(event) => canvas.clipboard(event, id)}
      >
        <Icon size={20} aria-hidden className="journey-icon" />
        <span className="journey-lines">
          <span className="journey-line">
            {mark && <b>{MARKS[mark]}: </b>}
            {title}
          </span>
          <span className="journey-line" data-dimmed>
            {summary}
          </span>
          {problems.length > 0 && (
            <span className="journey-line" data-error>
              <IconAlertTriangle size={13} aria-hidden /> {problems.join('. ')}
            </span>
          )}
        </span>
        {(here > 0 || reached > 0) && (
          <span className="journey-counts">
            {here > 0 && (
              <span className="journey-count" title={`${countOf(here, 'contact')} here now`}>
                <IconUser size={13} aria-hidden /> {number(here)}
                <span className="visually-hidden"> {here === 1 ? 'contact' : 'contacts'} here</span>
              </span>
            )}
            {reached > 0 && (
              <span className="journey-count" title={`${countOf(reached, 'contact')} reached the goal here`}>
                <IconTarget size={13} aria-hidden /> {number(reached)}
                <span className="visually-hidden"> reached the goal</span>
              </span>
            )}
          </span>
        )}
      </button>
      {placed.exits.map((edge) => (
        <Exit key={edge.key} node={placed} edge={edge} isActive={isActive} />
      ))}
      {placed.exits.map(({ key, from }) => (
        <Handle
          key={key}
          id={key}
          type="source"
          position={Position.Bottom}
          isConnectable={isConnectable}
          isConnectableEnd={false}
          style={{ left: `${from * 100}%` }}
        />
      ))}
    </div>
  );
}

/** The label, count and button of an edge. */
function Exit({ node, edge, isActive }: { node: PlacedNode; edge: PlacedEdge; isActive: boolean }) {
  const { counts, edit, dropPlace } = useCanvas();
  const passed = counts?.passed(node, edge);
  const { x, y } = edge.labelAt;
  return (
    <div
      className="journey-exit nodrag nopan"
      data-target={dropPlace === edge.id || undefined}
      style={{ left: x - node.x, top: y - node.y }}
    >
      {(edge.label !== '' || passed !== undefined) && (
        <span className="journey-exit-label">
          {edge.label}
          {edge.label !== '' && passed !== undefined && ' · '}
          {passed !== undefined && (
            <span className="tabular" title={`${countOf(passed, 'contact')} took this branch`}>
              {number(passed)}
            </span>
          )}
        </span>
      )}
      {edit !== undefined && <InsertMenu edge={edge} edit={edit} isActive={isActive} />}
    </div>
  );
}

function InsertMenu({ edge, edit, isActive }: { edge: PlacedEdge; edit: CanvasEdit; isActive: boolean }) {
  const { names } = useCanvas();
  // Once a step is chosen, the focus goes to the new step and not back to the button.
  const [isChosen, setChosen] = useState(false);
  const after = [edge.source === ENTRY ? 'the entry' : edge.source, edge.label].filter(Boolean).join(': ');
  return (
    <Menu
      position="right-start"
      // On a phone there is no room next to the button: the menu covers it.
      middlewares={{ flip: true, shift: { crossAxis: true, padding: 8 } }}
      returnFocus={!isChosen}
      onOpen={() => setChosen(false)}
    >
      <Menu.Target>
        <ActionIcon
          size={24}
          variant="default"
          radius="xl"
          data-insert={edge.source}
          tabIndex={isActive ? 0 : -1}
          aria-label={`Add a step after ${after}`}
        >
          <IconPlus size={14} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown className="nowheel">
        <Offers
          names={names}
          onChoose={(steps, isNew) => {
            setChosen(true);
            edit.insert(edge.place, steps, isNew);
          }}
        />
      </Menu.Dropdown>
    </Menu>
  );
}

function Offers({ names, onChoose }: { names: Names; onChoose: (steps: readonly Step[], isNew: boolean) => void }) {
  const copied = rememberedSteps();
  const [first] = copied;
  return (
    <>
      {first !== undefined && (
        <Menu.Item leftSection={<IconClipboard size={16} aria-hidden />} onClick={() => onChoose(copied, false)}>
          Paste {copied.length === 1 ? stepTitle(first, names) : countOf(copied.length, 'step')}
        </Menu.Item>
      )}
      {Object.entries(STEP_TYPES).map(([type, { label }]) => {
        const Icon = STEP_ICONS[type as StepType];
        return (
          <Menu.Item
            key={type}
            leftSection={<Icon size={16} aria-hidden />}
            onClick={() => onChoose([newStep(type as StepType)], true)}
          >
            {label}
          </Menu.Item>
        );
      })}
    </>
  );
}

/** Where a way ends. */
export function EndNode({ isConnectable }: Props) {
  return (
    <div className="journey-end">
      <Handle type="target" position={Position.Top} isConnectable={isConnectable} isConnectableStart={false} />
      End
    </div>
  );
}
