import { durableWork, type DurableWork, type OpenWork, restartWorkflow } from '@postroom/platform/durable-work';
import { mailingOf, type Notification } from './notify.ts';

/** Emails are attempted for a day; later, the dashboard has to do. */
const OPEN = `
  SELECT n.id AS "workflowId", n.id, n.project_id AS "projectId", n.subject_id AS "subjectId" FROM notifications n
  WHERE n.created_at > now() - interval '1 day' AND n.id IN (
    SELECT notification_id FROM notification_recipients WHERE mail_closed_at IS NULL)`;

export const work: readonly DurableWork[] = [
  durableWork<OpenWork & Pick<Notification, 'id' | 'projectId' | 'subjectId'>>({
    name: 'notifications',
    workflows: ['mailNotification'],
    open: OPEN,
    recover: restartWorkflow(mailingOf),
  }),
];
