import { builder } from './builder.ts';
import type { Context } from './caller.ts';

/** Marks a mutation as the successor of another, under whose name the audit log keeps what both do. */
export const succeeds = (name: string) => ({ extensions: { action: name } });

/** Why a mutation is deprecated: another returns a payload with what it changed. */
export const useInstead = (mutation: string) => `Use Mutation.${mutation}.`;

interface Removal {
  /** The mutation that did the same and returned a Boolean; it stays, deprecated. */
  replaces: string;
  description: string;
  /** What the id names. */
  id: string;
  remove: (context: Context, id: string) => Promise<unknown>;
  authScopes?: { manage: true };
  skipTypeScopes?: boolean;
}

/**
 * A mutation that removes the node of an id, such as `groupDelete`. Its payload has the id as `deletedId`, which Relay's
 * `@deleteRecord` and `@deleteEdge` take. The mutation it replaces works as it did.
 */
export function removalMutation(name: string, { replaces, description, id, remove, ...scopes }: Removal): void {
  const Payload = builder
    .objectRef<{ deletedId: string }>(`${name.charAt(0).toUpperCase()}${name.slice(1)}Payload`)
    .implement({
      description: `What \`${name}\` did.`,
      fields: (t) => ({ deletedId: t.exposeID('deletedId', { description: 'The id that names nothing any more.' }) }),
    });
  const args = { id: { required: true, description: id } } as const;
  builder.mutationFields((t) => ({
    [name]: t.field({
      type: Payload,
      description,
      ...succeeds(replaces),
      ...scopes,
      args: { id: t.arg.id(args.id) },
      resolve: async (_root, { id }, context) => {
        await remove(context, id);
        return { deletedId: id };
      },
    }),
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
