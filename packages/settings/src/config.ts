import { type Config, readConfig } from './parse-config.ts';

/** This process's settings, validated at startup. An invalid one exits with a message that names it. */
export const config: Config = readConfig();
