import { builder } from '@postroom/platform';
import type { Contact as ContactRow } from './contacts.ts';

/** The GraphQL type `Contact`, by name: `graphql.ts` says what is in it, others refer to it and may add to it. */
export const Contact = builder.objectRef<ContactRow>('Contact');
