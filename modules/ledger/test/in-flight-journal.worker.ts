// Opens the journal of the claim in argv in the folder in argv, and does what the parent tells it: a note per line on standard input.
import { createInterface } from 'node:readline';
import { openInFlightJournal, openInFlightJournals } from '../src/in-flight-journal.ts';

const [, , folder = '', claim = '', notes = '0'] = process.argv;
await openInFlightJournals(folder);
const journal = openInFlightJournal({ claim, scope: { campaignId: 'cmp_1' }, epoch: 1 });
for (let nth = 0; nth < Number(notes); nth++) {
  journal.writing(`msg_${nth}`);
  journal.flush();
}
console.log('written');
// Reading keeps the process alive until the parent ends.
createInterface({ input: process.stdin }).on('line', (id) => {
  journal.writing(id);
  journal.flush();
  console.log('written');
});
