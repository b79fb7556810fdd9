import { Alert, Autocomplete, SimpleGrid, TextInput, type TextInputProps } from '@mantine/core';
import { useRef } from 'react';
import { useSenderDomains } from '../../data/domains.ts';
import { PlaceholderMenu, usePlaceholders } from '../../components/mail-editor.tsx';
import type { PartProps } from './use-draft.ts';

/** The sender and subject fields. */
export function Sender({ draft, set, errors, readOnly }: PartProps) {
  const domains = useSenderDomains();
  const local = draft.fromEmail.split('@', 1)[0] || 'hello';
  return (
    <>
      {domains?.length === 0 && (
        <Alert color="yellow">
          No domain is verified for sending yet. Add one under Domains; you can write the campaign in the meantime.
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <TextInput
          label="From name"
          placeholder="The workshop"
          value={draft.fromName}
          error={errors.fromName}
          readOnly={readOnly}
          onChange={(event) => set({ fromName: event.currentTarget.value })}
        />
        <Autocomplete
          size="sm"
          label="From address"
          placeholder={`hello@${domains?.[0] ?? 'your-domain.example'}`}
          data={domains?.map((domain) => `${local}@${domain}`) ?? []}
          filter={({ options }) => options}
          value={draft.fromEmail}
          error={errors.fromEmail}
          readOnly={readOnly}
          onChange={(fromEmail) => set({ fromEmail })}
        />
        <TextInput
          label="Reply-to"
          placeholder="Same as the from address"
          value={draft.replyTo}
          error={errors.replyTo}
          readOnly={readOnly}
          onChange={(event) => set({ replyTo: event.currentTarget.value })}
        />
      </SimpleGrid>
      <PlaceholderInput
        label="Subject"
        placeholder="Autumn at the workshop, {{name|friend}}"
        value={draft.subject}
        error={errors.subject}
        readOnly={readOnly}
        onChange={(subject) => set({ subject })}
      />
      <PlaceholderInput
        label="Preview text"
        description="Shown after the subject in the inbox."
        placeholder="New tables, a workshop in March, and a recipe"
        maxLength={300}
        value={draft.previewText}
        error={errors.previewText}
        readOnly={readOnly}
        onChange={(previewText) => set({ previewText })}
      />
    </>
  );
}

interface PlaceholderInputProps extends Omit<TextInputProps, 'label' | 'value' | 'onChange'> {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** A line of text in which placeholders can be inserted. */
function PlaceholderInput({ value, onChange, readOnly = false, ...props }: PlaceholderInputProps) {
  const placeholders = usePlaceholders();
  const input = useRef<HTMLInputElement>(null);
  const insert = (text: string) => {
    const at = input.current?.selectionStart ?? value.length;
    onChange(value.slice(0, at) + text + value.slice(at));
    input.current?.focus();
  };
  return (
    <TextInput
      ref={input}
      {...props}
      value={value}
      readOnly={readOnly}
      onChange={(event) => onChange(event.currentTarget.value)}
      inputContainer={(field) => (
        <>
          {field}
          {!readOnly && (
            <div className="under-input">
              <PlaceholderMenu placeholders={placeholders} field={props.label} onChoose={insert} />
            </div>
          )}
        </>
      )}
    />
  );
}
