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
 * `TEMPORAL_TLS_…`, profiles in a file), with our defaults. Without a variable that names a file or a profile, no file is read: the SDK
 * would add what the user's own Temporal CLI connects to, and fail where services can't read home directories.
 */
export function temporalSettings(
  config: Pick<Config, 'TEMPORAL_ADDRESS' | 'TEMPORAL_NAMESPACE'>,
  env: NodeJS.ProcessEnv = process.env,
): TemporalSettings {
  const { env: overrideEnvVars } = readSettingFiles(env);
  const disableFile =
    overrideEnvVars['TEMPORAL_CONFIG_FILE'] === undefined && overrideEnvVars['TEMPORAL_PROFILE'] === undefined;
  const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars, disableFile });
  return {
    connection: { ...connectionOptions, address: connectionOptions.address ?? config.TEMPORAL_ADDRESS },
    namespace: namespace ?? config.TEMPORAL_NAMESPACE,
  };
}
