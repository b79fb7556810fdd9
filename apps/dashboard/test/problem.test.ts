import type { CombinedError } from '@urql/core';
import { expect, test } from 'vitest';
import { problemOf } from '../src/data/problem.ts';

const refused = (field: string, message: string) => {
  const extensions = { code: 'validation_error', details: [{ field, message }] };
  return problemOf({ graphQLErrors: [{ message: `${field}: ${message}`, extensions }] } as unknown as CombinedError);
};

test('a problem of a field is shown at the field that the last segment of its path names', () => {
  expect(refused('input.name', 'is required').fields).toEqual({ name: 'Is required' });
});

test('a problem of one entry of a list is shown at the list, and says which entry is wrong', () => {
  const message = 'must be an email address such as ada@example.com';
  expect(refused('emails.1', message).fields).toEqual({ emails: `Entry 2: ${message}` });
  expect(refused('input.allowedOrigins.0', 'is invalid').fields).toEqual({ allowedOrigins: 'Entry 1: is invalid' });
});
