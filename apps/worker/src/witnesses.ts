import { journalWitness, readReservations, setWitnesses } from '@postroom/ledger';
import { temporalWitness } from '@postroom/ledger/temporal-witness';
import { config } from '@postroom/platform';
import type { Client } from '@temporalio/client';

/** Makes Temporal, and the journal if one is set, the witnesses of this process. */
export function useWitnesses(client: Client): void {
  const { SENDING_JOURNAL: folder } = config;
  setWitnesses([temporalWitness(client, readReservations), ...(folder === undefined ? [] : [journalWitness(folder)])]);
}
