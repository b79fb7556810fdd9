import { config, db } from '@postroom/platform';
import { BACKLOG_DAYS } from './retention.ts';

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
    `What waited for it is kept for ${BACKLOG_DAYS} days; events that happen now are not. When the receiver is well again, enable`,
    `the endpoint, and choose whether what waited is delivered: ${config.PUBLIC_URL}`,
    '',
  ];
  return { subject: `Webhooks to ${new URL(url).host} were stopped`, text: text.join('\n') };
}
