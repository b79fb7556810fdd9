import { newId } from '@postroom/platform';
import { temporalClient } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { temporalWitness } from '../src/temporal-witness.ts';
import { type Reservation, SupersededError } from '../src/witness.ts';
import { reservation } from './reservation.ts';

const client = await temporalClient();

/** Makes witnesses of the same installation, each as another process has it. */
function installation(known: Reservation[] = []) {
  const taskQueue = `witness-${newId('req')}`;
  return { newWitness: () => temporalWitness(client, () => Promise.resolve(known), taskQueue), taskQueue };
}

const epochsOf = (reservations: Reservation[]) => reservations.map(({ scope, epoch }) => `${scope} ${epoch}`).sort();

test('once a later epoch has begun, reservations of the earlier one are refused in every process', async () => {
  const { newWitness } = installation([reservation('campaign a', 1, 1)]);
  const [before, after] = [newWitness(), newWitness()];
  await before.checkEpoch(1); // knows of none yet
  await before.announce([reservation('queue b', 1, 2)]);
  await before.checkEpoch(1);
  await after.beginEpoch(reservation('installation', 2, 3));
  await expect(before.checkEpoch(1)).rejects.toThrow(SupersededError);
  await after.checkEpoch(2);
  await expect(before.announce([reservation('queue b', 1, 3)])).rejects.toThrow(SupersededError);
  await expect(newWitness().announce([reservation('queue b', 1, 4)])).rejects.toThrow(SupersededError);
  expect(epochsOf(await newWitness().read())).toEqual(['campaign a 1', 'installation 2', 'queue b 1']);
  await before.announce([reservation('queue b', 2, 4)]); // the process has found the new database
  expect(epochsOf(await newWitness().read())).toEqual(['campaign a 1', 'installation 2', 'queue b 2']);
});

test('a process that begins an epoch reads every reservation that was not refused, also those made meanwhile', async () => {
  const { newWitness } = installation();
  const before = newWitness();
  await before.announce([reservation('queue first', 1, 1)]);
  const accepted: string[] = ['queue first 1'];
  let refusals = 0;
  const reserve = async (number: number) => {
    await before.announce([reservation(`queue ${number}`, 1, number)]).then(
      () => accepted.push(`queue ${number} 1`),
      (error: unknown) => {
        expect(error).toBeInstanceOf(SupersededError);
        refusals++;
      },
    );
  };
  const reserveOnUntilRefused = async () => {
    for (let number = 2; refusals === 0; number++) await reserve(number);
  };
  const reserving = reserveOnUntilRefused();
  const after = newWitness();
  await after.beginEpoch(reservation('installation', 2, 1_000));
  const known = epochsOf(await after.read());
  await reserving;
  expect(known).toEqual([...accepted, 'installation 2'].sort());
});

test('if its workflow is gone, it is started with the reservations that the database knows', async () => {
  const { newWitness, taskQueue } = installation([reservation('campaign a', 3, 7)]);
  const witness = newWitness();
  await witness.announce([reservation('queue b', 3, 8)]);
  await client.workflow.getHandle(`${taskQueue}-witness`).terminate();
  await witness.announce([reservation('queue c', 3, 9)]);
  expect(epochsOf(await witness.read())).toEqual(['campaign a 3', 'queue c 3']);
});
