/** What an installation does, in the units in which it is counted. */
export const OPERATIONS = {
  email: 'transactional email to one recipient, by `POST /v1/emails`',
  campaignStart: 'campaign that starts and completes, besides its messages',
  campaign: 'message of a campaign, tracked and with eight links',
  hit: 'open or click, counted',
  delivery: 'webhook delivery of one event, acknowledged at the first attempt',
  contact: 'contact created by `POST /v1/contacts`',
  importStart: 'file that is imported, besides its contacts',
  import: 'new contact of an imported file',
  event: 'custom event, in requests of ten',
  step: 'step of a journey that a contact completes',
  read: 'contact read by `GET /v1/contacts/{id}`',
} as const;

export type Operation = keyof typeof OPERATIONS;

/** The programs whose CPU time is counted. */
export const PROGRAMS = ['gateway', 'worker', 'postgres', 'temporal'] as const;

export type Program = (typeof PROGRAMS)[number];

/** CPU time per operation or per second, by program. */
export type Cpu = Record<Program, number>;

/** The cost of one operation while the installation does `rate` of them a second and nothing else. */
export interface CostPoint {
  rate: number;
  /** The number of operations measured, all between two checkpoints of PostgreSQL. */
  count: number;
  /** CPU time in microseconds of a standard core (reference.ts). */
  cpuUs: Cpu;
  walBytes: number;
  /** Pages of tables and indexes that PostgreSQL writes to disk. */
  pages: number;
  /** WAL flushes of PostgreSQL. */
  flushes: number;
  /** Temporal actions, as Temporal counts them. */
  actions: number;
}

export interface OperationCost {
  /** The command that measured it, and when. */
  command: string;
  date: string;
  points: CostPoint[];
  /** Bytes that stay in each table and its indexes, without free space. */
  bytes: Record<string, number>;
}

export interface Costs {
  /** The machine that measured them. */
  machine: string;
  /** What an idle installation uses per second, in the units of a `CostPoint`. */
  idle: Omit<CostPoint, 'rate' | 'count'> & Pick<OperationCost, 'command' | 'date'>;
  operations: Record<Operation, OperationCost>;
  /** Among other operations, an operation costs as much as alone at `factor` times its rate. Measured with a mix of all operations. */
  sharing: Pick<OperationCost, 'command' | 'date'> & { factor: number };
}
