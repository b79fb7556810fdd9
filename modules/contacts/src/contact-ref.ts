import { builder } from '@postroom/platform';
import type { Contact as ContactRow } from './contacts.ts';

/** The GraphQL type `Contact`. `graphql.ts` defines its fields; other modules refer to it and may add fields. */
export const Contact = builder.objectRef<ContactRow>('Contact');
