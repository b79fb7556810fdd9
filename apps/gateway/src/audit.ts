import { audit, auditedRows, type AuditedMutation, changesBetween, type Context, pool } from '@postroom/platform';
import { getNamedType, type GraphQLField, type GraphQLSchema } from 'graphql';
import { projectOf } from './identify.ts';

/** Routine API key operations: they leave their own rows and events, and would flood the log. */
const EVERYDAY = new Set([
  'createContact',
  'createContacts',
  'updateContact',
  'sendEmail',
  'sendEmails',
  'trackEvents',
]);
/** Mutations without an entry: a part of an operation that has its own, and what concerns only the caller. */
const UNRECORDED = new Set(['addImportPart', 'markNotificationsRead']);

type Args = Record<string, unknown>;
type Field = GraphQLField<unknown, Context>;

/** Makes every mutation write an audit log entry after it succeeds and before the response is sent. */
export function auditMutations(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve } = field;
    if (resolve === undefined || UNRECORDED.has(field.name)) continue;
    field.resolve = async (root, args: Args, context: Context, info) => {
      const { caller } = context;
      if (caller === null || (caller.kind === 'key' && EVERYDAY.has(field.name)))
        return resolve(root, args, context, info);
      const target = targetBefore(field, args, context);
      const before = await stateOf(field, target, args, context);
      const result: unknown = await resolve(root, args, context, info);
      const targetId = target ?? idIn(result);
      const after = await stateOf(field, targetId, args, context);
      await audit(pool, {
        // Undefined for what users do with their own account.
        projectId: projectOf(caller) ?? null,
        actorId: caller.id,
        action: actionOf(field, args),
        targetId,
        targetName: (before ?? after)?.name,
        changes: before === undefined || after === undefined ? [] : changesBetween(before.values, after.values),
      });
      return result;
    };
  }
  return schema;
}

/**
 * A mutation that replaced another one is logged under the old action name. A mutation whose arguments decide what it
 * does computes its action.
 */
function actionOf({ name, extensions }: Field, args: Args): string {
  const { action } = extensions as { action?: string | ((args: Args) => string) };
  return typeof action === 'function' ? action(args) : (action ?? name);
}

/** What a mutation changes, as far as its arguments say; without an id, the project or the person itself. */
function targetBefore(field: Field, args: Args, { caller }: Context): string | undefined {
  const id = args.id ?? args.userId;
  if (typeof id === 'string') return id;
  if (caller === null) return undefined;
  const type = getNamedType(field.type).name;
  if (valuesOf(field) !== undefined || (type === 'Project' && field.name !== 'createProject')) return projectOf(caller);
  return type === 'User' ? caller.id : undefined;
}

/** The id of what a mutation returned, or of the first object in its payload; undefined for a list of objects. */
function idIn(result: unknown): string | undefined {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return undefined;
  return [result, ...Object.values(result)].map(ownId).find((id) => id !== undefined);
}

function ownId(value: unknown): string | undefined {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined;
  return typeof id === 'string' ? id : undefined;
}

const valuesOf = ({ extensions }: Field) => (extensions as Partial<AuditedMutation>).values;

/**
 * The name and values of a target as they are committed now; undefined if there is none. They are read before and after the
 * mutation, so of two updates at the same moment one may be recorded with the changes of both.
 */
async function stateOf(field: Field, id: string | undefined, args: Args, context: Context) {
  const projectId = context.caller === null ? undefined : projectOf(context.caller);
  if (id === undefined || projectId === undefined) return undefined;
  const [rows, values] = await Promise.all([auditedRows(context, [id]), valuesOf(field)?.(projectId, args)]);
  const row = rows.get(id);
  if (row === undefined && values === undefined) return undefined;
  return { name: row?.name ?? null, values: { ...row?.values, ...values } };
}
