import { readFileSync } from 'node:fs';
import { config, selfSigned } from '@postroom/platform';

export interface Certificate {
  /** PEM, with the chain. */
  cert: string;
  key: string;
}

/** The certificate that the settings name; in development one that signs itself. */
export function certificate(): Certificate {
  const { SUBMISSION_TLS_CERT: cert, SUBMISSION_TLS_KEY: key } = config;
  if (cert !== undefined && key !== undefined) {
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  }
  if (config.NODE_ENV !== 'production') return selfSigned();
  throw new Error('SUBMISSION_TLS_CERT and SUBMISSION_TLS_KEY must name the certificate that SMTP clients are shown');
}
