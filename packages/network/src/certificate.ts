import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { config } from '@postroom/settings/config';

/** A server certificate with its chain, and its private key; both PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

/** Reads a certificate from files. Without files, returns a self-signed one, or `undefined` in production. */
export function readCertificate(certFile: string | undefined, keyFile: string | undefined): Certificate | undefined {
  if (certFile !== undefined && keyFile !== undefined) {
    return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  }
  return config.NODE_ENV === 'production' ? undefined : selfSigned();
}

const ALGORITHMS = { ec: '06082a8648ce3d040302', rsa: '06092a864886f70d01010b0500' } as const;

/**
 * A new self-signed certificate for `localhost` with its key, for tests and development. `years` are those
 * before and after this one that it is good for.
 */
export function selfSigned(
  kind: 'ec' | 'rsa' = 'ec',
  years: readonly [from: number, to: number] = [-1, 2],
): Certificate {
  const { privateKey } =
    kind === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const algorithm = sequence(Buffer.from(ALGORITHMS[kind], 'hex'));
  const name = sequence(der(0x31, sequence(Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from('localhost')))));
  const year = new Date().getUTCFullYear();
  const time = (of: number) => der(0x18, Buffer.from(`${of}0101000000Z`));
  const altName = sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])));
  const extensions = der(0xa3, sequence(sequence(Buffer.from('0603551d11', 'hex'), der(0x04, altName))));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    sequence(time(year + years[0]), time(year + years[1])),
    name,
    publicKey,
    extensions,
  );
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]));
  const cert = sequence(body, algorithm, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${cert.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}
