import { csvLine, guard } from '@postroom/csv';
import type { Uncertain } from '@postroom/ledger';

/** The list of `postroom after-restore` as a CSV file. An address can be a formula of a spreadsheet. */
export const csvOf = (uncertain: readonly Uncertain[]): string =>
  [
    csvLine(['id', 'project', 'campaign', 'address']),
    ...uncertain.map(({ id, projectId, campaignId, email }) =>
      csvLine([id, projectId, campaignId ?? '', guard(email)]),
    ),
  ].join('');
