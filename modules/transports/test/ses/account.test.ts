import { expect, test } from 'vitest';
import { awsAccountOf, rateScope } from '../../src/ses/account.ts';

test('an access key names its account', () => {
  expect(awsAccountOf('ASIAQNZGKIQY56JQ7WML')).toBe('029608264753');
  expect(awsAccountOf('AKIAQNZGKIQY5AAAAAAA')).toBe('029608264753');
});

test.each(['AKIAIOSFODNN7EXAMPLE', 'AKIASTANDIN', 'AKIAQNZGKIQY56JQ7WM!', ''])('%j names no account', (key) => {
  expect(awsAccountOf(key)).toBeUndefined();
});

test('providers of one account share the rate of a region, and others do not', () => {
  const shared = rateScope('prv_a', 'eu-west-1', 'AKIAQNZGKIQY56JQ7WML');
  expect(rateScope('prv_b', 'eu-west-1', 'ASIAQNZGKIQY5AAAAAAA')).toBe(shared);
  expect(rateScope('prv_b', 'us-east-1', 'AKIAQNZGKIQY56JQ7WML')).not.toBe(shared);
  expect(rateScope('prv_a', 'eu-west-1', 'AKIAIOSFODNN7EXAMPLE')).not.toBe(
    rateScope('prv_b', 'eu-west-1', 'AKIAIOSFODNN7EXAMPLE'),
  );
});
