import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { Config } from './parse-config.ts';
import { readSettingFiles } from './setting-files.ts';

export interface TemporalSettings {
  /** For a connection, with its address. */
  connection: ReturnType<typeof loadClientConnectConfig>['connectionOptions'] & { address: string };
  namespace: string;
}

/**
 * Temporal settings as the environment has them: the SDK's own variables (`TEMPORAL_ADDRESS`, `TEMPORAL_API_KEY`,
 * `TEMPORAL_TLS_…`, profiles in a file), with our defaults.
 */
export function temporalSettings(
  config: Pick<Config, 'TEMPORAL_ADDRESS' | 'TEMPORAL_NAMESPACE'>,
  env: NodeJS.ProcessEnv = process.env,
): TemporalSettings {
  const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars: readSettingFiles(env).env });
  return {
    connection: { ...connectionOptions, address: connectionOptions.address ?? config.TEMPORAL_ADDRESS },
    namespace: namespace ?? config.TEMPORAL_NAMESPACE,
  };
}
