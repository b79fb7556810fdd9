import { authenticated, builder, callerProject, type Context } from '@postroom/platform';
import { type Erased, erasePerson } from './erase.ts';
import { personData } from './export.ts';

const PersonErased = builder.objectRef<Erased>('PersonErased').implement({
  description: 'What was removed, or made nameless, when a person was erased.',
  fields: (t) => ({
    messages: t.exposeInt('messages', { description: 'Messages that are figures without a name now.' }),
    events: t.exposeInt('events', { description: 'Events that say no more whom they are about.' }),
    canceled: t.exposeInt('canceled', { description: 'Messages that waited and are not sent.' }),
  }),
});

/** Full keys may read it, and of people those who manage the project. */
const readers = (context: Context) => (authenticated(context).kind === 'key' ? { write: true } : { manage: true });

builder.queryField('personData', (t) =>
  t.field({
    type: 'JSON',
    description: 'Everything that the project keeps of a person, for that person to have.',
    complexity: 1000,
    authScopes: (_root, _args, context) => readers(context),
    args: {
      contactId: t.arg.id({ description: 'Contact id; or else the address.' }),
      email: t.arg.string({ description: 'The address; it need not belong to a contact.' }),
    },
    resolve: (_root, args, context) => personData(callerProject(context), args),
  }),
);

builder.mutationField('erasePerson', (t) =>
  t.field({
    type: PersonErased,
    description:
      'Erases a person: the contact is deleted, messages and events stay as figures without a name, and of the address a hash is kept, so that it is never mailed again. Only for owners and admins who are signed in, never for an API key.',
    skipTypeScopes: true,
    authScopes: { manage: true },
    args: {
      contactId: t.arg.id({ description: 'Contact id; or else the address.' }),
      email: t.arg.string({ description: 'The address; it need not belong to a contact.' }),
    },
    resolve: (_root, args, context) => erasePerson(callerProject(context), args),
  }),
);
