import { audit, type Context, pool } from '@postroom/platform';
import type { GraphQLField, GraphQLSchema } from 'graphql';
import { projectOf } from './identify.ts';

/** Routine API key operations: they leave their own rows and events, and would flood the log. */
const EVERYDAY = new Set(['createContact', 'createContacts', 'updateContact', 'sendEmail', 'sendEmails']);
/** Mutations without an entry: a part of an operation that has its own, and what concerns only the caller. */
const UNRECORDED = new Set(['addImportPart', 'markNotificationsRead']);

/** Makes every mutation write an audit log entry after it succeeds and before the response is sent. */
export function auditMutations(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve } = field;
    if (resolve === undefined || UNRECORDED.has(field.name)) continue;
    field.resolve = async (root, args: Record<string, unknown>, context: Context, info) => {
      const result: unknown = await resolve(root, args, context, info);
      const { caller } = context;
      if (caller !== null && !(caller.kind === 'key' && EVERYDAY.has(field.name))) {
        await audit(pool, {
          // Undefined for what users do with their own account.
          projectId: projectOf(caller) ?? null,
          actorId: caller.id,
          action: actionOf(field, args),
          targetId: targetOf(args, result),
        });
      }
      return result;
    };
  }
  return schema;
}

/**
 * A mutation that replaced another one is logged under the old action name. A mutation whose arguments decide what it
 * does computes its action.
 */
function actionOf({ name, extensions }: GraphQLField<unknown, Context>, args: Record<string, unknown>): string {
  const { action } = extensions as { action?: string | ((args: Record<string, unknown>) => string) };
  return typeof action === 'function' ? action(args) : (action ?? name);
}

function targetOf(args: Record<string, unknown>, result: unknown): string | undefined {
  const id =
    args.id ?? args.userId ?? (typeof result === 'object' && result !== null && 'id' in result ? result.id : undefined);
  return typeof id === 'string' ? id : undefined;
}
