import { expect, test } from 'vitest';
import { connectionFailure } from '../src/index.ts';

const failure = (message: string, code: string, rest = {}) => Object.assign(new Error(message), { code, ...rest });
const denied = failure('connect EACCES 10.0.0.1:25 - Local (10.0.0.2:0)', 'EACCES', { address: '10.0.0.1', port: 25 });

test('an error without a known cause keeps its text, without the address', () => {
  const expected = { code: 'EACCES', cause: undefined, text: 'connect EACCES' };
  expect(connectionFailure(denied)).toEqual(expected);
  expect(connectionFailure(new AggregateError([denied, new Error('other')]))).toEqual(expected);
  expect(connectionFailure(failure('', 'ECANCELED'))).toMatchObject({ text: 'ECANCELED' });
});

test('a certificate whose issuer is unknown is not trusted, and a TLS error of another kind is a failed handshake', () => {
  for (const code of ['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY']) {
    expect(connectionFailure(failure('unable to get issuer certificate', code)).cause).toBe('untrusted');
  }
  expect(connectionFailure(failure('error:0A0000C1', 'ERR_SSL_NO_SHARED_CIPHER')).cause).toBe('handshakeFailed');
});
