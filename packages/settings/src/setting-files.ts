import { readFileSync } from 'node:fs';
import { SECRETS } from './settings.ts';

/** What is wrong with a setting, to follow its name. */
export interface SettingProblem {
  setting: string;
  problem: string;
}

/**
 * The environment with each secret that is given as a file (`SMTP_URL_FILE`) read into its setting, without the newline at its
 * end. Empty variables count as not set.
 */
export function readSettingFiles(env: NodeJS.ProcessEnv): { env: Record<string, string>; problems: SettingProblem[] } {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined && value !== '') given[name] = value;
  const problems: SettingProblem[] = [];
  for (const name of SECRETS) {
    const fileSetting = `${name}_FILE`;
    const file = given[fileSetting];
    if (file === undefined) continue;
    delete given[fileSetting];
    if (given[name] !== undefined) {
      problems.push({ setting: fileSetting, problem: `is set together with ${name}; set one of them` });
      continue;
    }
    try {
      const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
      if (text === '') problems.push({ setting: fileSetting, problem: `${file} is empty` });
      else given[name] = text;
    } catch (error) {
      problems.push({ setting: fileSetting, problem: `can't be read: ${(error as Error).message}` });
    }
  }
  return { env: given, problems };
}
