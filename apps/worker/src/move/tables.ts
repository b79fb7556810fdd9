import type pg from 'pg';

/** A table with rows of projects. */
export interface ProjectTable {
  name: string;
  /** SQL of whether the row `t` belongs to the project `$1`. */
  where: string;
  /** The columns that are copied. The target computes the others: serial numbers, transaction numbers, generated columns. */
  columns: readonly string[];
  /** The columns of its primary key; none if the target computes one of them. */
  key: readonly string[];
  /** Whether the column `project_id` alone tells which project a row belongs to. */
  isDirect: boolean;
  /**
   * `copy`: rows belong to one project. `merge`: other projects may have the same row, so it is copied unless it is there, and only
   * deleted if no one needs it. `drop`: leases and the like, which each cell makes itself.
   */
  how: 'copy' | 'merge' | 'drop';
}

/** Tables that have no project id: the column that refers to a table that has one, or that refers to one. */
const PARENTS: Record<string, readonly [column: string, table: string]> = {
  backtest_contacts: ['backtest_id', 'backtests'],
  campaign_counts: ['campaign_id', 'campaigns'],
  campaign_local_times: ['campaign_id', 'campaigns'],
  campaign_shards: ['campaign_id', 'campaigns'],
  custom_event_properties: ['definition_id', 'custom_event_definitions'],
  dkim_keys: ['domain_id', 'domains'],
  domain_lifecycle: ['domain_id', 'domains'],
  domain_volumes: ['domain_id', 'domains'],
  enrollment_steps: ['enrollment_id', 'enrollments'],
  group_members: ['group_id', 'groups'],
  group_opt_outs: ['group_id', 'groups'],
  import_batches: ['import_id', 'imports'],
  import_causes: ['import_id', 'imports'],
  import_errors: ['import_id', 'imports'],
  import_parts: ['import_id', 'imports'],
  journey_entry_scans: ['journey_id', 'journeys'],
  journey_passages: ['journey_id', 'journeys'],
  journey_run_counts: ['journey_id', 'journeys'],
  journey_segment_members: ['journey_id', 'journeys'],
  journey_triggers: ['journey_id', 'journeys'],
  journey_versions: ['journey_id', 'journeys'],
  mailbox_authorizations: ['mailbox_id', 'mailbox_accounts'],
  mailbox_usage: ['mailbox_id', 'mailbox_accounts'],
  message_attachments: ['message_id', 'messages'],
  message_contents: ['message_id', 'messages'],
  provider_notifications: ['provider_id', 'mail_providers'],
  segment_sizes: ['segment_id', 'segments'],
  webhook_endpoint_hours: ['endpoint_id', 'webhook_endpoints'],
};

/** Tables whose rows need another condition. */
const CONDITIONS: Record<string, string> = {
  projects: 't.id = $1',
  tracked_links: `t.owner_id IN (SELECT id FROM campaigns WHERE project_id = $1
    UNION ALL SELECT id FROM messages WHERE project_id = $1 AND campaign_id IS NULL)`,
  // The project of a hit is only known once it is classified.
  tracking_hits: 't.message_id IN (SELECT id FROM messages WHERE project_id = $1)',
  api_keys: 'NOT t.all_projects AND t.id IN (SELECT key_id FROM api_key_projects WHERE project_id = $1)',
  users: `t.id IN (SELECT user_id FROM members WHERE project_id = $1 UNION SELECT invited_by_id FROM invitations WHERE project_id = $1
    UNION SELECT user_id FROM contact_views WHERE project_id = $1)`,
};

const MERGED = new Set(['api_keys', 'users']);
const DROPPED = new Set(['email_queue_drains']);

/** Tables of the installation, whose rows stay. */
export const INSTALLATION_TABLES: readonly string[] = [
  '_prisma_migrations',
  'data_migrations',
  // how a person signs in, which a cell does for the people who do it there
  'accounts',
  'notification_settings',
  'sessions',
  'sign_in_failures',
  'sign_in_rates',
  'two_factors',
  'verifications',
  // mail that the development inbox has received
  'inbox_mails',
  'inbox_reports',
  // what the database and its witnesses know of each other
  'installation',
  'sending_reservations',
  // what its operator has blocked
  'domain_blocks',
  // shared by the processes of a cell
  'leases',
  'shared_rates',
  'shared_slots',
  // starts of workflows, which the sweep repeats in the target
  'outbox',
  'project_cells',
  // which the mover posts to the cell that has the project in the end
  'held_requests',
];

interface Column {
  table: string;
  name: string;
  /** SQL of its default. */
  default: string | null;
  isGenerated: boolean;
  isInKey: boolean;
}

const COLUMNS = `
  SELECT c.relname AS table, a.attname AS name, pg_get_expr(d.adbin, d.adrelid) AS default, a.attgenerated <> '' OR a.attidentity <> '' AS "isGenerated",
    coalesce(a.attnum = ANY (k.conkey), false) AS "isInKey"
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  ORDER BY c.relname, a.attnum`;

/** Values that mean something in one database only. */
const OWN_DEFAULT = /^nextval\(|pg_current_xact_id\(/;

/**
 * Every table with rows of projects, from the catalog.
 * @throws Error naming a table if neither its columns nor this file tell which project a row belongs to.
 */
export async function readProjectTables(client: pg.ClientBase): Promise<ProjectTable[]> {
  const { rows } = await client.query<Column>(COLUMNS);
  return [...Map.groupBy(rows, ({ table }) => table)]
    .filter(([name]) => !INSTALLATION_TABLES.includes(name))
    .map(([name, columns]) => {
      const hasProject = columns.some((column) => column.name === 'project_id');
      const isDirect = hasProject && CONDITIONS[name] === undefined;
      const copied = columns.filter((column) => !column.isGenerated && !OWN_DEFAULT.test(column.default ?? ''));
      const key = columns.filter(({ isInKey }) => isInKey);
      return {
        name,
        where: isDirect ? 't.project_id = $1' : conditionOf(name),
        columns: copied.map((column) => column.name),
        key: key.every((column) => copied.includes(column)) ? key.map((column) => column.name) : [],
        isDirect,
        how: MERGED.has(name) ? 'merge' : DROPPED.has(name) ? 'drop' : 'copy',
      };
    });
}

function conditionOf(table: string): string {
  const condition = CONDITIONS[table];
  if (condition !== undefined) return condition;
  const parent = PARENTS[table];
  if (parent === undefined)
    throw new Error(`Nothing says whose the rows of ${table} are: see apps/worker/src/move/tables.ts.`);
  const [column, of] = parent;
  return `t.${column} IN (SELECT id FROM ${of} WHERE project_id = $1)`;
}

/** Puts the id in place of `$1`, because COPY and CREATE TRIGGER take no parameters. The caller has checked the id. */
export const inlineProjectId = (where: string, projectId: string): string => where.replaceAll('$1', `'${projectId}'`);

/** Sorts tables so that rows come before the rows of other tables by which their project is found; the project comes last. */
export function sortForDeletion(tables: readonly ProjectTable[]): ProjectTable[] {
  const rank = ({ name, isDirect }: ProjectTable) => (name === 'projects' ? 2 : isDirect ? 1 : 0);
  return tables.toSorted((a, b) => rank(a) - rank(b));
}
