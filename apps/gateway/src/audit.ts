import { audit, type Context, pool } from '@postroom/platform';
import type { GraphQLField, GraphQLSchema } from 'graphql';
import { projectOf } from './identify.ts';

/** What keys do all day: each leaves rows and events of its own, and would drown the log. */
const EVERYDAY = new Set(['createContact', 'createContacts', 'updateContact', 'sendEmail', 'sendEmails']);
/** What is a part of something that leaves a line. */
const PARTS = new Set(['addImportPart']);

/** Makes every mutation leave a line in the audit log once it has succeeded, before it is answered. */
export function auditMutations(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve } = field;
    if (resolve === undefined || PARTS.has(field.name)) continue;
    field.resolve = async (root, args: Record<string, unknown>, context: Context, info) => {
      const result: unknown = await resolve(root, args, context, info);
      const { caller } = context;
      if (caller !== null && !(caller.kind === 'key' && EVERYDAY.has(field.name))) {
        await audit(pool, {
          // None for what a person does about themselves.
          projectId: projectOf(caller) ?? null,
          actorId: caller.id,
          action: actionOf(field),
          targetId: targetOf(args, result),
        });
      }
      return result;
    };
  }
  return schema;
}

/** A mutation that replaced another keeps the name under which the log knows what both do. */
function actionOf({ name, extensions }: GraphQLField<unknown, Context>): string {
  return typeof extensions.action === 'string' ? extensions.action : name;
}

function targetOf(args: Record<string, unknown>, result: unknown): string | undefined {
  const id =
    args.id ?? args.userId ?? (typeof result === 'object' && result !== null && 'id' in result ? result.id : undefined);
  return typeof id === 'string' ? id : undefined;
}
