import { DomainError, invalid, logger, projectMoving, SUPERSEDED } from '@postroom/platform';
import { expect, test, vi } from 'vitest';
import { refusalOf } from '../src/refusal.ts';

test('an internal error is a temporary failure and is logged; a client that hangs up is no error', () => {
  const logged = vi.spyOn(logger, 'error').mockReturnValue(undefined);
  const gone = Object.assign(new Error('Connection closed before the message was received in full'), {
    code: 'ECONNECTION',
  });
  expect(refusalOf(gone)).toMatchObject({ responseCode: 451 });
  expect(logged).not.toHaveBeenCalled();
  expect(refusalOf(new Error('disk full'))).toMatchObject({ responseCode: 451 });
  expect(logged).toHaveBeenCalledOnce();
});

test('a project that is being moved to another cell is a reason to try again', () => {
  expect(refusalOf(projectMoving())).toMatchObject({
    responseCode: 451,
    message: '4.3.0 This project is being moved or deleted. Try again in a moment.',
  });
});

test('a database that another one has taken over from is a reason to try again', () => {
  const refused = Object.assign(new Error('Another database has taken over.'), { code: SUPERSEDED });
  expect(refusalOf(refused)).toMatchObject({
    responseCode: 451,
    message: expect.stringMatching(/^4\.3\.0 Nothing was changed: .* is not the primary\./),
  });
});

test('an invalid field is named as in /v1', () => {
  const problem = invalid({ field: 'replyTo.0', message: 'must not be empty' });
  expect(refusalOf(problem)).toMatchObject({ message: '5.6.0 reply_to.0 must not be empty' });
});

test('what a reply quotes of a mail stays on its line and reorders nothing', () => {
  const text = (message: string) => refusalOf(new DomainError('validation_error', message)).message;
  expect(text('a\r\n250 ok\u202eb\u0085c')).toBe('5.6.0 a 250 ok b c');
  expect(text('a\u200fb')).toBe('5.6.0 a b');
  // Half of a character is not sent.
  expect(text(`${'a'.repeat(398)}😀b`)).toBe(`5.6.0 ${'a'.repeat(398)}…`);
});
