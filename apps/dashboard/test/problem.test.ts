import { CombinedError } from '@urql/core';
import { expect, test } from 'vitest';
import { problemOf } from '../src/data/problem.ts';

const refused = (field: string, message: string) => {
  const extensions = { code: 'validation_error', details: [{ field, message }] };
  return problemOf({
    error: new CombinedError({ graphQLErrors: [{ message: `${field}: ${message}`, extensions }] }),
    operation: { kind: 'mutation' },
  });
};

test('a problem of a field is shown at the field that the last segment of its path names', () => {
  expect(refused('input.name', 'is required')?.fields).toEqual({ name: 'Is required' });
});

test('a problem of one entry of a list is shown at the list, and says which entry is wrong', () => {
  const message = 'must be an email address such as ada@example.com';
  expect(refused('emails.1', message)?.fields).toEqual({ emails: `Entry 2: ${message}` });
  expect(refused('input.allowedOrigins.0', 'is invalid')?.fields).toEqual({ allowedOrigins: 'Entry 1: is invalid' });
});

test('a mutation whose response was lost may have been carried out; a query has nothing to check', () => {
  const error = new CombinedError({ networkError: new TypeError('Failed to fetch') });
  const lost = (kind: 'query' | 'mutation') => problemOf({ error, operation: { kind } })?.message;
  expect(lost('mutation')).toContain('It may have made the change');
  expect(lost('query')).toBe("Can't reach the server. Check your connection.");
});
