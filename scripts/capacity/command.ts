import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  COSTS,
  measureSpeed,
  type Parameter,
  predict,
  printPrediction,
  readParameters,
  SETTINGS,
  WORKLOAD,
} from '@postroom/capacity';

const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const lines = (parameters: Record<string, Parameter>, shown: (name: string) => string) =>
  Object.entries(parameters)
    .map(([name, { about, default: byDefault }]) => `  ${shown(name).padEnd(34)} ${about} (${byDefault})`)
    .join('\n');

const HELP = `postroom capacity [options]

Predicts machines, disk, price and the first limit of an installation from its workload, with the costs that benchmarks measured.

Options, with their defaults:
${lines(WORKLOAD, (name) => `--${kebab(name)} N`)}
  --settings FILE                    a JSON file with some of the settings below
  --calibrate                        use the speed of this machine's cores for coreSpeed
  --json                             print the prediction as JSON

Settings:
${lines(SETTINGS, (name) => name)}`;

/**
 * What `postroom capacity` prints. It reads no database and no settings of a deployment.
 * @throws Error that names the option or the setting.
 */
export function capacity(args: string[]): string {
  const names = new Map(Object.keys(WORKLOAD).map((name) => [kebab(name), name]));
  const { values } = parseArgs({
    args,
    options: {
      ...Object.fromEntries([...names.keys()].map((name) => [name, { type: 'string' as const }])),
      settings: { type: 'string' },
      calibrate: { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  return values.help === true ? HELP : answer(values, names);
}

function answer(values: Record<string, string | boolean | undefined>, names: ReadonlyMap<string, string>): string {
  const option = (name: string) => `--${kebab(name)}`;
  const given = Object.entries(values).flatMap(([key, value]) => {
    const name = names.get(key);
    if (name === undefined || typeof value !== 'string') return [];
    if (value.trim() === '' || Number.isNaN(Number(value)))
      throw new RangeError(`--${key} must be a number, not "${value}".`);
    return [[name, Number(value)] as const];
  });
  const workload = readParameters(WORKLOAD, Object.fromEntries(given), option);
  const calibrated = values.calibrate === true ? { coreSpeed: measureSpeed() } : {};
  const settings = readParameters(SETTINGS, { ...readSettings(values.settings), ...calibrated });
  const prediction = predict(workload, settings, COSTS);
  if (values.json === true) return JSON.stringify({ workload, settings, prediction }, null, 2);
  return printPrediction(workload, prediction);
}

function readSettings(file: string | boolean | undefined): Record<string, unknown> {
  if (typeof file !== 'string') return {};
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`--settings: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw new RangeError(`--settings: ${file} must contain a JSON object.`);
  return content as Record<string, unknown>;
}
