import { builder } from './builder.ts';
import type { Context } from './caller.ts';
import type { Tx } from './transaction-observer.ts';

/** For what the specification keeps to the dashboard: only users who manage the project, never API keys. */
export const managersOnly = { authScopes: { manage: true }, skipTypeScopes: true } as const;

/** Marks a mutation as the successor of another. The audit log records both under the old name. */
export const replacesMutation = (name: string) => ({ extensions: { action: name } });

/**
 * Values that a mutation changes and that are not those of the row that its id names: the audit log records how they differ
 * before and after it. Without an id the mutation changes the project.
 */
export interface AuditedMutation {
  action?: string;
  values: (tx: Tx, projectId: string, args: Record<string, unknown>) => Promise<Record<string, unknown>>;
}

export const audits = (audited: AuditedMutation) => ({ extensions: { ...audited } });

/** Deprecation reason of a mutation whose successor returns a payload. */
export const useInstead = (mutation: string) => `Use Mutation.${mutation}.`;

interface Removal {
  /** The deprecated mutation with the same effect, which returns a Boolean; none if omitted. */
  replaces?: string;
  description: string;
  /** What the id refers to. */
  id: string;
  remove: (context: Context, id: string) => Promise<unknown>;
  authScopes?: { manage: true };
  skipTypeScopes?: boolean;
}

/**
 * Defines a mutation that deletes a node by id, such as `groupDelete`. Its payload returns the id as `deletedId`,
 * for Relay's `@deleteRecord` and `@deleteEdge`. Also defines the deprecated mutation that it replaces, if there is one.
 */
export function removalMutation(name: string, { replaces, description, id, remove, ...scopes }: Removal): void {
  const Payload = builder
    .objectRef<{ deletedId: string }>(`${name.charAt(0).toUpperCase()}${name.slice(1)}Payload`)
    .implement({
      description: `What \`${name}\` did.`,
      fields: (t) => ({ deletedId: t.exposeID('deletedId', { description: 'The id of the deleted row.' }) }),
    });
  const args = { id: { required: true, description: id } } as const;
  builder.mutationFields((t) => ({
    [name]: t.field({
      type: Payload,
      description,
      ...(replaces === undefined ? {} : replacesMutation(replaces)),
      ...scopes,
      args: { id: t.arg.id(args.id) },
      resolve: async (_root, { id }, context) => {
        await remove(context, id);
        return { deletedId: id };
      },
    }),
  }));
  if (replaces === undefined) return;
  builder.mutationFields((t) => ({
    [replaces]: t.field({
      type: 'Boolean',
      description: `${description} Returns true.`,
      deprecationReason: useInstead(name),
      ...scopes,
      args: { id: t.arg.id(args.id) },
      resolve: async (_root, { id }, context) => {
        await remove(context, id);
        return true;
      },
    }),
  }));
}
