import '@mantine/core/styles/LoadingOverlay.css';
import '@mantine/core/styles/Switch.css';
import '@mantine/dropzone/styles.css';
import { Alert, Button, Card, Group, Progress, Radio, Stack, Switch, Text } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import { IconAlertTriangle, IconFileSpreadsheet, IconFileUpload } from '@tabler/icons-react';
import { useState } from 'react';
import { useProject } from '../../app/session.tsx';
import { useApiQuery } from '../../data/api-query.ts';
import { countOf, formatShare } from '../../components/numbers.ts';
import { FormError, FormProblem } from '../../components/form.tsx';
import { TextLink } from '../../components/link.tsx';
import { BackLabel, Page, Section } from '../../components/page.tsx';
import { LinesSkeleton } from '../../components/states.tsx';
import { type ChosenGroup, GroupChoice, groupInput, lacksName } from '../audience/group-choice.tsx';
import { CUSTOM_FIELDS, type CustomField } from '../audience/field-values.tsx';
import { type FilePreview, readFilePreview } from './file-preview.ts';
import { ColumnTargets } from './column-targets.tsx';
import { encodingLabel, fileSize } from './import-labels.ts';
import { columnsInput, guessTargets, targetsProblem } from './mapping.ts';
import { MAX_FILE_BYTES, UNREADABLE } from './send-file.ts';
import { useFileImport } from './use-file-import.ts';

interface Chosen {
  file: File;
  beginning: FilePreview;
}

/** Creates an import: choose a file, map columns, upload. */
export function NewImport() {
  const { id: projectId } = useProject();
  const [chosen, setChosen] = useState<Chosen>();
  const [problem, setProblem] = useState<string>();
  const fields = useApiQuery(CUSTOM_FIELDS, {}).data?.customFields.nodes;
  const choose = async (file: File | undefined) => {
    if (file === undefined) return;
    let beginning: FilePreview | undefined;
    try {
      beginning = await readFilePreview(file);
      setProblem(beginning === undefined ? `${file.name} is empty.` : undefined);
    } catch {
      setProblem(UNREADABLE);
    }
    setChosen(beginning === undefined ? undefined : { file, beginning });
  };
  return (
    <Page
      title="Import contacts"
      about="Upload a CSV file and map its columns to contact fields."
      back={
        <TextLink to="/p/$projectId/imports" params={{ projectId }} size="sm">
          <BackLabel>Imports</BackLabel>
        </TextLink>
      }
      width={880}
    >
      <FormError>{problem}</FormError>
      {chosen === undefined && (
        <Dropzone
          onDrop={([file]) => void choose(file)}
          onReject={() => setProblem(`Choose one CSV file, up to ${fileSize(MAX_FILE_BYTES)}.`)}
          accept={{ 'text/csv': ['.csv'], 'text/tab-separated-values': ['.tsv'], 'text/plain': ['.txt'] }}
          maxSize={MAX_FILE_BYTES}
          multiple={false}
          p="xl"
          // The button below opens the file dialog by keyboard: its click reaches the area.
          activateOnKeyboard={false}
          inputProps={{ hidden: true }}
        >
          <Stack align="center" gap="xs" mih={160} justify="center" className="behind">
            <IconFileUpload size={40} stroke={1.4} aria-hidden />
            <Text fw={600}>Drop a CSV file here, or</Text>
            <Button variant="default">Choose a file</Button>
            <Text size="sm" c="dimmed" ta="center">
              At most {fileSize(MAX_FILE_BYTES)}. Encoding and separator are detected automatically.
            </Text>
          </Stack>
        </Dropzone>
      )}
      {chosen !== undefined &&
        (fields === undefined ? (
          <LinesSkeleton />
        ) : (
          <Settings
            key={`${chosen.file.name} ${chosen.file.size} ${chosen.file.lastModified}`}
            chosen={chosen}
            fields={fields}
            onOther={() => setChosen(undefined)}
          />
        ))}
    </Page>
  );
}

function Settings({
  chosen: { file, beginning },
  fields,
  onOther,
}: {
  chosen: Chosen;
  fields: CustomField[];
  onOther: () => void;
}) {
  const [guessed] = useState(() => guessTargets(beginning, fields));
  const [targets, setTargets] = useState(guessed);
  const [onConflict, setOnConflict] = useState<'skip' | 'update'>('skip');
  const [group, setGroup] = useState<ChosenGroup>({ id: null, name: '' });
  const [dryRun, setDryRun] = useState(false);
  const [skipInvalid, setSkipInvalid] = useState(false);
  const wrong = targetsProblem(targets);
  const isChanged = targets !== guessed || onConflict !== 'skip' || group.id !== null || dryRun || skipInvalid;
  const { upload, share, problem } = useFileImport(isChanged);
  const start = () =>
    upload(file, {
      columns: columnsInput(beginning, targets, fields),
      createFields: targets.includes('new'),
      onConflict,
      dryRun,
      skipInvalid,
      ...groupInput(group),
    });
  return (
    <>
      <Card>
        <Group justify="space-between">
          <Group gap="sm" wrap="nowrap">
            <IconFileSpreadsheet size={28} stroke={1.5} aria-hidden />
            <div>
              <Text fw={600} className="breakable">
                {file.name}
              </Text>
              <Text size="sm" c="dimmed">
                {fileSize(file.size)}, {countOf(beginning.header.names.length, 'column')},{' '}
                {encodingLabel(beginning.encoding)}
              </Text>
            </div>
          </Group>
          <Button variant="default" onClick={onOther}>
            Choose another file
          </Button>
        </Group>
      </Card>
      <ColumnTargets beginning={beginning} fields={fields} targets={targets} onChange={setTargets} />
      <Section title="Existing contacts">
        <Card>
          <Radio.Group
            aria-label="Existing contacts"
            value={onConflict}
            onChange={(value) => setOnConflict(value as 'skip' | 'update')}
          >
            <Stack gap="sm">
              <Radio value="skip" label="Keep unchanged" description="Only add new contacts." />
              <Radio
                value="update"
                label="Update with the file’s values"
                description="Blank cells are ignored, and no one is resubscribed."
              />
            </Stack>
          </Radio.Group>
        </Card>
      </Section>
      <Section title="Invalid values">
        <Card>
          <Radio.Group
            aria-label="Invalid values"
            value={skipInvalid ? 'skip' : 'omit'}
            onChange={(value) => setSkipInvalid(value === 'skip')}
          >
            <Stack gap="sm">
              <Radio
                value="omit"
                label="Import the contact without the value"
                description="For example, without a plan that is not an option. Rows without a valid address are never imported."
              />
              <Radio value="skip" label="Skip the row" description="Only rows without any error are imported." />
            </Stack>
          </Radio.Group>
        </Card>
      </Section>
      <GroupToJoin choice={group} onChange={setGroup} />
      <Card>
        <Switch
          label="Do a dry run first"
          description="Nothing is written. You see what the import would do and any errors, and can then import the same file."
          checked={dryRun}
          onChange={(event) => setDryRun(event.currentTarget.checked)}
        />
      </Card>
      {wrong !== undefined && (
        <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />}>
          {wrong}
        </Alert>
      )}
      <FormProblem problem={problem} />
      {share !== undefined && <Progress value={share * 100} animated aria-label={`Sent: ${formatShare(share)}`} />}
      <Group justify="flex-end">
        <Button
          size="md"
          disabled={wrong !== undefined || lacksName(group)}
          loading={share !== undefined}
          onClick={() => void start()}
        >
          {dryRun ? 'Start dry run' : 'Import'}
        </Button>
      </Group>
    </>
  );
}

function GroupToJoin({ choice, onChange }: { choice: ChosenGroup; onChange: (choice: ChosenGroup) => void }) {
  return (
    <Section title="Add to group" about="Campaigns go to groups and segments.">
      <Card>
        <Group align="flex-end" gap="sm">
          <GroupChoice
            aria-label="Add to group"
            placeholder="None"
            clearable
            w={280}
            choice={choice}
            onChange={onChange}
          />
        </Group>
      </Card>
    </Section>
  );
}
