import { Card, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import type { Problem } from '../../data/problem.ts';
import { useUnsavedForm } from '../../data/unsaved-changes.ts';
import { changedOf, FormButtons, FormProblem, useFieldProblems } from '../../components/form.tsx';
import { EventChoice } from './event-choice.tsx';

export interface EndpointValues {
  url: string;
  description: string;
  events: string[];
}

/** The endpoint form, for creating and editing. */
export function EndpointForm({
  initialValues,
  submit,
  running,
  problem,
  onSubmit,
  children,
}: {
  initialValues: EndpointValues;
  submit: string;
  running: boolean;
  problem: Problem | undefined;
  onSubmit: (values: EndpointValues, changed: Partial<EndpointValues>) => Promise<void>;
  /** Other buttons. */
  children?: ReactNode;
}) {
  const form = useForm({
    initialValues,
    validate: {
      url: (value) => (/^https?:\/\/[^/\s]/i.test(value.trim()) ? null : 'Enter a URL that starts with https://'),
      events: (value) => (value.length === 0 ? 'Choose at least one event' : null),
    },
  });
  useUnsavedForm(form);
  const { ref, showProblem } = useFieldProblems(form, problem);
  return (
    <form
      ref={ref}
      onSubmit={form.onSubmit((given) => {
        const values = { ...given, url: given.url.trim() };
        return onSubmit(values, changedOf(values, form));
      }, showProblem)}
      noValidate
    >
      <Card>
        <Stack>
          <FormProblem problem={problem} fields={['url', 'description', 'events']} />
          <TextInput
            label="URL"
            type="url"
            placeholder="https://example.com/webhooks/postroom"
            description="A publicly reachable HTTPS URL. Redirects are not followed."
            autoComplete="off"
            {...form.getInputProps('url')}
          />
          <TextInput
            label="Description"
            placeholder="Orders service, production"
            description="A label to identify the endpoint."
            maxLength={500}
            autoComplete="off"
            {...form.getInputProps('description')}
          />
          <EventChoice
            value={form.values.events}
            onChange={(events) => form.setFieldValue('events', events)}
            error={form.errors.events as string | undefined}
          />
          <FormButtons submit={submit} running={running || form.submitting}>
            {children}
          </FormButtons>
        </Stack>
      </Card>
    </form>
  );
}
