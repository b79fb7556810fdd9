import { filterMembers, listManagers } from '@postroom/auth/managers';
import {
  announce,
  defineIdPrefix,
  newId,
  type Prisma,
  sql,
  startWorkflow,
  type Tx,
  type WorkflowStart,
} from '@postroom/platform';

export const NOTIFICATION_ID = defineIdPrefix('ntf', 'notification');

export type Notification = Prisma.NotificationModel;

/** The topic of changes to a project's notifications and to who has read them. */
export const notificationsTopic = (projectId: string) => `notifications ${projectId}`;

/** What the owners and admins of a project should know. */
export interface Notice {
  kind: Notification['kind'];
  /** The campaign, the endpoint or the journey that it is about. */
  subjectId: string;
  /** What happened, in one line. */
  title: string;
  /** Why it happened. */
  detail: string;
  /** What to do about it, for the email. */
  advice: string;
  /** Members of the project who are to know it besides its owners and admins. Those who have left it are ignored. */
  memberIds?: readonly string[] | undefined;
}

/** Longest title, which becomes the subject of an email, in characters. */
const MAX_TITLE_LENGTH = 200;
/** Longest detail: replies of mail servers can be long. In characters. */
const MAX_DETAIL_LENGTH = 1_000;

/**
 * Notifies the owners and admins of a project: in the dashboard, and by email once the transaction commits, even after a
 * crash. Call it in the transaction that changes the state. A second notice of the kind about the same subject in one
 * transaction is ignored.
 */
export async function notify(tx: Tx, projectId: string, notice: Notice): Promise<void> {
  const { kind, subjectId, title, detail, advice } = notice;
  const [added] = await sql<{ id: string }>(
    tx,
    `INSERT INTO notifications (id, project_id, kind, subject_id, title, detail, advice, created_at)
     VALUES ($1, $2, $3::notification_kind, $4, $5, $6, $7, now()) ON CONFLICT (subject_id, kind, created_at) DO NOTHING RETURNING id`,
    [
      newId(NOTIFICATION_ID),
      projectId,
      kind,
      subjectId,
      shortened(title, MAX_TITLE_LENGTH),
      shortened(detail, MAX_DETAIL_LENGTH),
      advice,
    ],
  );
  if (added === undefined) return;
  const managers = await listManagers(tx, projectId);
  const members = await filterMembers(tx, projectId, notice.memberIds ?? []);
  await sql(
    tx,
    `INSERT INTO notification_recipients (notification_id, user_id, project_id) SELECT $1, unnest($2::text[]), $3`,
    [added.id, [...new Set([...managers, ...members])], projectId],
  );
  await announce(tx, notificationsTopic(projectId));
  await startWorkflow(tx, mailingOf({ id: added.id, projectId, subjectId }));
}

/** When there was last a notification of a kind about a subject; undefined if never, or if retention has deleted it. */
export async function lastNotified(
  tx: Tx,
  { kind, subjectId }: Pick<Notice, 'kind' | 'subjectId'>,
): Promise<Date | undefined> {
  const [row] = await sql<{ at: Date | null }>(
    tx,
    'SELECT max(created_at) AS at FROM notifications WHERE subject_id = $1 AND kind = $2::notification_kind',
    [subjectId, kind],
  );
  return row?.at ?? undefined;
}

/** The workflow that emails a notification. Started again, it emails those who have not got it yet. */
export const mailingOf = ({
  id,
  projectId,
  subjectId,
}: Pick<Notification, 'id' | 'projectId' | 'subjectId'>): WorkflowStart => ({
  workflowId: id,
  type: 'mailNotification',
  args: [id],
  summary: `Email the owners and admins about ${subjectId}`,
  searchAttributes: { projectId, ...searchAttribute(subjectId) },
  restartable: true,
});

function searchAttribute(subjectId: string) {
  if (subjectId.startsWith('whe_')) return { endpointId: subjectId };
  return subjectId.startsWith('cmp_') ? { campaignId: subjectId } : {};
}

const shortened = (text: string, length: number) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
