import {
  Autocomplete,
  Button,
  Card,
  Checkbox,
  NumberInput,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { useForm, type UseFormReturnType } from '@mantine/form';
import { type ReactNode, useEffect, useEffectEvent } from 'react';
import type { ApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { useSenderDomains } from '../../data/domains.ts';
import { useUnsavedForm } from '../../data/unsaved-changes.ts';
import { ChoicesSelect } from '../../components/choices-select.tsx';
import { FormButtons, FormProblem, required, useFieldProblems } from '../../components/form.tsx';
import { RecordSelect, RecordsSelect } from '../../components/record-select.tsx';
import { CUSTOM_FIELDS, type CustomField } from '../audience/field-values.tsx';

export interface FormValues extends Record<string, unknown> {
  name: string;
  title: string;
  description: string;
  groupIds: string[];
  fields: { key: string; label: string | null; required: boolean }[];
  consentText: string;
  doubleOptIn: boolean;
  from: string;
  replyTo: string;
  subject: string;
  templateId: string;
  reminderAfterHours: number | string;
  submittedUrl: string;
  confirmedUrl: string;
  allowedOrigins: string[];
}

export const NEW_FORM: FormValues = {
  name: '',
  title: '',
  description: '',
  groupIds: [],
  fields: [],
  consentText: '',
  doubleOptIn: true,
  from: '',
  replyTo: '',
  subject: '',
  templateId: '',
  reminderAfterHours: '',
  submittedUrl: '',
  confirmedUrl: '',
  allowedOrigins: [],
};

interface FormEditorProps {
  /** The values at first. Later ones, such as those of another user, replace what is written. */
  values: FormValues;
  onChange?: (values: FormValues) => void;
  isReadOnly?: boolean | undefined;
  /** Whether it can't be saved. */
  disabled?: boolean;
  submit: string;
  mutation: Pick<ApiMutation<unknown, never>, 'running' | 'problem'>;
  onSubmit: (values: FormValues) => Promise<void>;
  /** Other buttons. */
  children?: ReactNode;
}

/** The settings of a form, next to how it looks. */
export function FormEditor({
  values,
  onChange = () => {},
  isReadOnly = false,
  disabled = false,
  submit,
  mutation,
  onSubmit,
  children,
}: FormEditorProps) {
  const custom = useApiQuery(CUSTOM_FIELDS, {}).data?.customFields.nodes;
  const form = useForm<FormValues>({
    initialValues: values,
    onValuesChange: onChange,
    validate: {
      name: required('Enter a name'),
      from: (from, { doubleOptIn }) => (doubleOptIn && from.trim() === '' ? 'Enter the sender of the email' : null),
    },
  });
  useUnsavedForm(form);
  const replace = useEffectEvent(() => {
    if (JSON.stringify(values) !== JSON.stringify(form.values)) form.setValues(values);
  });
  useEffect(() => replace(), [values]);
  const { ref, showProblem } = useFieldProblems(form, mutation.problem);
  const names = fieldNames(custom);
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      <form ref={ref} onSubmit={form.onSubmit(onSubmit, showProblem)} inert={isReadOnly} noValidate>
        <Stack>
          <FormProblem problem={mutation.problem} fields={Object.keys(values)} />
          <Part title="Form">
            <TextInput label="Name" description="For your team." {...form.getInputProps('name')} />
            <TextInput label="Title" placeholder={form.values.name} {...form.getInputProps('title')} />
            <Textarea label="Description" autosize minRows={2} {...form.getInputProps('description')} />
            <RecordsSelect
              of="groups"
              label="Groups"
              description="Subscribers join them."
              {...form.getInputProps('groupIds')}
            />
            <ChoicesSelect
              label="Fields"
              description="Besides the address, in this order."
              choices={custom && [...names].map(([value, label]) => ({ value, label }))}
              value={form.values.fields.map(({ key }) => key)}
              onChange={(keys) => form.setFieldValue('fields', withKeys(form.values.fields, keys))}
              error={form.errors.fields}
            />
            {form.values.fields.length > 0 && (
              <Checkbox.Group
                label="Required fields"
                value={form.values.fields.filter((field) => field.required).map(({ key }) => key)}
                onChange={(keys) =>
                  form.setFieldValue(
                    'fields',
                    form.values.fields.map((field) => ({ ...field, required: keys.includes(field.key) })),
                  )
                }
              >
                <Stack gap="xs" mt={6}>
                  {form.values.fields.map(({ key, label }) => (
                    <Checkbox key={key} value={key} label={label ?? names.get(key) ?? key} />
                  ))}
                </Stack>
              </Checkbox.Group>
            )}
            <Textarea
              label="Consent"
              description="A checkbox with this text that must be ticked. It is stored with each subscription."
              autosize
              minRows={2}
              {...form.getInputProps('consentText')}
            />
          </Part>
          <Part title="Confirmation">
            <Checkbox
              label="Double opt-in"
              description="Subscribers confirm their address with a link in an email. Without it, anyone can subscribe any address."
              {...form.getInputProps('doubleOptIn', { type: 'checkbox' })}
            />
            {form.values.doubleOptIn && <EmailSettings form={form} />}
          </Part>
          <Part title="Your site">
            <TextInput
              label="Page after submission"
              placeholder="https://www.example.com/check-your-inbox"
              {...form.getInputProps('submittedUrl')}
            />
            <TextInput
              label="Page after confirmation"
              placeholder="https://www.example.com/welcome"
              {...form.getInputProps('confirmedUrl')}
            />
            <TagsInput
              label="Allowed origins"
              description="Sites that embed the form or submit it by a script. Press Enter after each."
              placeholder={form.values.allowedOrigins.length === 0 ? 'https://www.example.com' : ''}
              acceptValueOnBlur
              {...form.getInputProps('allowedOrigins')}
            />
          </Part>
          <FormButtons submit={submit} running={mutation.running} disabled={disabled}>
            {children}
          </FormButtons>
        </Stack>
      </form>
      <Preview values={form.values} names={names} />
    </SimpleGrid>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card component="section" aria-label={title}>
      <Stack>
        <Title order={2} size="h4">
          {title}
        </Title>
        {children}
      </Stack>
    </Card>
  );
}

interface EmailSettingsProps {
  form: Pick<UseFormReturnType<FormValues>, 'values' | 'errors' | 'getInputProps' | 'setFieldValue'>;
}

function EmailSettings({ form }: EmailSettingsProps) {
  const domains = useSenderDomains() ?? [];
  const local = form.values.from.split('@', 1)[0] || 'hello';
  return (
    <>
      <Autocomplete
        label="From"
        placeholder={`Ada <hello@${domains[0] ?? 'your-domain.example'}>`}
        data={domains.map((domain) => `${local}@${domain}`)}
        filter={({ options }) => options}
        {...form.getInputProps('from')}
      />
      <TextInput label="Reply-to" placeholder="Same as the from address" {...form.getInputProps('replyTo')} />
      <RecordSelect
        of="templates"
        published
        label="Template"
        description="With a link to {{confirm_url}}."
        placeholder="Default text"
        clearable
        value={form.values.templateId}
        onChange={(templateId) => form.setFieldValue('templateId', templateId ?? '')}
        error={form.errors.templateId}
      />
      <TextInput
        label="Subject"
        placeholder={form.values.templateId === '' ? 'Confirm your subscription' : 'The subject of the template'}
        {...form.getInputProps('subject')}
      />
      <NumberInput
        label="Remind after"
        description="Hours after which the email is repeated once, if it is not confirmed."
        placeholder="Never"
        min={1}
        max={144}
        allowDecimal={false}
        {...form.getInputProps('reminderAfterHours')}
      />
    </>
  );
}

/** What a form may ask for, by key. */
const fieldNames = (custom: readonly CustomField[] | undefined): ReadonlyMap<string, string> =>
  new Map([['name', 'Name'], ...(custom ?? []).map(({ key, label }) => [`custom_fields.${key}`, label] as const)]);

const withKeys = (fields: FormValues['fields'], keys: readonly string[]) =>
  keys.map((key) => fields.find((field) => field.key === key) ?? { key, label: null, required: false });

/** How the form looks; its own page has the colors of the project. */
function Preview({ values, names }: { values: FormValues; names: ReadonlyMap<string, string> }) {
  return (
    <Card component="section" aria-label="Preview" style={{ alignSelf: 'start' }}>
      <Text size="xs" c="dimmed" mb="sm">
        Preview
      </Text>
      <Stack inert gap="sm">
        <Text fw={650} size="lg" className="breakable">
          {values.title.trim() || values.name.trim() || 'Title'}
        </Text>
        {values.description.trim() !== '' && (
          <Text size="sm" style={{ whiteSpace: 'pre-line' }}>
            {values.description}
          </Text>
        )}
        <TextInput label="Email" />
        {values.fields.map(({ key, label, required }) => (
          <TextInput key={key} label={`${label ?? names.get(key) ?? key}${required ? '' : ' (optional)'}`} />
        ))}
        {values.consentText.trim() !== '' && <Checkbox label={values.consentText} />}
        <div>
          <Button>Subscribe</Button>
        </div>
      </Stack>
    </Card>
  );
}
