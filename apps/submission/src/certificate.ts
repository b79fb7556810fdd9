import { type Certificate, readCertificate } from '@postroom/platform';

/** The configured TLS certificate. @throws Error if none is configured. */
export function certificate(): Certificate {
  const configured = readCertificate('SUBMISSION');
  if (configured !== undefined) return configured;
  throw new Error('No TLS certificate for SMTP submission: set SUBMISSION_TLS_CERT and SUBMISSION_TLS_KEY');
}
