import { createVerify, X509Certificate } from 'node:crypto';
import { z } from 'zod';

/** An SNS HTTP message. */
export const snsMessage = z.object({
  Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
  MessageId: z.string().min(1).max(200),
  TopicArn: z.string().max(300),
  Message: z.string(),
  Timestamp: z.string().max(100),
  SignatureVersion: z.enum(['1', '2']),
  Signature: z.string().max(2_000),
  SigningCertURL: z.string().max(500),
  Subject: z.string().nullish(),
  Token: z.string().max(2_000).optional(),
  SubscribeURL: z.string().max(2_000).optional(),
});

export type SnsMessage = z.infer<typeof snsMessage>;

const SIGNED_MEMBERS = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const;

const ALGORITHMS = { '1': 'RSA-SHA1', '2': 'RSA-SHA256' } as const;

/** The text that SNS signs: each field's name and value on separate lines, sorted by name, omitting absent fields. */
export function signedText(message: SnsMessage): string {
  return SIGNED_MEMBERS[message.Type]
    .map((member) => [member, message[member]] as const)
    .filter(([, value]) => value != null)
    .map(([member, value]) => `${member}\n${value}\n`)
    .join('');
}

/** Whether a URL belongs to SNS; certificates and confirmation URLs from elsewhere are rejected. */
export function isSnsUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host, username, password } = new URL(text);
  const isPlain = protocol === 'https:' && username === '' && password === '';
  return isPlain && /^sns\.[a-z0-9-]{3,30}\.amazonaws\.com(\.cn)?$/.test(host);
}

/** Whether the message's signature matches a currently valid certificate. */
export function isSignedBy(message: SnsMessage, pem: string): boolean {
  const certificate = new X509Certificate(pem);
  const now = new Date();
  if (now < new Date(certificate.validFrom) || now > new Date(certificate.validTo)) return false;
  const verify = createVerify(ALGORITHMS[message.SignatureVersion]).update(signedText(message), 'utf8');
  return verify.verify(certificate.publicKey, message.Signature, 'base64');
}
