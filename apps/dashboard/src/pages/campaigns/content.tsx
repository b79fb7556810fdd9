import { Alert, Card, SegmentedControl, Stack, Text } from '@mantine/core';
import { useRef, useState } from 'react';
import { useClient } from 'urql';
import { useProject } from '../../app/session.tsx';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { ContentFormat, TemplateChoiceQuery } from '../../generated/graphql.ts';
import { Confirm } from '../../components/confirm.tsx';
import { checkContent } from '../../components/content-check.ts';
import { FORMAT_LABELS } from '../../components/format-labels.ts';
import { TextLink } from '../../components/link.tsx';
import { MailEditor } from '../../components/mail-editor.tsx';
import { Section } from '../../components/page.tsx';
import { MAX_PREVIEW_HEIGHT } from '../../components/preview-height.ts';
import { RecordSelect } from '../../components/record-select.tsx';
import { SampledPreview } from '../../components/sampled-preview.tsx';
import { useSingleRun } from '../../components/use-single-run.ts';
import { type Problem, UNREACHABLE } from '../../data/problem.ts';
import { STARTERS } from '../templates/starter.ts';
import type { Draft, PartProps } from './use-draft.ts';

const TEMPLATE_CHOICE = graphql(`
  query TemplateChoice($id: ID!) {
    template(id: $id) {
      id
      name
      status
      body
      format
      source
      draft {
        id
      }
    }
  }
`);

type Choice = TemplateChoiceQuery['template'];

/** The content section: a template as of the campaign's start, or custom content. */
export function Content({ draft, set, errors, readOnly }: PartProps) {
  const { templateId } = draft;
  const chosen = useApiQuery(TEMPLATE_CHOICE, { id: templateId ?? '' }, { pause: templateId === null }).data?.template;
  const { change, question } = useBody({ draft, set }, chosen);
  const { body } = draft;
  return (
    <Section title="Content" about="An unsubscribe link is added at the end if there is none.">
      <Card>
        <Stack>
          <SegmentedControl
            aria-label="Content source"
            value={body}
            disabled={readOnly}
            onChange={(next) => change(next as Draft['body'])}
            data={[
              { value: 'template', label: 'Template' },
              { value: 'html', label: `Own ${FORMAT_LABELS.html}` },
              { value: 'mjml', label: `Own ${FORMAT_LABELS.mjml}` },
            ]}
            maw={420}
          />
          {body === 'template' ? (
            <TemplateChoice draft={draft} set={set} errors={errors} readOnly={readOnly} chosen={chosen} />
          ) : (
            <MailEditor
              value={draft.written}
              format={body}
              readOnly={readOnly}
              onChange={(written) => set({ written })}
            />
          )}
          {question}
        </Stack>
      </Card>
    </Section>
  );
}

function TemplateChoice({ draft, set, errors, readOnly, chosen }: PartProps & { chosen: Choice | undefined }) {
  const { id: projectId } = useProject();
  const none = (
    <Text size="sm" c="dimmed">
      There are no templates yet.{' '}
      <TextLink to="/p/$projectId/templates" params={{ projectId }} size="sm" underline="always">
        Create one
      </TextLink>{' '}
      to reuse it, or write content for this campaign only.
    </Text>
  );
  const replaces = draft.templateId === null && draft.written.trim() !== '';
  return (
    <>
      <RecordSelect
        of="templates"
        label="Template"
        description={
          replaces ? 'It replaces the content written here.' : 'The version published when the campaign starts is sent.'
        }
        placeholder="Choose a template"
        maw={420}
        none={none}
        value={draft.templateId}
        error={errors.templateId}
        readOnly={readOnly}
        onChange={(templateId, template) =>
          set({
            templateId,
            ...(draft.subject === '' && template?.subject != null ? { subject: template.subject } : {}),
          })
        }
      />
      {chosen?.status === 'draft' && (
        <Alert color="yellow">
          This template is a draft.{' '}
          <TextLink
            to="/p/$projectId/templates/$templateId"
            params={{ projectId, templateId: chosen.id }}
            size="sm"
            underline="always"
          >
            Publish it
          </TextLink>{' '}
          before the campaign is sent.
        </Alert>
      )}
      {chosen !== undefined && chosen.draft !== null && (
        <Alert color="blue">
          This template has unpublished changes. The campaign sends the published version, shown here, unless{' '}
          <TextLink
            to="/p/$projectId/templates/$templateId"
            params={{ projectId, templateId: chosen.id }}
            size="sm"
            underline="always"
          >
            they are published
          </TextLink>{' '}
          before it starts.
        </Alert>
      )}
      {chosen !== undefined && (
        <SampledPreview html={chosen.body} title={`Preview: ${chosen.name}`} height={MAX_PREVIEW_HEIGHT} />
      )}
    </>
  );
}

/** Initial custom content: the chosen template, if available in the format. */
function beginning(format: ContentFormat, chosen: Choice | undefined): string {
  if (chosen === undefined) return STARTERS[format];
  return (
    (chosen.format === format ? (chosen.source ?? chosen.body) : undefined) ??
    (format === 'html' ? chosen.body : STARTERS.mjml)
  );
}

/** Switches between template and custom content and between formats. Asks before discarding content. */
function useBody({ draft, set }: Pick<PartProps, 'draft' | 'set'>, chosen: Choice | undefined) {
  const client = useClient();
  // Earlier custom content by format, kept while trying a template.
  const kept = useRef<Partial<Record<ContentFormat, string>>>({});
  const [asked, setAsked] = useState<ContentFormat>();
  const [problem, setProblem] = useState<Problem>();
  const [running, runOnce] = useSingleRun();
  // The format whose confirmation is open.
  const open = useRef<ContentFormat>(undefined);
  const { body, written } = draft;
  const go = (next: Draft['body'], text?: string) => {
    if (body !== 'template') kept.current[body] = written;
    set({
      body: next,
      ...(next === 'template' ? {} : { written: text ?? kept.current[next] ?? beginning(next, chosen) }),
    });
  };
  const ask = (format: ContentFormat | undefined) => {
    open.current = format;
    setAsked(format);
  };
  const change = (next: Draft['body']) => {
    const isOwn = body !== 'template' && written.trim() !== '' && written !== STARTERS[body];
    setProblem(undefined);
    if (next !== 'template' && isOwn) ask(next);
    else go(next);
  };
  const confirm = async () => {
    if (asked === undefined || body === 'template') return;
    const made = body === 'mjml' ? await checkContent(client, written, body) : { html: STARTERS[asked] };
    // It may have been canceled while the server was converting.
    if (open.current !== asked) return;
    if (made === undefined) return setProblem(UNREACHABLE);
    if (made.html === null)
      return setProblem({ code: 'validation_error', message: 'Fix the MJML errors first.', fields: {} });
    go(asked, made.html);
    ask(undefined);
  };
  const question = (
    <Confirm
      opened={asked !== undefined}
      onClose={() => ask(undefined)}
      title={asked === 'mjml' ? 'Start over in MJML?' : 'Convert to HTML?'}
      action={asked === 'mjml' ? 'Start over' : 'Convert to HTML'}
      running={running}
      problem={problem}
      onConfirm={() => void runOnce(confirm)}
    >
      {asked === 'mjml'
        ? "HTML can't be converted to MJML, so the current content is replaced with a starter email."
        : "The MJML is converted to HTML, which you then edit. It can't be converted back to MJML."}
    </Confirm>
  );
  return { change, question };
}
