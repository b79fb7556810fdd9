import { buildSchema } from '@postroom/platform';
import { loadParts } from '@postroom/registry';
import { auditMutations } from './audit.ts';

await loadParts('graphql');

/** The schema that all modules have added their types to. */
export const schema = auditMutations(buildSchema());
