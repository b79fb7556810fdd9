import { useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { MoreMenu } from '../../components/more-menu.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { useApiAction } from '../../components/use-api-action.ts';
import { ScheduledCampaigns } from './template-draft.tsx';
import { newestOf, type TemplateRow } from './template-row.ts';

const DELETE = graphql(`
  mutation DeleteTemplate($id: ID!) {
    templateDelete(id: $id) {
      deletedId
    }
  }
`);

const DUPLICATE = graphql(`
  mutation DuplicateTemplate($input: CreateTemplateInput!) {
    createTemplate(input: $input) {
      id
    }
  }
`);

/** The template menu: duplicate and delete. */
export function TemplateMenu({ template }: { template: TemplateRow }) {
  const { id, name } = template;
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const remove = useApiMutation(DELETE);
  const create = useApiAction(DUPLICATE);
  const duplicate = async () => {
    const { subject, body, source, format } = newestOf(template);
    const input = { name: `${name.slice(0, 190).toWellFormed()} (copy)`, subject, body: source ?? body, format };
    const data = await create.run({ input });
    if (data === undefined) return;
    notifySuccess('Duplicated. You are editing the copy.');
    const params = { projectId, templateId: data.createTemplate.id };
    void navigate({ to: '/p/$projectId/templates/$templateId', params });
  };
  const confirm = async () => {
    if ((await remove.run({ id })) === undefined) return;
    notifySuccess(`${name} was deleted.`);
    void navigate({ to: '/p/$projectId/templates', params: { projectId }, ignoreBlocker: true, replace: true });
  };
  return (
    <MoreMenu
      name={name}
      duplicate={{ run: () => void duplicate(), running: create.running }}
      remove={{
        title: 'Delete this template?',
        about: (
          <>
            Its versions are deleted too, and drafts that use it lose their content. Journeys pause at a step that sends
            it, and forms send the default email instead. Sent campaigns are not affected.
            {template.scheduledCampaigns.length > 0 && (
              <>
                {' '}
                These scheduled campaigns will not start without it:
                <ScheduledCampaigns template={template} />
              </>
            )}
          </>
        ),
        run: () => void confirm(),
        running: remove.running,
        problem: remove.problem,
      }}
    />
  );
}
