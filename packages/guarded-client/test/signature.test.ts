import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { newSigningSecret, signature, standardSignature } from '../src/signature.ts';

const signed = { eventId: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body: '{"test": 2432232314}' };

test('a signing secret starts with whsec_ and encodes 32 random bytes', () => {
  const secret = newSigningSecret();
  expect(secret).toMatch(/^whsec_/);
  expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
  expect(newSigningSecret()).not.toBe(secret);
});

test('the signature is the hex HMAC-SHA256 of timestamp, a dot and the raw body, keyed by the secret as displayed', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  // Made with: printf '1614265330.{"test": 2432232314}' | openssl dgst -sha256 -hmac whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
  const byOpenssl = '2e37df5d4a028c51a7f3133d64ae1e300d2c2c900f1b1d49d4369ad2530f8964';
  expect(signature(secret, signed)).toBe(`t=1614265330,v1=${byOpenssl}`);
});

test('the signature covers the bytes of the body in any script', () => {
  const body = '{"name":"Zoë 🐘"}';
  const expected = createHmac('sha256', 'whsec_c2VjcmV0')
    .update(Buffer.from(`7.${body}`, 'utf8'))
    .digest('hex');
  expect(signature('whsec_c2VjcmV0', { ...signed, timestamp: 7, body })).toBe(`t=7,v1=${expected}`);
});

test('during a rotation both secrets sign the Standard Webhooks header, the new one first', () => {
  const [next, previous] = [newSigningSecret(), newSigningSecret()];
  expect(standardSignature([next, previous], signed)).toBe(
    `${standardSignature([next], signed)} ${standardSignature([previous], signed)}`,
  );
});

test('our signature matches the published Standard Webhooks example', () => {
  // The example of the Standard Webhooks reference libraries.
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  expect(standardSignature([secret], signed)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});
