import { type Demand, demandOf, demandParts, type Rates } from './demand.ts';
import { type Costs, type Operation, type Program, PROGRAMS } from './operations.ts';
import type { Settings, Workload } from './parameters.ts';
import { type Jobs, waitAt } from './queueing.ts';

interface ProgramPlan {
  /** Cores that it uses on average and at peak, and those that it gets. */
  average: number;
  peak: number;
  cores: number;
  /** Processes; a gateway or worker uses about one core each. */
  processes: number;
}

interface Bottleneck {
  resource: string;
  /** Share in use at peak. */
  utilization: number;
}

export interface Prediction {
  /** Operations per second. */
  rates: { average: Rates; peak: Rates };
  programs: Record<Program, ProgramPlan>;
  /** Whether one machine runs everything. */
  isOneMachine: boolean;
  /** For gateways and workers. */
  machines: number;
  databaseBytes: { messages: number; events: number; customEvents: number; contacts: number; total: number };
  diskGb: number;
  walMbPerSecond: { average: number; peak: number };
  writesPerSecond: { average: number; peak: number };
  actionsPerSecond: { average: number; peak: number };
  shards: number;
  /** From the request of a transactional email to its last byte to the relay, at peak, without the relay's and the network's time. */
  delayMs: Delay;
  pricePerMonth: { cores: number; disk: number; total: number };
  /** By utilization, the highest first. */
  bottlenecks: Bottleneck[];
}

const DAY_S = 86_400;
const HOURS_PER_MONTH = 730;
const GB = 1e9;
/** Attempts of a webhook delivery, at most. */
const ATTEMPTS = 6;
/** Partitions are dropped by the week, so rows stay up to a week longer. */
const PARTITION_DAYS = 7;
const MIN_SHARDS = 512;
/** Actions are spread over shards at random, so at a low utilization few wait for each other. */
const SHARD_UTILIZATION = 0.1;
/** Of gateways and of workers, so that one may fail or be replaced. */
const MIN_PROCESSES = 2;
/** Operations that one statement or one turn of a thread does, and that others wait for. */
const JOB_SIZES: Partial<Record<Operation, number>> = { campaign: 200, import: 500, step: 100, event: 10 };

/** Which retention deletes the rows of a table; contacts and small tables have none. */
const RETENTION_CLASSES: Record<string, 'messages' | 'events' | 'customEvents'> = {
  messages: 'messages',
  message_contents: 'messages',
  enrollments: 'messages',
  enrollment_steps: 'messages',
  events: 'events',
  deliveries: 'events',
  attempts: 'events',
  tracking_hits: 'events',
  custom_events: 'customEvents',
  custom_event_keys: 'customEvents',
  custom_event_contact_days: 'customEvents',
  custom_event_days: 'customEvents',
};

/** The machines, disk and price that a workload needs, and what limits it first. */
export function predict(workload: Workload, settings: Settings, costs: Costs): Prediction {
  const rates = { average: averageRates(workload), peak: peakRates(workload) };
  const checkpointSeconds = settings.checkpointMinutes * 60;
  const average = demandOf(rates.average, costs, { checkpointSeconds });
  // The load passes all lower rates on its way to the peak.
  const peak = demandOf(rates.peak, costs, { extent: 'up to', checkpointSeconds });
  const { programs, isOneMachine, machines } = planPrograms(average, peak, settings);
  const databaseBytes = sizeOf(workload, average, costs);
  const diskGb = (databaseBytes.total / GB) * settings.diskHeadroom;
  const shards = shardsFor(peak.actions, settings);
  const servers = isOneMachine ? 1 : 1 + settings.standbys;
  const cores = isOneMachine
    ? settings.oneMachineCores
    : machines * settings.coresPerMachine + servers * programs.postgres.cores + programs.temporal.cores;
  const price = {
    cores: cores * settings.corePricePerHour * HOURS_PER_MONTH,
    disk: diskGb * servers * settings.diskPricePerGbMonth,
  };
  return {
    rates,
    programs,
    isOneMachine,
    machines,
    databaseBytes,
    diskGb,
    walMbPerSecond: { average: average.walBytes / 1e6, peak: peak.walBytes / 1e6 },
    writesPerSecond: { average: average.writes, peak: peak.writes },
    actionsPerSecond: { average: average.actions, peak: peak.actions },
    shards,
    delayMs: delayAt(stationsOf(programs, isOneMachine, settings), rates.peak, settings.coreSpeed, costs),
    pricePerMonth: { ...price, total: price.cores + price.disk },
    bottlenecks: findBottlenecks({ peak, rates: rates.peak, programs, isOneMachine, shards, settings }),
  };
}

function averageRates(workload: Workload): Rates {
  const { emailsPerDay, transactionalShare, opensPerEmail, webhooksPerEmail, webhookFailureRate: fails } = workload;
  // Each attempt fails independently, so the mean number of attempts is a geometric series. A retry costs about as much as the first.
  const attempts = fails === 1 ? ATTEMPTS : (1 - fails ** ATTEMPTS) / (1 - fails);
  return {
    email: (emailsPerDay * transactionalShare) / DAY_S,
    campaign: (emailsPerDay * (1 - transactionalShare)) / DAY_S,
    campaignStart: workload.campaignsPerDay / DAY_S,
    hit: (emailsPerDay * opensPerEmail) / DAY_S,
    delivery: (emailsPerDay * webhooksPerEmail * attempts) / DAY_S,
    contact: workload.createdContactsPerDay / DAY_S,
    read: workload.readsPerDay / DAY_S,
    import: workload.importedContactsPerDay / DAY_S,
    importStart: workload.importsPerDay / DAY_S,
    event: workload.eventsPerDay / DAY_S,
    step: workload.journeyStepsPerDay / DAY_S,
  };
}

function peakRates(workload: Workload): Rates {
  const average = averageRates(workload);
  const peak = Object.fromEntries(
    Object.entries(average).map(([operation, rate]) => [operation, rate * workload.peakFactor]),
  ) as Rates;
  const campaign = Math.max(peak.campaign, workload.largestCampaign / (workload.sendWithinMinutes * 60));
  // What follows from an email follows from those of the largest campaign, too.
  const more = peak.email + peak.campaign === 0 ? 1 : (peak.email + campaign) / (peak.email + peak.campaign);
  return { ...peak, campaign, hit: peak.hit * more, delivery: peak.delivery * more };
}

function planPrograms(average: Demand, peak: Demand, settings: Settings) {
  const used = (demand: Demand, name: Program) => demand.cpu[name] / settings.coreSpeed;
  const total = PROGRAMS.reduce((sum, name) => sum + used(peak, name), 0);
  const isOneMachine = total <= settings.oneMachineCores * settings.oneMachineUtilization;
  const plan = (name: Program): ProgramPlan => {
    const needed = Math.max(1, Math.ceil(used(peak, name) / settings.targetUtilization));
    const isNode = name === 'gateway' || name === 'worker';
    const processes = isNode ? Math.max(isOneMachine ? 1 : MIN_PROCESSES, needed) : 1;
    // Servers have an even number of cores.
    const cores = isOneMachine ? settings.oneMachineCores : isNode ? processes : Math.max(2, Math.ceil(needed / 2) * 2);
    return { average: used(average, name), peak: used(peak, name), cores, processes };
  };
  const programs = Object.fromEntries(PROGRAMS.map((name) => [name, plan(name)])) as Record<Program, ProgramPlan>;
  const nodeCores = programs.gateway.cores + programs.worker.cores;
  const machines = isOneMachine ? 1 : Math.max(MIN_PROCESSES, Math.ceil(nodeCores / settings.coresPerMachine));
  return { programs, isOneMachine, machines };
}

function sizeOf(workload: Workload, average: Demand, costs: Costs): Prediction['databaseBytes'] {
  const days = {
    messages: workload.messageRetentionDays,
    events: workload.retentionDays + PARTITION_DAYS,
    customEvents: workload.customEventRetentionDays,
  };
  const sizes = { messages: 0, events: 0, customEvents: 0 };
  for (const [table, perSecond] of Object.entries(average.bytes)) {
    const kind = RETENTION_CLASSES[table];
    if (kind !== undefined) sizes[kind] += perSecond * DAY_S * days[kind];
  }
  const perContact = Object.entries(costs.operations.import.bytes)
    .filter(([table]) => RETENTION_CLASSES[table] === undefined)
    .reduce((sum, [, bytes]) => sum + bytes, 0);
  const contacts = workload.contacts * perContact;
  return { ...sizes, contacts, total: sizes.messages + sizes.events + sizes.customEvents + contacts };
}

/** A shard does one action after the other. The number can't change later, and is a power of two by convention. */
function shardsFor(actionsPerSecond: number, settings: Settings): number {
  const needed = (actionsPerSecond * settings.shardUpdateMs) / 1000 / SHARD_UTILIZATION;
  return Math.max(MIN_SHARDS, 2 ** Math.ceil(Math.log2(Math.max(1, needed))));
}

/** Programs that share cores. */
export interface Station {
  programs: readonly Program[];
  cores: number;
}

export interface Delay {
  service: number;
  meanWait: number;
  p99Wait: number;
}

/** The delay of a transactional email at stations that it passes one after the other, in milliseconds. */
export function delayAt(stations: readonly Station[], rates: Rates, coreSpeed: number, costs: Costs): Delay {
  const parts = demandParts(rates, costs);
  const present = (Object.entries(rates) as [Operation, number][]).filter(([, rate]) => rate > 0);
  const jobsAt = (program: Program): Jobs[] =>
    present.map(([operation, rate]) => {
      const size = JOB_SIZES[operation] ?? 1;
      return { rate: rate / size, seconds: ((parts[operation].cpu[program] / rate) * size) / coreSpeed };
    });
  const waits = stations.map(({ programs, cores }) => waitAt(cores, programs.flatMap(jobsAt)));
  const ofEmail = (program: Program) => (rates.email === 0 ? 0 : parts.email.cpu[program] / rates.email / coreSpeed);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0) * 1000;
  return {
    service: sum((['gateway', 'postgres', 'worker'] as const).map(ofEmail)),
    meanWait: sum(waits.map(({ mean }) => mean)),
    p99Wait: sum(waits.map(({ p99 }) => p99)),
  };
}

/** On one machine all programs share the cores. Otherwise PostgreSQL serves the gateway and the worker. */
function stationsOf(programs: Prediction['programs'], isOneMachine: boolean, settings: Settings): Station[] {
  if (isOneMachine) return [{ programs: PROGRAMS, cores: settings.oneMachineCores }];
  const names = ['gateway', 'postgres', 'worker'] as const;
  return names.map((name) => ({ programs: [name], cores: programs[name].cores }));
}

function findBottlenecks(of: {
  peak: Demand;
  rates: Rates;
  programs: Prediction['programs'];
  isOneMachine: boolean;
  shards: number;
  settings: Settings;
}): Bottleneck[] {
  const { peak, rates, programs, isOneMachine, shards, settings } = of;
  const cores = isOneMachine
    ? [
        {
          resource: 'cores of the machine',
          utilization: PROGRAMS.reduce((sum, name) => sum + programs[name].peak, 0) / settings.oneMachineCores,
        },
      ]
    : PROGRAMS.map((name) => ({
        resource: `cores of ${NAMES[name]}`,
        utilization: programs[name].peak / programs[name].cores,
      }));
  const limits = [
    ...cores,
    { resource: 'largest server for PostgreSQL', utilization: programs.postgres.peak / settings.largestDatabaseCores },
    { resource: 'disk writes of PostgreSQL', utilization: peak.writes / settings.diskWritesPerSecond },
    { resource: 'WAL of PostgreSQL', utilization: peak.walBytes / 1e6 / settings.walMbPerSecond },
    { resource: 'Temporal shards', utilization: (peak.actions * settings.shardUpdateMs) / 1000 / shards },
    ...(settings.relayPerSecond === 0
      ? []
      : [{ resource: 'relay', utilization: (rates.email + rates.campaign) / settings.relayPerSecond }]),
  ];
  return limits.toSorted((a, b) => b.utilization - a.utilization);
}

/** What the programs are called. */
export const NAMES: Record<Program, string> = {
  gateway: 'gateways',
  worker: 'workers',
  postgres: 'PostgreSQL',
  temporal: 'Temporal',
};
