import { signedIn, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

const FIELDS =
  'ratePerSecond bounceLimitPercent bounceMinSent complaintLimitPercent complaintMinSent refusalsInRow frequencyCapMessages frequencyCapDays' as const;
const READ = `{ sendingPolicy { ${FIELDS} } }`;
const UPDATE = `mutation ($input: UpdateSendingPolicyInput!) { updateSendingPolicy(input: $input) { ${FIELDS} } }`;

test('by default a project pauses campaigns at 5 % bounces, 0.1 % complaints or 25 consecutive rejections', async () => {
  const api = await testApi();
  const defaults = {
    ratePerSecond: null,
    bounceLimitPercent: 5,
    bounceMinSent: 100,
    complaintLimitPercent: 0.1,
    complaintMinSent: 1000,
    refusalsInRow: 25,
    frequencyCapMessages: null,
    frequencyCapDays: 7,
  };
  expect((await api.graphql(READ)).body.data.sendingPolicy).toEqual(defaults);
  const owner = await signedIn(api);
  const input = { ratePerSecond: 200, complaintLimitPercent: null, bounceMinSent: 50, frequencyCapMessages: 3 };
  const reply = await owner.graphql(UPDATE, { input });
  expect(reply.body.data.updateSendingPolicy, JSON.stringify(reply.body)).toEqual({ ...defaults, ...input });
  expect((await api.graphql(READ)).body.data.sendingPolicy).toEqual({ ...defaults, ...input });
});

test('only users who manage the project can change the policy, and only within bounds', async () => {
  const api = await testApi();
  const codeOf = (reply: { body: { errors?: { extensions: { code: string } }[] } }) =>
    reply.body.errors?.[0]?.extensions.code;
  expect(codeOf(await api.graphql(UPDATE, { input: { ratePerSecond: 5 } }))).toBe('forbidden');
  expect(codeOf(await (await signedIn(api, 'viewer')).graphql(UPDATE, { input: { ratePerSecond: 5 } }))).toBe(
    'forbidden',
  );
  const owner = await signedIn(api);
  const outside = [{ frequencyCapMessages: 0 }, { frequencyCapDays: 91 }, { frequencyCapDays: null }];
  for (const input of [{ ratePerSecond: 0 }, { bounceMinSent: null }, { complaintLimitPercent: 101 }, {}, ...outside]) {
    expect(codeOf(await owner.graphql(UPDATE, { input })), JSON.stringify(input)).toBe('validation_error');
  }
});
