import type { Notice } from '@postroom/notifications';
import { POLICY } from './policy.ts';

interface DisabledEndpoint {
  id: string;
  url: string;
  description: string | null;
  /** Why it was disabled. */
  reason: string;
}

/** The notice that an endpoint was disabled automatically. */
export function disabledNotice({ id, url, description, reason }: DisabledEndpoint): Notice {
  const advice = [
    'Postroom has stopped posting events to',
    '',
    `  ${url}`,
    ...(description === null ? [] : [`  ${description}`]),
    '',
    `Waiting deliveries are kept for ${POLICY.retention.backlogDays} days; new events are not delivered. Once the receiver works again,`,
    'enable the endpoint, and choose whether to deliver the backlog:',
  ];
  return {
    kind: 'endpoint_disabled',
    subjectId: id,
    title: `Webhooks to ${new URL(url).host} were stopped`,
    detail: reason,
    advice: advice.join('\n'),
  };
}
