// `postroom promote-worker`: makes BUILD_ID the current build of WORKER_DEPLOYMENT, so that its workers get the work. Run it
// once workers of that build have started; it waits until Temporal has seen one.
import { errorLine, runCommand } from '@postroom/errors';
import { config, exponentialDelays, identity, logger, retry } from '@postroom/platform';
import { temporalSettings } from '@postroom/settings';
import { Connection, isGrpcServiceError } from '@temporalio/client';

/** How long to wait for the first worker of the build, in milliseconds. */
const TIMEOUT_MS = 2 * 60_000;
/** gRPC's NOT_FOUND and FAILED_PRECONDITION: no worker of the build polls each task queue yet. */
const NOT_POLLED_YET = [5, 9];

await runCommand('postroom promote-worker', async () => {
  const { WORKER_DEPLOYMENT: deploymentName } = config;
  if (deploymentName === undefined) throw new Error('WORKER_DEPLOYMENT must be set, as for the workers.');
  const { connection: options, namespace } = temporalSettings(config);
  const connection = await Connection.connect(options).catch((error: unknown) => {
    throw new Error(`can't connect to Temporal at ${config.TEMPORAL_ADDRESS}: ${errorLine(error)}`, { cause: error });
  });
  try {
    await retry(
      () =>
        connection.workflowService.setWorkerDeploymentCurrentVersion({
          namespace,
          deploymentName,
          buildId: identity.build,
          identity: 'postroom promote-worker',
        }),
      {
        delaysMs: exponentialDelays(250, 2_000),
        signal: AbortSignal.timeout(TIMEOUT_MS),
        isRetryable: (error) => isGrpcServiceError(error) && NOT_POLLED_YET.includes(error.code),
      },
    );
    logger.info({ deployment: deploymentName, build: identity.build }, 'workers of this build now get the work');
  } finally {
    await connection.close();
  }
});
