// Re-encrypts every secret in the database with the current key and reports the rest: `npm run rotate-encryption-key`.
import { checkSettings } from '@postroom/settings';

checkSettings('rotate-encryption-key');
const { closeDatabase, rotateEncryptionKey, secretKeysFor, useBackgroundTimeouts } = await import('@postroom/platform');
// These register the columns that hold secrets.
await Promise.all([import('./rest/idempotency.ts'), import('./schema.ts')]);

useBackgroundTimeouts();
const [{ id }] = secretKeysFor('so there is nothing to encrypt with');
const columns = await rotateEncryptionKey();
for (const { column, renewed, left, problem } of columns) {
  console.log(`${column}: ${renewed} re-encrypted${left === 0 ? '' : `, ${left} left`}`);
  if (problem !== undefined) console.log(`  ${problem}`);
}
const left = columns.reduce((sum, column) => sum + column.left, 0);
console.log(left === 0 ? `Every secret is under the key ${id}.` : `${left} are not under the key ${id}.`);
process.exitCode = left === 0 ? 0 : 1;
await closeDatabase();
