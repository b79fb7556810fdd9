import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { config } from '@postroom/settings/config';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8')) as {
  version: string;
};

/** This process, as logs, metrics and traces name it. */
export const identity = {
  /** `gateway`, `worker`, …; set by `runService`. */
  service: 'postroom',
  version,
  /** The build: `BUILD_ID`, by default the version. */
  build: config.BUILD_ID ?? version,
  /** Unique among the processes that run at a time. A container has its own hostname, but programs may share a machine. */
  instance: `${hostname()}-${process.pid}`,
};
