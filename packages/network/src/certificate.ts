import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { logger, measureCertificate } from '@postroom/observability';
import { config } from '@postroom/settings/config';

/** A server certificate with its chain, and its private key; both PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

/** The servers that have settings for a certificate, by the beginning of their names. */
export type TlsServer = 'SUBMISSION' | 'BOUNCE';
type TlsFiles = Partial<Record<`${TlsServer}_TLS_${'CERT' | 'KEY'}`, string | undefined>>;

/** The names of the servers in metrics: those of their programs. */
const PROGRAMS: Record<TlsServer, string> = { SUBMISSION: 'submission', BOUNCE: 'bounces' };

/** How long before a certificate expires we warn, in milliseconds. Let's Encrypt's are renewed a month before. */
const EXPIRES_SOON_MS = 14 * 24 * 3_600_000;

/**
 * Reads the certificate that the settings of a server name. Without files, returns a self-signed one, or `undefined` in
 * production. Logs an error if the certificate is not valid yet, has expired or expires soon, and reports in a metric when it expires.
 * @throws Error naming the setting if a file cannot be read, or the two do not belong together.
 */
export function readCertificate(server: TlsServer): Certificate | undefined {
  const files = readCertificateFiles(config, server);
  if (files === undefined && config.NODE_ENV === 'production') return undefined;
  const certificate = files ?? selfSigned();
  measureCertificate(PROGRAMS[server], new X509Certificate(certificate.cert).validToDate);
  const problem = validityProblem(certificate.cert);
  if (problem !== undefined) logger.error(`${server}_TLS_CERT: ${problem}`);
  return certificate;
}

/**
 * The certificate and key of a server; `undefined` if its settings name none.
 * @throws Error naming the setting if a file cannot be read, or the two do not belong together.
 */
export function readCertificateFiles(settings: TlsFiles, server: TlsServer): Certificate | undefined {
  const [certSetting, keySetting] = [`${server}_TLS_CERT`, `${server}_TLS_KEY`] as const;
  const { [certSetting]: certFile, [keySetting]: keyFile } = settings;
  if (certFile === undefined || keyFile === undefined) return undefined;
  const cert = read(certSetting, certFile);
  const key = read(keySetting, keyFile);
  const parsed = withSettingName(certSetting, `${certFile} is not a PEM certificate`, () => new X509Certificate(cert));
  const privateKey = withSettingName(keySetting, `${keyFile} is not a PEM private key`, () => createPrivateKey(key));
  if (!parsed.checkPrivateKey(privateKey))
    throw new Error(`${keySetting}: ${keyFile} is not the key of the certificate in ${certFile}`);
  return { cert, key };
}

/** What is wrong with a certificate that is not valid yet, has expired or expires within two weeks; otherwise `undefined`. */
export function validityProblem(cert: string, now = Date.now()): string | undefined {
  const { validFromDate: from, validToDate: to } = new X509Certificate(cert);
  const day = (date: Date) => date.toISOString().slice(0, 10);
  if (now < from.getTime()) return `the certificate is not valid before ${day(from)}, so clients refuse it`;
  if (now >= to.getTime()) return `the certificate expired on ${day(to)}, so clients refuse it: renew it and restart`;
  if (now >= to.getTime() - EXPIRES_SOON_MS) return `the certificate expires on ${day(to)}: renew it and restart`;
  return undefined;
}

const read = (setting: string, file: string) =>
  withSettingName(setting, "can't be read", () => readFileSync(file, 'utf8'));

/** Names the setting and the problem in an error of `run`. */
function withSettingName<Result>(setting: string, problem: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw new Error(`${setting}: ${problem}: ${(error as Error).message}`, { cause: error });
  }
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
