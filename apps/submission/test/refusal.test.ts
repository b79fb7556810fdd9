import { logger } from '@postroom/platform';
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
