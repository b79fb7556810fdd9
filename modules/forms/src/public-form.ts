import { parseMailbox } from '@postroom/emails';
import { db, isId } from '@postroom/platform';
import type { Brand } from '@postroom/unsubscribe';
import { type Form, FORM_ID } from './ids.ts';

/** A form as its visitors see it. */
export interface PublicForm extends Form {
  brand: Brand;
  /** The subject of its template; null without one. */
  templateSubject: string | null;
}

/** Finds a form of any project, enabled or not, with what its visitors see of the project. */
export async function findPublicForm(id: string): Promise<PublicForm | undefined> {
  const form = isId(FORM_ID, id) ? await db.form.findUnique({ where: { id } }) : null;
  if (form === null) return undefined;
  const [project, template] = await Promise.all([
    db.project.findUniqueOrThrow({
      where: { id: form.projectId },
      select: { name: true, brandColor: true, logoHash: true, postalAddress: true },
    }),
    form.templateId === null
      ? null
      : db.template.findFirst({ where: { id: form.templateId, projectId: form.projectId }, select: { subject: true } }),
  ]);
  const { name, ...brand } = project;
  return {
    ...form,
    brand: { ...brand, sender: senderName(form.from, name) },
    templateSubject: template?.subject ?? null,
  };
}

/** The name that subscribers know the sender by. */
function senderName(from: string | null, projectName: string): string {
  const mailbox = from === null ? '' : parseMailbox(from);
  return (typeof mailbox === 'string' ? undefined : mailbox.name) ?? projectName;
}
