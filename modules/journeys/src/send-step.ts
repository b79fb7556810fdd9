import { type Definition, type StepOf } from '@postroom/journey-definition';
import { withFooter } from '@postroom/campaigns';
import { namesThatMayBeBlank } from '@postroom/contacts';
import { dayVolume, nextDay } from '@postroom/domains';
import { type ContentBudget, insertPrepared, parseMailbox, type PreparedEmail, prepareEmails } from '@postroom/emails';
import { databaseNow, newId } from '@postroom/platform';
import { postalAddressOf } from '@postroom/projects';
import { getTemplate } from '@postroom/templates';
import { unsubscribeUrl, webVersionUrl } from '@postroom/unsubscribe';
import { type DueRun, withStepProblem, type Plan, StepProblem } from './plan.ts';
import { limitSends, recheckCaps } from './send-limits.ts';
import type { Move } from './transitions.ts';
import { responsesOf } from './webhook-step.ts';

/** How long a contact waits at least when the warm-up of a domain allows no more mail, in milliseconds. */
const RECHECK_MS = 10 * 60_000;

/**
 * Plans a message for each run. The messages are queued in the transaction that moves the runs, so each run gets the step's message
 * once. A contact whose message can't be sent continues, with the reason.
 * @throws StepProblem if the template or the sender can't be used
 */
export async function sendStep(
  projectId: string,
  journeyId: string,
  definition: Definition,
  step: StepOf<'send'>,
  runs: readonly DueRun[],
  budget: ContentBudget,
): Promise<Plan> {
  const { transactional = false, from, replyTo } = step;
  const content = await withStepProblem(step.id, () => contentOf(projectId, step, transactional));
  const sender = parseMailbox(from);
  if (typeof sender === 'string') throw new StepProblem(step.id, `the sender ${sender}`);
  const allowed = transactional
    ? { sending: [...runs], postponed: [], capped: [], caps: [] }
    : await limitSends(projectId, definition, runs);
  const volume = transactional ? undefined : await dayVolume(projectId, sender.email);
  const granted = volume === undefined ? runs.length : await volume.take(allowed.sending.length);
  const granting = allowed.sending.slice(0, granted);
  const until = new Date(Math.min(nextDay().getTime(), databaseNow() + RECHECK_MS));
  const postponed = [...allowed.postponed, ...allowed.sending.slice(granted).map((run) => ({ run, until }))];

  const responses = await responsesOf(definition, granting);
  const mayBeBlank = await namesThatMayBeBlank(projectId);
  const inputs = granting.map((run) => {
    const id = newId('eml');
    const url = unsubscribeUrl(id, { projectId, email: run.email });
    return {
      id,
      contactId: run.contactId,
      madeFrom: step.templateId,
      needsConsent: !transactional,
      mayBeBlank,
      from,
      to: [run.email],
      ...(replyTo == null ? {} : { replyTo: [replyTo] }),
      subject: content.subject,
      html: content.html,
      variables: {
        ...run.customFields,
        name: run.name === '' ? null : run.name,
        email: run.email,
        unsubscribe_url: url,
        view_in_browser_url: webVersionUrl(url),
        postal_address: content.postalAddress,
        event: run.properties,
        steps: responses(run),
      },
      metadata: { journey_id: journeyId, enrollment_id: run.id, step_id: step.id },
    };
  });
  const prepared = await withStepProblem(step.id, () => prepareEmails(projectId, inputs, budget));
  // The others are due in the next page.
  const fits = (index: number) => !('isPostponed' in (prepared[index] as PreparedEmail));
  const sending = granting.filter((_, index) => fits(index));
  const emails = prepared.filter((_, index) => fits(index));
  const moves = sending.map((run, index): Move => {
    const email = emails[index] as PreparedEmail;
    const to = step.next ?? null;
    if ('problem' in email) {
      const { field, message } = email.problem;
      return { run, definition, outcome: 'failed', detail: `${field} ${message}`, to };
    }
    const outcome = email.status === 'suppressed' ? 'suppressed' : 'sent';
    return { run, definition, outcome, messageId: email.id, to };
  });
  const isUsed = (index: number, moved: ReadonlySet<string>) =>
    moves[index]?.outcome === 'sent' && moved.has(sending[index]?.id ?? '');
  const capped = allowed.capped.map((run): Move => ({ run, definition, outcome: 'capped', to: step.next ?? null }));
  return {
    moves: [...moves, ...capped],
    postponed,
    recheck: (tx) => recheckCaps(tx, projectId, allowed.caps, sending),
    apply: async (tx, moved) => {
      const queued = emails.flatMap((email, index) =>
        'problem' in email || !moved.has(sending[index]?.id ?? '') ? [] : [email],
      );
      await insertPrepared(tx, queued);
    },
    settle: async (moved) => {
      const used = emails.filter((_, index) => isUsed(index, moved)).length;
      await volume?.release(granting.length - used);
    },
  };
}

async function contentOf(projectId: string, { templateId }: StepOf<'send'>, transactional: boolean) {
  const [template, postalAddress] = await Promise.all([getTemplate(projectId, templateId), postalAddressOf(projectId)]);
  const { subject, body } = template;
  return { subject, html: transactional ? body : withFooter(body, postalAddress), postalAddress };
}
