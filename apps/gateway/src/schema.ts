import '@postroom/campaigns/graphql';
import '@postroom/contacts/graphql';
import '@postroom/domains/graphql';
import '@postroom/emails/graphql';
import '@postroom/groups/graphql';
import '@postroom/imports/graphql';
import '@postroom/insights/graphql';
import '@postroom/auth/graphql';
import '@postroom/privacy/graphql';
import '@postroom/projects/graphql';
import '@postroom/templates/graphql';
import '@postroom/transports/graphql';
import '@postroom/webhooks/graphql';
import { buildSchema } from '@postroom/platform';
import { auditMutations } from './audit.ts';

/** The schema that all modules add their types to. */
export const schema = auditMutations(buildSchema());
