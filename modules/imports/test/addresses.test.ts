import { expect, test } from 'vitest';
import { SeenAddresses } from '../src/addresses.ts';

test('an address is found with the line that has it', () => {
  const seen = new SeenAddresses(1_000);
  for (let line = 1; line <= 1_000; line++) expect(seen.add(`${line}@example.com`, line)).toBeUndefined();
  for (let line = 1; line <= 1_000; line++) expect(seen.add(`${line}@example.com`, 5_000)).toBe(line);
  expect(seen.add('another@example.com', 5_000)).toBeUndefined();
});

test('addresses that have the same hash without a secret do not share a slot', () => {
  const addresses = collisions(8);
  const seen = new SeenAddresses(1_000_000);
  for (const [index, address] of addresses.entries()) expect(seen.add(address, index + 1)).toBeUndefined();
  expect(seen.longestSearch).toBeLessThan(50);
});

/** 2 to the power of `blocks` addresses with the same FNV-1a hash: at each place there are two blocks that lead to the same state. */
function collisions(blocks: number): string[] {
  let addresses = [''];
  let state = 0x811c9dc5;
  for (let place = 0; place < blocks; place++) {
    const after = new Map<number, string>();
    for (let number = 1; ; number++) {
      const block = (Math.imul(number, 2654435761) >>> 0).toString(36).padStart(7, '0');
      const next = [...block].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 0x01000193), state);
      const other = after.get(next);
      after.set(next, block);
      if (other === undefined) continue;
      addresses = addresses.flatMap((address) => [address + block, address + other]);
      state = next;
      break;
    }
  }
  return addresses.map((address) => `${address}@example.com`);
}
