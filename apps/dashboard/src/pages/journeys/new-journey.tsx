import './canvas.css';
import { Stack, Text, TextInput } from '@mantine/core';
import { useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { DialogForm, required } from '../../components/form.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import type { Definition } from './definition-types.ts';
import { GALLERY } from './gallery.ts';
import { ENTRY, graphOf, placeNodes } from './graph.ts';

const CREATE = graphql(`
  mutation CreateJourney($input: CreateJourneyInput!) {
    createJourney(input: $input) {
      id
    }
  }
`);

const BLANK = { name: 'Blank', about: 'Start with no steps.', definition: undefined };

/** Creates a journey, blank or from the gallery. */
export function NewJourneyDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Dialog opened={opened} onClose={onClose} title="New journey" size={940}>
      <NewJourney onClose={onClose} />
    </Dialog>
  );
}

function NewJourney({ onClose }: { onClose: () => void }) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const create = useApiMutation(CREATE);
  return (
    <DialogForm
      values={{ name: '', start: BLANK.name }}
      validate={{ name: required('Enter a name') }}
      mutation={create}
      save={async ({ name, start }) => {
        const definition = GALLERY.find((each) => each.name === start)?.definition;
        const data = await create.run({ input: { name, ...(definition && { definition }) } });
        if (data === undefined) return;
        const journeyId = data.createJourney.id;
        void navigate({ to: '/p/$projectId/journeys/$journeyId', params: { projectId, journeyId } });
      }}
      submit="Create"
      onClose={onClose}
    >
      {(form) => (
        <>
          <TextInput label="Name" autoComplete="off" data-autofocus maw={420} {...form.getInputProps('name')} />
          <fieldset className="journey-gallery">
            <legend>Start from</legend>
            {[BLANK, ...GALLERY].map(({ name, about, definition }) => (
              <label key={name} className="journey-choice">
                <input
                  type="radio"
                  name="start"
                  value={name}
                  checked={form.values.start === name}
                  onChange={() => form.setFieldValue('start', name)}
                />
                <Miniature definition={definition ?? { entry: { type: 'manual' }, steps: [] }} />
                <Stack gap={2}>
                  <Text size="sm" fw={550}>
                    {name}
                  </Text>
                  <Text size="xs" c="dimmed">
                    {about}
                  </Text>
                </Stack>
              </label>
            ))}
          </fieldset>
        </>
      )}
    </DialogForm>
  );
}

const NODE = { width: 100, height: 34 };
/** What is drawn at least, so that the steps of short journeys are not larger than those of others. */
const SMALLEST = { width: 400, height: 300 };

/** The shape of a journey. */
function Miniature({ definition }: { definition: Definition }) {
  const nodes = placeNodes(graphOf(definition), { node: () => NODE, label: () => ({ width: 0, height: 0 }), gap: 30 });
  const left = Math.min(...nodes.map(({ x }) => x)) - 8;
  const right = Math.max(...nodes.map(({ x, width }) => x + width)) + 8;
  const bottom = Math.max(...nodes.map(({ y, height }) => y + height)) + 8;
  const [width, height] = [Math.max(right - left, SMALLEST.width), Math.max(bottom + 8, SMALLEST.height)];
  return (
    <svg
      className="journey-miniature"
      viewBox={`${(left + right - width) / 2} ${(bottom - 8 - height) / 2} ${width} ${height}`}
      aria-hidden
    >
      {nodes.flatMap(({ exits }) => exits.map(({ id, path }) => <path key={id} d={path} />))}
      {nodes.map((node) => (
        <rect
          key={node.id}
          x={node.x}
          y={node.y}
          width={node.width}
          height={node.height}
          rx={node.step === undefined && node.id !== ENTRY ? node.height / 2 : 6}
          data-entry={node.id === ENTRY || undefined}
        />
      ))}
    </svg>
  );
}
