import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadParts, partFiles } from '@postroom/registry';
import { expect, test } from 'vitest';

/** The first reservation starts the witness; the dispatcher starts a journey, or its calls, whenever something is due. */
const STARTED_ANYWAY = ['callJourneyHost', 'runJourney', 'witnessSending'];

test('every workflow is found by the sweep when it is lost, or runs by a schedule', async () => {
  const files = [fileURLToPath(import.meta.resolve('@postroom/workflows')), ...partFiles('workflows')];
  const exported = files.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/^export .*?(\w+) \} from/gm)].map(([, name]) => name),
  );
  const swept = (await loadParts('durable-work')).flatMap(({ work }) => work.flatMap(({ workflows }) => workflows));
  const scheduled = (await loadParts('schedules')).flatMap(({ schedules }) =>
    schedules.map(({ workflow }) => workflow),
  );
  expect(exported.sort()).toEqual([...swept, ...scheduled, 'deleteOld', ...STARTED_ANYWAY].sort());
});
