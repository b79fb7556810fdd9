import { expect, test } from 'vitest';
import { inCampaignWords } from '../src/pages/campaigns/findings.ts';

const refused = (...details: { field: string; message: string }[]) =>
  inCampaignWords({ code: 'validation_error', message: 'in the names of the API', fields: {}, details })?.message;

test('a problem of a variant names the variant, and its field as the page does', () => {
  expect(
    refused(
      { field: 'variants.1.fromEmail', message: 'is required' },
      { field: 'variants.1.groupIds.0', message: 'grp_1 is not a group of this project' },
      { field: 'variants.2.trackOpens', message: 'must be on, because opens decide the test' },
    ),
  ).toBe(
    'Variant B: From address is required. Variant B: Groups: the group was deleted, so remove it. Variant C: Opens must be on, because opens decide the test.',
  );
});
