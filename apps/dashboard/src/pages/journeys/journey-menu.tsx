import { Menu } from '@mantine/core';
import { IconArchive, IconDownload, IconUpload } from '@tabler/icons-react';
import { useState } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { saveJson } from '../../data/save-json.ts';
import { graphql } from '../../generated/gql.ts';
import type { JourneyQuery } from '../../generated/graphql.ts';
import { DotsMenu } from '../../components/dots-menu.tsx';
import { countOf } from '../../components/numbers.ts';
import { Confirm } from '../../components/confirm.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import type { Definition } from './definition-types.ts';
import { ImportDialog } from './import.tsx';

const ARCHIVE = graphql(`
  mutation ArchiveJourney($id: ID!) {
    archiveJourney(id: $id) {
      id
    }
  }
`);

type Row = JourneyQuery['journey'];

/** What is seldom done to a journey: saving its draft as a file, replacing it by one, and archiving. */
export function JourneyMenu({
  journey,
  definition,
  onImport,
}: {
  journey: Row;
  definition: Definition;
  onImport: (definition: Definition) => void;
}) {
  const [dialog, setDialog] = useState<'import' | 'archive'>();
  const close = () => setDialog(undefined);
  return (
    <>
      <DotsMenu label={`More for ${journey.name}`}>
        <Menu.Item
          leftSection={<IconDownload size={16} aria-hidden />}
          onClick={() => saveJson(`${journey.name}.json`, definition)}
        >
          Download as JSON
        </Menu.Item>
        <Menu.Item leftSection={<IconUpload size={16} aria-hidden />} onClick={() => setDialog('import')}>
          Replace with a file
        </Menu.Item>
        <Menu.Item
          color="var(--mantine-color-error)"
          leftSection={<IconArchive size={16} aria-hidden />}
          onClick={() => setDialog('archive')}
        >
          Archive
        </Menu.Item>
      </DotsMenu>
      <ImportDialog
        opened={dialog === 'import'}
        onClose={close}
        onImport={(imported) => {
          onImport(imported);
          close();
        }}
      />
      <Archive journey={journey} opened={dialog === 'archive'} onClose={close} />
    </>
  );
}

function Archive({ journey, opened, onClose }: { journey: Row; opened: boolean; onClose: () => void }) {
  const archive = useApiMutation(ARCHIVE);
  const count = journey.runs.active + journey.runs.paused;
  const confirm = async () => {
    if ((await archive.run({ id: journey.id })) === undefined) return;
    notifySuccess(`${journey.name} is archived.`);
    onClose();
  };
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title="Archive this journey?"
      action="Archive"
      confirmationText={journey.name}
      running={archive.running}
      problem={archive.problem}
      onConfirm={() => void confirm()}
    >
      It ends permanently{count > 0 ? `, and ${countOf(count, 'contact')} in progress leave it` : ''}. Its history is
      kept.
    </Confirm>
  );
}
