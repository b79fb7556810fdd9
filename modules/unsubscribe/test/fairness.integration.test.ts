import { lockSuppressions } from '@postroom/contacts';
import { inTransaction, newId, sql } from '@postroom/platform';
import { eventually, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { unsubscribeUrl } from '../src/unsubscribe-link.ts';

const ONE_CLICK = { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) };

test('recipients of a project wait for its bulk work without holding all connections', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const links = Array.from({ length: 80 }, (_, index) => {
    const url = unsubscribeUrl(newId('eml'), { projectId: api.projectId, email: `p${index}@mail.test` });
    return api.url + new URL(url).pathname;
  });
  let requests: Promise<Response>[] = [];
  const reply = await inTransaction(async (tx) => {
    await lockSuppressions(tx, api.projectId);
    requests = links.map((link) => fetch(link, ONE_CLICK));
    let waiting = 0;
    // Until no more of them begin to wait.
    await eventually(async () => {
      // A transaction reads the activity once unless it is asked to read it again.
      await sql(tx, 'SELECT pg_stat_clear_snapshot()');
      const rows = await sql(tx, `SELECT FROM pg_stat_activity WHERE wait_event = 'advisory'`);
      const before = waiting;
      waiting = rows.length;
      expect([waiting > 0, waiting]).toEqual([true, before]);
    });
    return Promise.race([other.get('/v1/contacts'), new Promise((resolve) => setTimeout(resolve, 5_000))]);
  });
  expect(reply).toMatchObject({ status: 200 });
  expect(new Set((await Promise.all(requests)).map(({ status }) => status))).toEqual(new Set([200]));
}, 60_000);
