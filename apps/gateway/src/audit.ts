import {
  audit,
  type AuditedMutation,
  type AuditedRow,
  auditedRows,
  changesBetween,
  type Context,
  observeTransactions,
  pool,
  sql,
  type TransactionObserver,
  type Tx,
} from '@postroom/platform';
import { getNamedType, type GraphQLField, type GraphQLSchema } from 'graphql';
import { projectOf } from './identify.ts';

/** Routine API key operations: they leave their own rows and events, and would flood the log. */
const ROUTINE = new Set([
  'createContact',
  'createContacts',
  'updateContact',
  'sendEmail',
  'sendEmails',
  'trackEvents',
  'enrollContacts',
]);
/** Mutations that write their entry themselves, because the caller's project is not the one that gets it, or is about to go. */
const SELF_RECORDED = ['createProject', 'projectDelete', 'acceptInvitation', 'invitationAccept', 'emailChangeConfirm'];
/** Mutations without an entry of ours: those, a part of an operation that has its own, and what concerns only the caller. */
const UNRECORDED = new Set([...SELF_RECORDED, 'addImportPart', 'emailChangeRequest', 'markNotificationsRead']);

/** The types that mutations of the caller's own account and settings return. */
const OF_CALLER = new Set(['User', 'UpdateNotificationSettingsPayload']);

type Args = Record<string, unknown>;
type Field = GraphQLField<unknown, Context>;

/** Makes every mutation write an audit log entry before the response is sent. */
export function auditMutations(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve } = field;
    if (resolve === undefined || UNRECORDED.has(field.name)) continue;
    field.resolve = async (root, args: Args, context: Context, info) => {
      const { caller } = context;
      if (caller === null || (caller.kind === 'key' && ROUTINE.has(field.name)))
        return resolve(root, args, context, info);
      // Undefined for what users do with their own account.
      const projectId = projectOf(caller);
      const entry = { projectId: projectId ?? null, actorId: caller.id, action: actionOf(field, args) };
      const stateOf = (tx: Tx, id: string | undefined) =>
        id === undefined || projectId === undefined ? undefined : readState(tx, { field, projectId, id, args });
      const targetId = targetBefore(field, args, context);
      const before = await stateOf(pool, targetId);
      let isRecorded = false;
      const recordChanges: TransactionObserver = async (tx) => {
        if (targetId === undefined || before === undefined) return async () => {};
        await sql(tx, LOCK, [targetId]);
        const from = await stateOf(tx, targetId);
        return async () => {
          const to = await stateOf(tx, targetId);
          const changes = from === undefined || to === undefined ? [] : changesBetween(from.values, to.values);
          if (changes.length === 0) return;
          await audit(tx, { ...entry, targetId, targetName: from?.name, changes });
          isRecorded = true;
        };
      };
      const result: unknown = await observeTransactions(recordChanges, async () => resolve(root, args, context, info));
      if (isRecorded) return result;
      const id = targetId ?? idIn(result) ?? projectId;
      const { name } = before ?? (await stateOf(pool, id)) ?? {};
      await audit(pool, { ...entry, targetId: id, targetName: name });
      return result;
    };
  }
  return schema;
}

/**
 * Held until the end of the transaction. Of two mutations of the same object, the second reads its state after the first, so that
 * the values before it are those that the first left. It is the first lock of a transaction, so no cycle of locks contains it.
 */
const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended('audit ' || $1, 0))::text`;

/**
 * A mutation that replaced another one is logged under the old action name. A mutation whose arguments decide what it
 * does computes its action.
 */
function actionOf({ name, extensions }: Field, args: Args): string {
  const { action } = extensions as { action?: string | ((args: Args) => string) };
  return typeof action === 'function' ? action(args) : (action ?? name);
}

/** What a mutation changes, as far as its arguments and its type say; without an id, the project or the person itself. */
function targetBefore(field: Field, args: Args, { caller }: Context): string | undefined {
  const id = args.id ?? args.userId;
  if (typeof id === 'string') return id;
  if (caller === null) return undefined;
  const type = getNamedType(field.type).name;
  if (valuesOf(field) !== undefined || type === 'Project') return projectOf(caller);
  return OF_CALLER.has(type) ? caller.id : undefined;
}

/** The id of what a mutation returned, or of the first object in its payload; undefined for a list of objects, which is about the project. */
function idIn(result: unknown): string | undefined {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return undefined;
  return [result, ...Object.values(result)].map(ownId).find((id) => id !== undefined);
}

function ownId(value: unknown): string | undefined {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined;
  return typeof id === 'string' ? id : undefined;
}

const valuesOf = ({ extensions }: Field) => (extensions as Partial<AuditedMutation>).values;

interface Target {
  field: Field;
  projectId: string;
  id: string;
  args: Args;
}

/** The name and values of what a mutation is about, as the transaction sees them; undefined if there is none. */
async function readState(tx: Tx, { field, projectId, id, args }: Target): Promise<AuditedRow | undefined> {
  const rows = await auditedRows(tx, projectId, [id]);
  const values = await valuesOf(field)?.(tx, projectId, args);
  const row = rows.get(id);
  if (row === undefined && values === undefined) return undefined;
  return { name: row?.name ?? null, values: { ...row?.values, ...values } };
}
