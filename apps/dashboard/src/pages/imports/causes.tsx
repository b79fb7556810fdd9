import { Button, Card, Group, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { usePermission } from '../../app/session.tsx';
import { countOf } from '../../components/numbers.ts';
import { FormProblem } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { ImportQuery } from '../../generated/graphql.ts';
import { CUSTOM_FIELDS, type CustomField } from '../audience/field-values.tsx';

const ADD_OPTION = graphql(`
  mutation AddFieldOption($id: ID!, $options: [String!]!) {
    updateCustomField(id: $id, input: { options: $options }) {
      id
    }
  }
`);

type Cause = ImportQuery['import']['causes'][number];

/** The row errors by cause, each with its number of rows and what to do. */
export function Causes({ row }: { row: ImportQuery['import'] }) {
  const canWrite = usePermission('write');
  const fields = useApiQuery(CUSTOM_FIELDS, {}, { pause: row.causes.length === 0 }).data?.customFields.nodes ?? [];
  const add = useApiMutation(ADD_OPTION);
  if (row.causes.length === 0) return null;
  const fieldOf = ({ field }: Cause) => fields.find(({ key }) => field === `customFields.${key}`);
  const addOption = async ({ id, label, options }: CustomField, value: string) => {
    if ((await add.run({ id, options: [...options, value] })) !== undefined)
      notifySuccess(`“${value}” is now an option of ${label}.`);
  };
  return (
    <Section title="Errors by cause">
      <FormProblem problem={add.problem} />
      <Card p={0}>
        <Stack gap={0} component="ul" className="plain-list">
          {row.causes.map((cause) => {
            const field = fieldOf(cause);
            const isMissing = cause.value !== '' && field !== undefined && !field.options.includes(cause.value);
            return (
              <Group
                component="li"
                key={`${cause.field} ${cause.message} ${cause.value}`}
                justify="space-between"
                gap="sm"
                p="md"
                className="divided"
              >
                <div>
                  <Text size="sm" fw={550} className="breakable">
                    {countOf(cause.rows, 'row')}: {inWords(cause, field)}
                  </Text>
                  <Text size="sm" c="dimmed" className="breakable">
                    {cause.value !== '' && !isMissing && field !== undefined
                      ? `It is an option now. ${row.fileExpiresAt === null ? 'Import the file again' : 'Import the file now'} to set it.`
                      : cause.fix}{' '}
                    First on line {cause.firstLine.toLocaleString()}.
                  </Text>
                </div>
                {canWrite && isMissing && (
                  <Button
                    size="sm"
                    variant="default"
                    leftSection={<IconPlus size={16} aria-hidden />}
                    loading={add.running}
                    onClick={() => void addOption(field, cause.value)}
                  >
                    Add “{cause.value}”
                  </Button>
                )}
              </Group>
            );
          })}
        </Stack>
      </Card>
    </Section>
  );
}

const OWN: Record<string, string> = { email: 'the address', name: 'the name', reason: 'the reason', row: 'the row' };

/** The cause as a sentence, such as: plan “pro” is not an option. */
function inWords({ field, message, value }: Cause, custom: CustomField | undefined): string {
  const subject = OWN[field] ?? custom?.label ?? field.replace(/^customFields\./, '');
  if (field === 'row') return message;
  return value === '' ? `${subject} ${message}` : `${subject} “${value}” ${message}`;
}
