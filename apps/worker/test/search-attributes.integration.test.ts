import { config, newId, SEARCH_ATTRIBUTES } from '@postroom/platform';
import { startOnce } from '@postroom/platform/dispatcher';
import { eventually } from '@postroom/testkit';
import { Client, Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { ensureSearchAttributes } from '../src/search-attributes.ts';

test('a namespace without our search attributes gets them, once, whatever several workers do', async () => {
  const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS });
  const namespace = newId('req');
  // The types require a Long, but a number works.
  const workflowExecutionRetentionPeriod = { seconds: 86_400 } as never;
  await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  const client = new Client({ connection, namespace });
  // Until then, workflows start without them.
  const one = { workflowId: newId('dlv'), type: 'none', args: [], searchAttributes: { projectId: 'prj_1' } };
  await eventually(() => startOnce(client, one));
  const { searchAttributes: none } = await client.workflow.getHandle(one.workflowId).describe();
  expect(none).not.toHaveProperty('projectId');
  await eventually(async () => {
    await Promise.all([ensureSearchAttributes(client), ensureSearchAttributes(client)]);
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining([...SEARCH_ATTRIBUTES]));
  });
  const searchAttributes = { projectId: ['prj_1'] };
  await eventually(() => client.workflow.start('none', { workflowId: 'one', taskQueue: 'none', searchAttributes }));
  expect((await client.workflow.getHandle('one').describe()).searchAttributes).toMatchObject(searchAttributes);
  await ensureSearchAttributes(client);
  await connection.close();
});
