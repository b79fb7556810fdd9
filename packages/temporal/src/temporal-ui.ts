import { config } from '@postroom/settings/config';

/** Where the Temporal UI shows a workflow; undefined if TEMPORAL_UI_URL is not set. */
export function workflowUrl(workflowId: string): string | undefined {
  const { TEMPORAL_UI_URL: ui, TEMPORAL_NAMESPACE: namespace } = config;
  if (ui === undefined) return undefined;
  return `${ui.replace(/\/$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(workflowId)}`;
}
