import { buildSchema } from '@postroom/platform';
import { loadParts } from '@postroom/registry';
import { auditMutations } from './audit.ts';
import { rejectNulls } from './reject-nulls.ts';

await loadParts('graphql');

/** The schema that all modules have added their types to. */
export const schema = auditMutations(rejectNulls(buildSchema()));
