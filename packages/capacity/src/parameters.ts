/** A number that a user may give: its meaning, its bounds and its default. Its option is its name in kebab-case. */
export interface Parameter {
  about: string;
  default: number;
  min: number;
  max: number;
}

const MANY = 1e12;
const count = (about: string, byDefault = 0): Parameter => ({ about, default: byDefault, min: 0, max: MANY });
const share = (about: string, byDefault: number): Parameter => ({ about, default: byDefault, min: 0, max: 1 });
const days = (about: string, byDefault: number): Parameter => ({ about, default: byDefault, min: 1, max: 3650 });

/** The load of an installation. */
export const WORKLOAD = {
  emailsPerDay: count('emails a day: messages of campaigns, transactional emails and emails of journeys', 100_000),
  transactionalShare: share('share of these that programs send one by one', 0.2),
  peakFactor: { about: 'rate at peak as a multiple of the average', default: 10, min: 1, max: 10_000 },
  campaignsPerDay: count('campaigns a day', 10),
  largestCampaign: count('recipients of the largest campaign'),
  sendWithinMinutes: { about: 'minutes in which the largest campaign goes out', default: 60, min: 1, max: 10_080 },
  contacts: count('contacts, over all projects', 100_000),
  opensPerEmail: { about: 'opens and clicks that are counted, per email', default: 0.5, min: 0, max: 100 },
  webhooksPerEmail: {
    about: 'webhook deliveries per email: event types times endpoints',
    default: 0,
    min: 0,
    max: 1000,
  },
  webhookFailureRate: share('share of webhook attempts that fail', 0.02),
  importedContactsPerDay: count('new contacts in imported files, a day'),
  importsPerDay: count('imported files a day', 10),
  createdContactsPerDay: count('contacts created through the API, a day'),
  readsPerDay: count('contacts read through the API, a day'),
  eventsPerDay: count('custom events a day'),
  journeyStepsPerDay: count('steps of journeys that contacts complete, a day; their emails are counted as emails'),
  messageRetentionDays: days('days that messages are kept (`MESSAGE_RETENTION_DAYS`)', 90),
  retentionDays: days('days that events and webhook deliveries are kept (`RETENTION_DAYS`)', 30),
  customEventRetentionDays: days('days that custom events are kept (`CUSTOM_EVENT_RETENTION_DAYS`)', 365),
} satisfies Record<string, Parameter>;

/** The machines that are planned for, and their prices. A settings file may replace any of them. */
export const SETTINGS = {
  coreSpeed: {
    about: 'speed of a core relative to a standard core; `--calibrate` measures it',
    default: 1,
    min: 0.05,
    max: 20,
  },
  targetUtilization: { about: 'share of its cores that a program may use at peak', default: 0.6, min: 0.05, max: 0.95 },
  coresPerMachine: { about: 'cores of a machine for gateways and workers', default: 2, min: 1, max: 256 },
  gbPerCore: { about: 'memory per core in GB, of all machines', default: 4, min: 0.5, max: 64 },
  oneMachineCores: {
    about: 'cores of a machine that may run everything; a larger installation is spread out',
    default: 2,
    min: 1,
    max: 256,
  },
  oneMachineUtilization: {
    about: 'share of the cores of that machine that everything may use at peak',
    default: 0.3,
    min: 0.01,
    max: 0.95,
  },
  standbys: { about: 'standby servers of PostgreSQL when it has its own machine', default: 1, min: 0, max: 10 },
  largestDatabaseCores: {
    about: 'cores of the largest server that PostgreSQL can get',
    default: 64,
    min: 1,
    max: 1024,
  },
  diskWritesPerSecond: {
    about: 'writes per second that the disk of PostgreSQL sustains',
    default: 3_000,
    min: 1,
    max: 1e7,
  },
  walMbPerSecond: {
    about: 'MB of WAL per second that the disk of PostgreSQL sustains',
    default: 125,
    min: 0.1,
    max: 1e5,
  },
  checkpointMinutes: {
    about: 'minutes between checkpoints of PostgreSQL (`checkpoint_timeout`)',
    default: 5,
    min: 0.5,
    max: 1440,
  },
  diskHeadroom: {
    about: 'disk as a multiple of the data, for bloat, logs and indexes being built',
    default: 1.5,
    min: 1,
    max: 10,
  },
  relayPerSecond: { about: 'emails per second that the relay accepts; 0 for no limit', default: 0, min: 0, max: 1e6 },
  shardUpdateMs: {
    about: 'milliseconds for which an action locks its Temporal shard',
    default: 20,
    min: 0.1,
    max: 10_000,
  },
  corePricePerHour: { about: 'price of a core with its memory, per hour', default: 0.048, min: 0, max: 1e6 },
  diskPricePerGbMonth: { about: 'price of a GB of disk, per month', default: 0.1, min: 0, max: 1e6 },
} satisfies Record<string, Parameter>;

export type Workload = Record<keyof typeof WORKLOAD, number>;
export type Settings = Record<keyof typeof SETTINGS, number>;

/**
 * The values of all parameters: those in `given`, and defaults for the others.
 * @throws RangeError that names the parameter, as `shown` writes it.
 */
export function readParameters<Name extends string>(
  parameters: Record<Name, Parameter>,
  given: Record<string, unknown>,
  shown: (name: string) => string = (name) => name,
): Record<Name, number> {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(parameters, name));
  if (unknown !== undefined)
    throw new RangeError(`${shown(unknown)} is unknown; the names are ${Object.keys(parameters).join(', ')}.`);
  const entries = Object.entries<Parameter>(parameters).map(([name, { default: byDefault, min, max }]) => {
    const value = given[name] ?? byDefault;
    if (typeof value !== 'number' || !Number.isFinite(value) || value < min || value > max)
      throw new RangeError(
        `${shown(name)} must be a number from ${min} to ${max}, not ${typeof value === 'number' ? value : JSON.stringify(value)}.`,
      );
    return [name, value] as const;
  });
  return Object.fromEntries(entries) as Record<Name, number>;
}
