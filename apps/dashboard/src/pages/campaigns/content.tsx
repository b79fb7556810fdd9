import { Alert, Card, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { useProject } from '../../app/session.tsx';
import { useRead } from '../../data/read.ts';
import { graphql } from '../../generated/gql.ts';
import { TextLink } from '../../parts/link.tsx';
import { MailEditor } from '../../parts/mail-editor.tsx';
import { MailFrame } from '../../parts/mail-frame.tsx';
import { Section } from '../../parts/page.tsx';
import { STARTER } from '../templates/starter.ts';
import type { PartProps } from './builder.tsx';
import type { Draft } from './use-draft.ts';

const TEMPLATE_CHOICES = graphql(`
  query TemplateChoices {
    templates(first: 500) {
      nodes {
        id
        name
        status
        body
        subject
      }
    }
  }
`);

/** What it says: a template as it is when the campaign starts, or HTML of its own. */
export function Content({ draft, set, errors, readOnly }: PartProps) {
  const { id: projectId } = useProject();
  const templates = useRead(TEMPLATE_CHOICES, {}).data?.templates.nodes ?? [];
  const chosen = templates.find(({ id }) => id === draft.templateId);
  const choose = (templateId: string | null) => {
    const template = templates.find(({ id }) => id === templateId);
    const subject = draft.subject === '' && template?.subject != null ? { subject: template.subject } : {};
    set({ templateId, ...subject });
  };
  /** What was chosen is what writing begins with, so that nothing is lost by trying. */
  const change = (body: Draft['body']) =>
    set({ body, ...(body === 'html' && draft.html === '' ? { html: chosen?.body ?? STARTER } : {}) });
  return (
    <Section title="What it says" about="An unsubscribe link is added at the end if there is none.">
      <Card>
        <Stack>
          <SegmentedControl
            aria-label="Where the content comes from"
            value={draft.body}
            disabled={readOnly}
            onChange={(body) => change(body as Draft['body'])}
            data={[
              { value: 'template', label: 'A template' },
              { value: 'html', label: 'Written here' },
            ]}
            maw={320}
          />
          {draft.body === 'template' ? (
            <>
              <Select
                label="Template"
                placeholder="Choose a template"
                searchable
                maw={420}
                data={templates.map(({ id, name, status }) => ({
                  value: id,
                  label: status === 'draft' ? `${name} (draft)` : name,
                }))}
                value={draft.templateId}
                error={errors.templateId}
                readOnly={readOnly}
                onChange={choose}
              />
              {chosen?.status === 'draft' && (
                <Alert color="yellow">
                  This template is a draft.{' '}
                  <TextLink
                    to="/p/$projectId/templates/$templateId"
                    params={{ projectId, templateId: chosen.id }}
                    size="sm"
                  >
                    Publish it
                  </TextLink>{' '}
                  before the campaign is sent.
                </Alert>
              )}
              {chosen === undefined ? (
                <Text size="sm" c="dimmed">
                  It is sent as it is when the campaign starts.
                </Text>
              ) : (
                <MailFrame html={chosen.body} title={`Preview: ${chosen.name}`} />
              )}
            </>
          ) : (
            <MailEditor label="HTML" value={draft.html} readOnly={readOnly} onChange={(html) => set({ html })} />
          )}
        </Stack>
      </Card>
    </Section>
  );
}
