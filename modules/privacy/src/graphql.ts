import { authenticated, builder, callerProject, type Context, managersOnly } from '@postroom/platform';
import { type Erased, erasePerson } from './erase.ts';
import { personData } from './export.ts';

const PersonErased = builder.objectRef<Erased & { isComplete: boolean }>('PersonErased').implement({
  description: 'Counts of what an erasure changed.',
  fields: (t) => ({
    messages: t.exposeInt('messages', { description: 'Messages anonymized.' }),
    events: t.exposeInt('events', { description: 'Events anonymized.' }),
    canceled: t.exposeInt('canceled', { description: 'Planned messages that were canceled.' }),
    isComplete: t.exposeBoolean('isComplete', {
      description:
        'Whether the rest of the project has been searched for the addresses. If not, a worker goes on, which takes minutes for millions of rows.',
    }),
  }),
});

/** Keys with full scope may read it, and so may users who manage the project. */
const readScopes = (context: Context) => (authenticated(context).kind === 'key' ? { write: true } : { manage: true });

builder.queryField('personData', (t) =>
  t.field({
    type: 'JSON',
    description: 'All data that the project stores about a person.',
    complexity: 1000,
    authScopes: (_root, _args, context) => readScopes(context),
    args: {
      contactId: t.arg.id({ description: 'Contact id; required unless email is given.' }),
      email: t.arg.string({ description: 'Address; it need not belong to a contact.' }),
    },
    resolve: (_root, args, context) => personData(callerProject(context), args),
  }),
);

builder.mutationField('erasePerson', (t) =>
  t.field({
    type: PersonErased,
    description:
      'Erases a person: deletes the contact, anonymizes messages and events, and keeps only a hash of the address so that it is never mailed again. Then replaces the address where anything else mentions it. Only signed-in owners and admins may call it, never API keys.',
    ...managersOnly,
    args: {
      contactId: t.arg.id({ description: 'Contact id; required unless email is given.' }),
      email: t.arg.string({ description: 'Address; it need not belong to a contact.' }),
    },
    resolve: (_root, args, context) => erasePerson(callerProject(context), args),
  }),
);
