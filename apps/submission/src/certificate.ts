import { type Certificate, config, readCertificate } from '@postroom/platform';

/** The certificate that the settings name; in development one that signs itself. */
export function certificate(): Certificate {
  const found = readCertificate(config.SUBMISSION_TLS_CERT, config.SUBMISSION_TLS_KEY);
  if (found !== undefined) return found;
  throw new Error('SUBMISSION_TLS_CERT and SUBMISSION_TLS_KEY must name the certificate that SMTP clients are shown');
}
