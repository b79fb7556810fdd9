import { expect, test } from 'vitest';
import { classify, normalizeReply } from '../src/classify.ts';
import type { Verdict } from '../src/classify.ts';
import { outcomeOf } from '../src/outcome.ts';
import { REPLY_RULES } from '../src/reply-rules.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A provider's reply, its verdict, and the wait if the rules name one. */
const REPLIES: [string, Verdict, number?][] = [
  ['421-4.7.28 Gmail has detected an unusual rate of mail originating from your IP address.', 'throttle', 30 * MINUTE],
  ['421-4.7.28 Our system has detected an unusual rate of mail from your DKIM domain', 'throttle', 30 * MINUTE],
  ['421-4.7.0 Our system has detected an unusual rate of unsolicited mail', 'throttle', 30 * MINUTE],
  ['421-4.7.28 quota has been exceeded for messages with the same Message-ID', 'content'],
  [
    '421-4.7.0 Our system has detected that this message is suspicious due to the very low reputation',
    'throttle',
    HOUR,
  ],
  ['421-4.7.0 the content or links of this message are suspicious', 'throttle', HOUR],
  ['421-4.7.0 IP not in whitelist for RCPT domain, closing connection.', 'policy'],
  ['421-4.7.0 TLS required for RCPT domain, closing connection', 'configuration'],
  ['421-4.7.0 Try again later, closing connection.', 'transient'],
  ['421-4.7.0 Connection expired, try reconnecting.', 'transient'],
  ['421-4.3.0 Temporary System Problem. Try again later.', 'transient'],
  ['421-4.4.5 Server busy, try again later.', 'transient'],
  ['451-4.3.0 Mail server temporarily rejected message.', 'transient'],
  ['451-4.4.2 Timeout - closing connection.', 'transient'],
  ['421-4.7.23 The sending IP does not have a PTR record', 'throttle', HOUR],
  ['421-4.7.26 This mail has been rate limited because it is unauthenticated.', 'throttle', HOUR],
  ['421-4.7.27 Your email has been rate limited because SPF authentication did not pass', 'throttle', HOUR],
  ['421-4.7.29 Your email has been rate limited because it was not sent over TLS', 'throttle', HOUR],
  ['421-4.7.30 Your email has been rate limited because DKIM authentication did not pass', 'throttle', HOUR],
  ['421-4.7.32 Your email has been rate limited because the From: header is not aligned', 'throttle', HOUR],
  ['451-4.7.24 The SPF record of the sending domain has one or more suspicious entries.', 'throttle', HOUR],
  ['451-4.7.26 Unauthenticated email, DNS lookup failed for DMARC', 'transient'],
  ['450-4.2.1 The user you are trying to contact is receiving mail too quickly.', 'soft_bounce', HOUR],
  ['450-4.2.1 The user is receiving mail at a rate that prevents additional messages', 'soft_bounce', HOUR],
  ['550-5.2.1 The user you are trying to contact is receiving mail at a rate that prevents', 'soft_bounce', HOUR],
  ['450-4.2.1 Peak SMTP relay limit exceeded for customer.', 'throttle', 5 * MINUTE],
  ['550-5.4.5 Daily user sending limit exceeded.', 'throttle', HOUR],
  ['550-5.7.1 Daily SMTP relay limit exceeded for customer.', 'throttle', HOUR],
  ["452-4.2.2 The recipient's inbox is out of storage space. OverQuotaTemp", 'soft_bounce', HOUR],
  ["552-5.2.2 The recipient's inbox is out of storage space and inactive. OverQuotaPerm", 'hard_bounce'],
  ['452-4.5.3 Your message has too many recipients.', 'transient'],
  ['454-4.7.0 Too many login attempts, please try again later.', 'throttle', 10 * MINUTE],
  ['534-5.7.9 Application-specific password required.', 'configuration'],
  ['535-5.7.8 Username and Password not accepted.', 'configuration'],
  ['530-5.5.1 Authentication Required.', 'configuration'],
  ['550-5.1.1 The email account that you tried to reach does not exist.', 'hard_bounce'],
  ["553-5.1.2 We weren't able to find the recipient domain.", 'hard_bounce'],
  ['553-5.1.3 The recipient address is not a valid RFC 5321 address.', 'hard_bounce'],
  ['550-5.2.1 The email account that you tried to reach is inactive.', 'hard_bounce'],
  ['550-5.7.1 Our system has detected that this message is likely unsolicited mail.', 'policy'],
  ['550-5.7.28 There is an unusual rate of unsolicited mail originating from your IP address.', 'policy'],
  ['550-5.7.1 The user or domain that you are sending to (or from) has a policy that prohibited the mail', 'policy'],
  ['550-5.7.24 The SPF record of the sending domain has one or more suspicious entries.', 'policy'],
  ['550-5.7.25 The IP address sending this message does not have a PTR record', 'policy'],
  ['550-5.7.26 Your email has been blocked because the sender is unauthenticated.', 'policy'],
  ['550-5.7.27 Your email has been blocked: SPF did not pass', 'policy'],
  ['550-5.7.29 Your email has been blocked: it was not sent over TLS', 'policy'],
  ['550-5.7.30 Your email has been blocked: DKIM did not pass', 'policy'],
  ['550-5.7.1 Our system has detected that this message is likely suspicious due to the low reputation', 'policy'],
  ['535-5.7.9 Please log in through your web browser', 'configuration'],
  ['550-5.7.1 This message is not RFC 5322 compliant, the issue is: duplicate headers', 'content'],
  ['552-5.7.0 This message was blocked because its content presents a potential security issue.', 'content'],
  ["552-5.3.4 Your message exceeded Google's message size limits.", 'content'],
  ['554-5.6.0 Mail message is malformed.', 'content'],

  [
    '451 4.7.650 The mail server [1.2.3.4] has been temporarily rate limited due to IP reputation (S775)',
    'throttle',
    30 * MINUTE,
  ],
  [
    '421 RP-001 The mail server IP connecting to Outlook.com server has exceeded the rate limit',
    'throttle',
    30 * MINUTE,
  ],
  ['451 4.7.500 Server busy. Please try again later from [1.2.3.4]. (S77719)', 'throttle', HOUR],
  ['451 4.7.860 Access denied, please try again later', 'transient'],
  ['451 4.7.620 Access denied, please try again later', 'transient'],
  ['421 4.7.700 PFA agent busy, please try again', 'transient'],
  ['421 4.3.2 Service not available', 'transient'],
  ['451 4.4.62 Mail sent to the wrong Office 365 region', 'transient'],
  [
    "550 5.7.1 Unfortunately, messages from [1.2.3.4] weren't sent. part of their network is on our block list (S3140).",
    'policy',
  ],
  ["550 SC-001 (BAY004-MC1F1) Unfortunately, messages from 1.2.3.4 weren't sent.", 'policy'],
  ['421 RP-002 The mail server IP has exceeded the rate limit', 'throttle', 30 * MINUTE],
  ['421 RP-003 The mail server IP has exceeded the connection limit', 'throttle', 30 * MINUTE],
  ['451 4.7.651 The mail server [1.2.3.4] has been temporarily rate limited (S3114)', 'throttle', 30 * MINUTE],
  ['550 5.7.1 messages from [1.2.3.4] were not sent. part of their network is on our block list (S3150).', 'policy'],
  ['550 SC-002 Mail rejected for policy reasons', 'policy'],
  ['550 SC-003 Mail rejected: open relay', 'policy'],
  ['550 SC-004 Mail rejected: spam', 'policy'],
  ['550 OU-001 Mail rejected: the IP is blocked', 'policy'],
  ['550 OU-002 Mail rejected: spam', 'policy'],
  ['550 5.7.509 Access denied, sending domain example.com does not pass DMARC verification', 'policy'],
  ['550 5.7.506 Access denied, bad HELO', 'policy'],
  ['550 5.7.25 Access denied, the sending IPv6 address must have a PTR record', 'policy'],
  ['550 5.7.3 Requested action aborted; user not authenticated', 'configuration'],
  ['550 5.2.122 Recipient per-hour limit from a sender', 'soft_bounce', HOUR],
  ['552 5.3.4 Message size exceeds fixed maximum message size', 'content'],
  ['550 5.7.134 RESOLVER.RST.SenderNotAuthenticatedForMailbox', 'policy'],
  ['550 5.7.136 RESOLVER.RST.SenderNotAuthenticatedForMailUser', 'policy'],
  ['550 5.4.4 Invalid arguments, no route', 'other'],
  ['550 5.4.6 Routing loop detected', 'other'],
  ['535 5.7.139 Authentication unsuccessful, SmtpClientAuthentication is disabled for the Mailbox', 'configuration'],
  ['550 DY-001 Mail rejected by Outlook.com for policy reasons. Dynamic IP', 'policy'],
  ['550 5.7.515 Access denied, sending domain example.com does not meet the required authentication level.', 'policy'],
  ['550 5.7.606 Access denied, banned sending IP [1.2.3.4]', 'policy'],
  ['550 5.7.511 Access denied, banned sender', 'policy'],
  ['550 5.7.708 Service unavailable. Access denied, traffic not accepted from this IP', 'policy'],
  ['550 5.7.501 Access denied, spam abuse detected', 'policy'],
  ['550 5.7.750 Service unavailable. Client blocked from sending from unregistered domains', 'configuration'],
  ['550 5.7.64 TenantAttribution; Relay Access Denied', 'configuration'],
  ['550 5.7.57 Client not authenticated to send mail', 'configuration'],
  ['550 5.7.30 Basic authentication is not supported for Client Submission.', 'configuration'],
  ['550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found', 'hard_bounce'],
  ['550 5.5.0 Requested action not taken: mailbox unavailable', 'hard_bounce'],
  ['550 5.4.1 Recipient address rejected: Access denied. [x.outlook.com]', 'hard_bounce'],
  ['554 5.2.2 mailbox full', 'soft_bounce', HOUR],
  ['554 5.2.2 STOREDRV; submission quota exceeded', 'throttle', HOUR],
  [
    "550 5.1.90 Your message can't be sent because you've reached your daily limit for message recipients",
    'throttle',
    24 * HOUR,
  ],
  ["550 5.2.121 Recipient's per hour message receive limit", 'soft_bounce', HOUR],
  ['432 4.3.2 STOREDRV.Storage; recipient thread limit exceeded', 'transient'],
  ['550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large', 'content'],
  ['550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup', 'policy'],
  ['550 5.7.124 Sender not in allowed-senders list', 'policy'],
  ['554 5.4.310 DNS domain does not exist', 'hard_bounce'],
  ['554 5.4.14 Hop count exceeded', 'other'],

  ['421 4.7.0 [TSS04] Messages from 1.2.3.4 temporarily deferred due to unexpected volume', 'throttle', 2 * HOUR],
  ['421 4.7.0 [TSS05] Messages temporarily deferred due to user complaints', 'throttle', 4 * HOUR],
  ['421 4.7.0 [TS01] Messages from 1.2.3.4 temporarily deferred due to user complaints', 'throttle', HOUR],
  ['421 4.7.0 [TS02] Messages from 1.2.3.4 temporarily deferred', 'throttle', HOUR],
  ['421 [IPTS05] Messages temporarily deferred', 'throttle', HOUR],
  ['553 5.7.2 [TSS11] All messages will be permanently deferred; Retrying will NOT succeed.', 'policy', 48 * HOUR],
  ['553 5.7.1 [BL23] Connections not accepted from IP addresses on the SBL', 'policy'],
  ['553 5.7.1 [TSS07] Connections not accepted', 'policy'],
  ['554 delivery error: dd This address is no longer valid', 'hard_bounce'],
  ['421 [IPTS04] Messages temporarily deferred', 'throttle', HOUR],
  [
    '421 4.7.1 [TS03] All messages from 1.2.3.4 will be permanently deferred; Retrying will NOT succeed.',
    'policy',
    48 * HOUR,
  ],
  ['553 5.7.2 [TSS09] All messages will be permanently deferred; Retrying will NOT succeed.', 'policy', 48 * HOUR],
  ['421 Max message per connection reached, closing transmission channel', 'transient', 0],
  ['450 User is receiving mail too quickly', 'soft_bounce', HOUR],
  ['451 mta1000.mail.example Resources temporarily unavailable. unresolvable RFC5321 from domain', 'configuration'],
  ['552 1 Requested mail action aborted, mailbox not found', 'hard_bounce'],
  ["554 delivery error: dd This user doesn't have a yahoo.com account (ada@yahoo.com) [0]", 'hard_bounce'],
  ['554 30 Sorry, your message to ada@aol.com cannot be delivered. This mailbox is disabled (554.30).', 'hard_bounce'],
  ["553 5.7.1 [BL21] Connections will not be accepted from 1.2.3.4, because the ip is in Spamhaus's list", 'policy'],
  ['554 Message not allowed - [PH01] Email not accepted for policy reasons.', 'policy'],
  ['554 5.7.9 Message not accepted for policy reasons.', 'policy'],
  ['550 5.7.9 This mail has been blocked because the sender is unauthenticated.', 'policy'],
  ['554 5.7.5 (AU01) Message not accepted for policy reasons: bad DKIM', 'policy'],

  ['421 4.7.1 Messages to this recipient deferred due to excessive volume', 'throttle', 15 * MINUTE],
  ['421 [HCM1] temporarily rejected', 'throttle', 15 * MINUTE],
  ['451 [BS02] temporarily rejected', 'throttle', 15 * MINUTE],
  ['450 4.1.8 <news@example.com>: Sender address rejected: Domain not found', 'configuration'],
  ['550 5.1.1 <ada@icloud.com>: inactive email address', 'hard_bounce'],
  ['550 5.7.1 [HME1] This message was blocked for local policy reasons', 'policy'],
  ['550 5.1.6 recipient no longer on server: ada@icloud.com', 'hard_bounce'],
  ['552 5.2.2 <ada@icloud.com>: user is over quota', 'soft_bounce', HOUR],
  ['550 5.7.1 [CS01] Message rejected due to local policy.', 'policy'],
  ['554 5.7.1 Your message was rejected due to example.com in Proofpoint DBL', 'policy'],

  ['454 Throttling failure: Maximum sending rate exceeded.', 'throttle', 1000],
  ['454 Throttling failure: Daily message quota exceeded.', 'throttle', 10 * MINUTE],
  ['554 Message rejected: Email address is not verified. The following identities failed', 'configuration'],
  ['554 Message rejected: the message contains a virus', 'content'],
  ['535 Authentication Credentials Invalid', 'configuration'],
  ['ThrottlingException: Maximum sending rate exceeded.', 'throttle', 1000],
  ['TooManyRequestsException: Too many requests', 'throttle', 1000],
  ['LimitExceededException: too many instances', 'configuration'],
  ['MailFromDomainNotVerifiedException: MAIL FROM domain not verified', 'configuration'],
  ['MessageRejected: Email address is not verified.', 'configuration'],
  ['MessageRejected: content', 'content'],
  ['BadRequestException: Missing final @domain', 'content'],
  ['ThrottlingException: Daily message quota exceeded.', 'throttle', 10 * MINUTE],
  ['TooManyRequestsException: Daily sending quota exceeded.', 'throttle', 10 * MINUTE],
  ['Throttling: Rate exceeded', 'throttle', 1000],
  ['AccountSuspendedException: Sending is suspended', 'configuration'],
  ['SendingPausedException: Sending is paused for this account', 'configuration'],
  ['NotFoundException: Configuration set <news> does not exist.', 'configuration'],
  ['InvalidClientTokenId: The security token included in the request is invalid.', 'configuration'],
  ['UnrecognizedClientException: The security token included in the request is invalid.', 'configuration'],
  ['SignatureDoesNotMatch: The request signature we calculated does not match', 'configuration'],
  ['InvalidSignatureException: Signature expired', 'configuration'],
  ['AccessDeniedException: User is not authorized to perform ses:SendEmail', 'configuration'],
  ['ExpiredTokenException: The security token included in the request is expired', 'configuration'],
  ['SES bounce Permanent/General', 'hard_bounce'],
  ['SES bounce Permanent/NoEmail: 5.1.1', 'hard_bounce'],
  ['SES bounce Permanent/OnAccountSuppressionList', 'hard_bounce'],
  ['SES bounce Transient/MailboxFull: 4.2.2', 'soft_bounce', HOUR],
  ['SES bounce Transient/ContentRejected', 'content'],
  ['SES bounce Transient/General: smtp; 451 later', 'other'],
  ['SES bounce Undetermined/Undetermined', 'other'],

  ['451 Internal resources are temporarily unavailable - https://community.mimecast.com', 'greylist', 10 * MINUTE],
  ['451 IP temporarily blacklisted', 'throttle', HOUR],
  ['550 local CT IP reputation policy - reject', 'policy'],
  ['550 Rejected by header based Anti-Spoofing policy', 'policy'],
  ['554 Too many connections from your host', 'throttle', 5 * MINUTE],
  ['554 Reject due to policy restrictions.', 'policy'],
  ['552 Requested mail action aborted: exceeded storage allocation', 'soft_bounce', HOUR],
  ['421 4.0.0 OFR005 Trop de connexions', 'throttle', 5 * MINUTE],
  ['550 5.1.1 OFR_416 adresse inconnue', 'hard_bounce'],
  ['421 Too many connections from your host', 'throttle', 5 * MINUTE],
  ['550 Account closed', 'hard_bounce'],
  ['421 DT:SPM 163 smtp', 'throttle', HOUR],
  ['550 RP:ORQ limited', 'throttle', HOUR],
  ['550 Sender frequency limited', 'throttle', HOUR],
  ['550 Domain frequency limited', 'throttle', HOUR],
  ['550 Connection frequency limited', 'throttle', HOUR],
  ['550 5.7.1 listed at dnsbl.sorbs.net', 'policy'],
  ['554 5.7.1 blocked by barracudacentral.org', 'policy'],
  ['550 5.7.1 refused by csi.cloudmark.com', 'policy'],
  ['550 5.1.0 Address rejected', 'hard_bounce'],
  ['550 5.1.2 Bad destination system address', 'hard_bounce'],
  ['501 5.1.3 Bad recipient address syntax', 'hard_bounce'],
  ['550 5.1.6 Mailbox has moved', 'hard_bounce'],
  ['550 5.2.1 Mailbox disabled', 'hard_bounce'],
  ['450 4.2.2 The mailbox is over quota', 'soft_bounce', HOUR],
  ['550 5.2.2 Over quota', 'soft_bounce', HOUR],
  ['552 5.1.1 OFR_417 boite pleine', 'soft_bounce'],
  ['550 Service refuse. Veuillez essayer plus tard', 'policy'],
  ['421 4.1.0 RL000010 Throttled', 'throttle', 5 * MINUTE],
  ['550 5.1.0 Not our Customer', 'hard_bounce'],
  ['554 BL000010 blocked', 'policy'],
  ['550 Ip frequency limited', 'throttle', HOUR],
  ['554 DT:SPM 163 smtp', 'throttle', HOUR],
  ['554 HL:ITC daily limit', 'throttle', HOUR],
  ['550 Mail content denied', 'content'],
  ['451 4.7.1 Service unavailable - try again later', 'transient'],
  ['550 spam message rejected. Please visit http://help.mail.ru', 'policy'],
  ['550 Message was not accepted -- invalid mailbox.', 'hard_bounce'],

  ['450 4.2.0 <ada@example.com>: Recipient address rejected: Greylisted', 'greylist', 10 * MINUTE],
  ['451 please try again', 'greylist', 10 * MINUTE],
  ['421 too many connections from your IP', 'throttle', 5 * MINUTE],
  ['550 rejected because 1.2.3.4 is in a black list at zen.spamhaus.org', 'policy'],
  ['554 5.7.1 Service unavailable; Client host blocked using bl.spamcop.net', 'policy'],
  ['554 message contains a URL listed by uribl.com', 'content'],
  ['550 5.1.1 User unknown', 'hard_bounce'],
  ['550 No such user here', 'hard_bounce'],
  ['556 5.1.10 Recipient address has null MX', 'hard_bounce'],
  ['554 5.7.1 <ada@example.com>: Relay access denied', 'configuration'],
  ['553 5.1.8 Sender domain does not exist', 'configuration'],
  ['452 4.2.2 Mailbox full', 'soft_bounce', HOUR],
  ['552 mailbox is full', 'soft_bounce', HOUR],
  ['452 4.3.1 Insufficient system storage', 'transient'],
  ['550 4.4.7 Message expired: unable to deliver in 840 minutes', 'other'],
  ['554 5.3.0 Other mail system problem', 'other'],
  ['550 5.0.0 rejected', 'other'],
  ['550 Requested action not taken', 'other'],
  ['554 Transaction failed', 'other'],
  ['450 4.1.1 something', 'transient'],
];

test.each(REPLIES)('%s is %s', (reply, verdict, waitMs) => {
  const found = classify(reply);
  expect(found, found.rule).toMatchObject({ verdict });
  expect(found.waitMs, found.rule).toBe(waitMs);
});

/** Status codes of delivery reports without text (RFC 3463). */
test.each<[status: string, verdict: Verdict]>([
  ['5.0.0', 'other'],
  ['5.1.0', 'hard_bounce'],
  ['5.1.1', 'hard_bounce'],
  ['5.1.2', 'hard_bounce'],
  ['5.1.3', 'hard_bounce'],
  ['5.1.6', 'hard_bounce'],
  ['5.1.7', 'configuration'],
  ['5.1.8', 'configuration'],
  ['5.1.10', 'hard_bounce'],
  ['5.2.0', 'other'],
  ['5.2.1', 'hard_bounce'],
  ['5.2.2', 'soft_bounce'],
  ['5.2.3', 'content'],
  ['5.3.0', 'other'],
  ['5.3.4', 'content'],
  ['5.4.1', 'other'],
  ['5.4.4', 'other'],
  ['5.4.6', 'other'],
  ['5.4.7', 'other'],
  ['5.5.0', 'other'],
  ['5.6.0', 'content'],
  ['5.7.0', 'policy'],
  ['5.7.1', 'policy'],
  ['5.7.26', 'policy'],
  ['4.2.2', 'soft_bounce'],
  ['4.4.1', 'transient'],
  ['4.4.7', 'other'],
  ['4.7.1', 'transient'],
  ['2.0.0', 'other'],
])('the status %s alone is %s', (status, verdict) => {
  expect(classify(status)).toMatchObject({ verdict });
});

test('every rule matches a sample reply', () => {
  const used = new Set(REPLIES.map(([reply]) => classify(reply).rule));
  expect(REPLY_RULES.map((rule) => rule.id).filter((id) => !used.has(id))).toEqual([]);
  expect(new Set(REPLY_RULES.map((rule) => rule.id)).size).toBe(REPLY_RULES.length);
});

test('a reply is classified the same from a session, a bounce or several lines', () => {
  const lines =
    '550-5.7.26 Your email has been blocked because the sender is unauthenticated.\r\n550-5.7.26 Gmail requires\r\n550 5.7.26 it.';
  const line = '550 5.7.26 Your email has been blocked because the sender is unauthenticated. Gmail requires it.';
  for (const reply of [lines, `smtp; ${lines}`, line, lines.replaceAll('\r\n', ' ')])
    expect(normalizeReply(reply)).toBe(line);
  expect(classify('5.1.1').verdict).toBe('hard_bounce');
  expect(classify('smtp;550 5.1.1 unknown').verdict).toBe('hard_bounce');
});

test('a refusal of the sender never counts against the recipient', () => {
  for (const reply of ['550 5.1.1 no such user', '550 rejected', '552 mailbox is full']) {
    expect(outcomeOf(550, reply, 'mail')).toMatchObject({ kind: 'refused', verdict: 'policy' });
  }
  expect(outcomeOf(451, '451 4.7.650 rate limited (S775)', 'mail')).toMatchObject({ kind: 'deferred', scope: 'host' });
  expect(outcomeOf(451, '451 4.3.0 busy', 'mail')).toMatchObject({ kind: 'deferred', scope: 'host' });
});

test('the first digit decides whether a message is retried', () => {
  expect(outcomeOf(450, '450 5.1.1 user unknown', 'rcpt')).toMatchObject({ kind: 'deferred', scope: 'message' });
  expect(outcomeOf(450, '450 4.2.2 mailbox full', 'rcpt')).toMatchObject({ kind: 'deferred', waitMs: HOUR });
  expect(outcomeOf(552, '552 5.2.2 mailbox full', 'rcpt')).toMatchObject({ kind: 'refused', verdict: 'soft_bounce' });
  expect(outcomeOf(550, '550 Ip frequency limited', 'final')).toMatchObject({ kind: 'deferred', scope: 'host' });
  expect(outcomeOf(421, '421 4.3.2 closing', 'final')).toMatchObject({ kind: 'deferred', scope: 'host' });
});
