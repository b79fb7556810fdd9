import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderMetrics } from '@postroom/observability';
import { config } from '@postroom/settings/config';
import { afterAll, expect, test } from 'vitest';
import { validityProblem, readCertificate, readCertificateFiles, selfSigned } from '../src/certificate.ts';

const folder = mkdtempSync(join(tmpdir(), 'postroom-certificate-'));
afterAll(() => rmSync(folder, { recursive: true }));

const [own, other] = [selfSigned(), selfSigned()];
const file = (name: string, content: string) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
const CERT = file('own.crt', own.cert);
const KEY = file('own.key', own.key);

test('the certificate and key of a server are read from the files in its settings', () => {
  expect(readCertificateFiles({ BOUNCE_TLS_CERT: CERT, BOUNCE_TLS_KEY: KEY }, 'BOUNCE')).toEqual(own);
  expect(readCertificateFiles({}, 'BOUNCE')).toBeUndefined();
});

test('the expiry of the certificate that a server presents is a metric', async () => {
  const { SUBMISSION_TLS_CERT, SUBMISSION_TLS_KEY } = config;
  Object.assign(config, { SUBMISSION_TLS_CERT: CERT, SUBMISSION_TLS_KEY: KEY });
  expect(readCertificate('SUBMISSION')).toEqual(own);
  Object.assign(config, { SUBMISSION_TLS_CERT, SUBMISSION_TLS_KEY });
  const expiresAt = Date.UTC(new Date().getUTCFullYear() + 2, 0, 1) / 1000;
  expect(await renderMetrics()).toContain(
    `postroom_certificate_expiry_timestamp_seconds{server="submission"} ${expiresAt}`,
  );
});

test.each([
  ['/nowhere', KEY, "SUBMISSION_TLS_CERT: can't be read: ENOENT"],
  [CERT, '/nowhere', "SUBMISSION_TLS_KEY: can't be read: ENOENT"],
  [KEY, KEY, 'SUBMISSION_TLS_CERT: .* is not a PEM certificate'],
  [CERT, CERT, 'SUBMISSION_TLS_KEY: .* is not a PEM private key'],
  [CERT, file('other.key', other.key), 'SUBMISSION_TLS_KEY: .* is not the key of the certificate'],
])('certificate %s with key %s is refused by the name of the setting', (cert, key, problem) => {
  const settings = { SUBMISSION_TLS_CERT: cert, SUBMISSION_TLS_KEY: key };
  expect(() => readCertificateFiles(settings, 'SUBMISSION')).toThrow(new RegExp(problem));
});

test('a certificate that is not valid yet, has expired or expires within two weeks is a problem', () => {
  const year = new Date().getUTCFullYear();
  const at = (from: number, to: number, now = Date.now()) => validityProblem(selfSigned('ec', [from, to]).cert, now);
  expect(at(-1, 2)).toBeUndefined();
  expect(at(-3, -1)).toContain(`expired on ${year - 1}-01-01`);
  expect(at(1, 2)).toContain(`not valid before ${year + 1}-01-01`);
  expect(at(-1, 1, Date.UTC(year, 11, 20))).toContain(`expires on ${year + 1}-01-01`);
  expect(at(-1, 1, Date.UTC(year, 11, 10))).toBeUndefined();
});
