import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import PrismaPlugin from '@pothos/plugin-prisma';
import RelayPlugin from '@pothos/plugin-relay';
import ScopeAuthPlugin, { type AuthFailure, AuthScopeFailureType } from '@pothos/plugin-scope-auth';
import type PrismaTypes from '../generated/pothos.ts';
import { getDatamodel } from '../generated/pothos.ts';
import { getNamedType, getNullableType, GraphQLID, type GraphQLOutputType, isListType, isObjectType } from 'graphql';
import { authenticated, type Context, type Permission, refusal } from './caller.ts';
import { config } from '@postroom/settings/config';
import { db } from './db.ts';
import { DomainError } from '@postroom/errors';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, MAX_TOTAL, type Page } from './pages.ts';
import { AddressListScalar, DateTimeScalar, EmailAddressScalar, JsonScalar, StringScalar } from './scalars.ts';

/**
 * The one builder that every module adds its types to. Queries need `read` and mutations `write` unless they say otherwise
 * (`skipTypeScopes`), so a field that forgets about authorization is closed, not open. What the specification keeps to the
 * dashboard is for `managersOnly`.
 */
export const builder = new SchemaBuilder<{
  PrismaTypes: PrismaTypes;
  Context: Context;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: false;
  DefaultNodeNullability: false;
  AuthScopes: Record<Permission, boolean>;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
    JSON: { Input: unknown; Output: unknown };
    EmailAddress: { Input: string; Output: string };
    AddressList: { Input: string[]; Output: string[] };
  };
  Connection: Pick<Page<never>, 'totalCount'>;
}>({
  // Relay precedes the authorization plugin so that scopes see parsed ids. The order of the others does not matter.
  plugins: [RelayPlugin, ScopeAuthPlugin, PrismaPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  relay: {
    // TypeIDs are already globally unique, so nothing is encoded. `node` is our own, see nodes.ts.
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    nodesOnConnection: { description: 'The rows of the page.' },
    edgesFieldOptions: { nullable: false, description: 'The rows of the page, each with its cursor.' },
    nodeFieldOptions: { nullable: false, description: 'The row.' },
    cursorFieldOptions: { description: 'Pass it as `after` to continue after this row.' },
    firstArgOptions: {
      description: `The maximum number of rows on the page, 1 to ${MAX_PAGE_SIZE}; ${DEFAULT_PAGE_SIZE} by default.`,
    },
    afterArgOptions: { description: 'The `endCursor` of the previous page, or the cursor of any row.' },
    pageInfoFieldOptions: { description: 'The position of the page in the list.' },
    pageInfoTypeOptions: { description: 'The position of a page in its list.' },
    hasNextPageFieldOptions: { description: 'Whether more rows follow.' },
    hasPreviousPageFieldOptions: { description: 'Whether the page is not the first.' },
    startCursorFieldOptions: { description: 'The cursor of the first row; null on an empty page.' },
    endCursorFieldOptions: { description: 'The cursor of the last row, for `after`; null on an empty page.' },
  },
  scopeAuth: {
    authorizeOnSubscribe: true,
    treatErrorsAsUnauthorized: false,
    authScopes: (context) => {
      const may = (permission: Permission) => () => authenticated(context).may(permission);
      return {
        sending: may('sending'),
        read: may('read'),
        write: may('write'),
        manage: may('manage'),
        own: may('own'),
      };
    },
    unauthorizedError: (_parent, context, _info, { failure }) => refusal(context, scopeOf(failure)),
  },
  prisma: {
    client: db,
    dmmf: getDatamodel(),
    exposeDescriptions: true,
    filterConnectionTotalCount: true,
    maxConnectionSize: 1000,
    onUnusedQuery: config.NODE_ENV === 'test' ? 'error' : null,
  },
  complexity: {
    fieldComplexity: (args, _context, field) => ({ field: 1, multiplier: multiplierOf(field, args) }),
    limit: { complexity: 50_000, depth: 12, breadth: 500 },
    complexityError: (kind) =>
      new DomainError('validation_error', `The query is too large: its ${kind.toLowerCase()} is over the limit.`),
  },
});

/** What the fields of an input type are made with. */
export type InputFields = Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0];

builder.addScalarType('DateTime', DateTimeScalar);
builder.addScalarType('JSON', JsonScalar);
builder.addScalarType('EmailAddress', EmailAddressScalar);
builder.addScalarType('AddressList', AddressListScalar);

builder.globalConnectionField('totalCount', (t) =>
  t.int({
    description: `Rows in the whole list. They are counted up to ${MAX_TOTAL.toLocaleString('en')}: that number means that many or more.`,
    // A connection's fields are multiplied by the page size, but this one is computed once.
    complexity: 0.1,
    resolve: ({ totalCount }) => totalCount(),
  }),
);

builder.queryType({
  authScopes: { read: true },
  description: 'Queries. Every field refers to the project of the request.',
});
builder.mutationType({
  authScopes: { write: true },
  description: 'Mutations. Each is one transaction of rows and events.',
});
builder.subscriptionType({ authScopes: { read: true }, description: 'Subscriptions over Server-Sent Events.' });

/** The complexity multiplier of a field: the page size for a connection, 1 for its nodes and edges, 10 for other lists. */
function multiplierOf(
  { name, type, args }: { name: string; type: GraphQLOutputType; args: readonly { name: string }[] },
  { first }: Record<string, unknown>,
): number {
  if (args.some((arg) => arg.name === 'first')) return typeof first === 'number' ? first : DEFAULT_PAGE_SIZE;
  if (name === 'nodes' || name === 'edges') return 1;
  return isListType(getNullableType(type)) ? 10 : 1;
}

/** The scope that a refusal is about: the last one if a field requires several. */
function scopeOf(failure: AuthFailure): Permission {
  if (failure.kind === AuthScopeFailureType.AuthScope) return failure.scope as Permission;
  if ('failures' in failure) return failure.failures.map(scopeOf).at(-1) ?? 'read';
  return 'read';
}

/**
 * The schema of all modules that have been imported. Strings are checked for what PostgreSQL cannot store, and pages go
 * forwards only: the arguments that Relay has for going back are taken away rather than ignored.
 */
export function buildSchema() {
  const schema = builder.toSchema({ sortSchema: true });
  Object.assign(schema.getType('String') ?? {}, StringScalar);
  Object.assign(schema.getType('ID') ?? {}, { ...StringScalar, serialize: GraphQLID.serialize });
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    for (const field of Object.values(type.getFields())) {
      if (!getNamedType(field.type).name.endsWith('Connection')) continue;
      field.args = field.args.filter(({ name }) => name !== 'before' && name !== 'last');
    }
  }
  return schema;
}
