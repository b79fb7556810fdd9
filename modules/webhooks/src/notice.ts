import { config, db } from '@postroom/platform';
import { POLICY } from './policy.ts';

/** The notice to the project's owners that an endpoint was disabled; `undefined` if it is gone or enabled again. */
export async function disabledNotice(endpointId: string): Promise<{ subject: string; text: string } | undefined> {
  const endpoint = await db.webhookEndpoint.findUnique({ where: { id: endpointId }, include: { project: true } });
  if (endpoint === null || endpoint.enabled) return undefined;
  const { url, description, disabledReason, project } = endpoint;
  const text = [
    `Postroom has stopped posting events of the project "${project.name}" to`,
    '',
    `  ${url}`,
    ...(description === null ? [] : [`  ${description}`]),
    '',
    `${disabledReason} The endpoint is ${endpointId}.`,
    '',
    `Waiting deliveries are kept for ${POLICY.retention.backlogDays} days; new events are not delivered. Once the receiver works again, enable`,
    `the endpoint, and choose whether to deliver the backlog: ${config.PUBLIC_URL}`,
    '',
  ];
  return { subject: `Webhooks to ${new URL(url).host} were stopped`, text: text.join('\n') };
}
